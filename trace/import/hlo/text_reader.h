// Reads XLA's HLO text, as --xla_dump_hlo_as_text writes it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Reads a module. The grammar is that of XLA's HloParser: names with or without %, comments, layouts with
// tiles and memory spaces, attributes in any order. Unknown attributes are skipped. Errors name the file and
// the line, the text there, and what was expected: the text does not parse or was cut short; an operand or a
// computation does not exist; a computation calls itself; the form of replica groups is not known.
absl::StatusOr<Module> ReadHloText(absl::string_view text, absl::string_view file);

// Whether a file that begins with `head` begins with "HloModule NAME", after comments.
bool LooksLikeHloText(absl::string_view head);

}  // namespace chakra::hlo
