// Reads XLA's HLO text, as --xla_dump_hlo_as_text writes it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// The grammar is that of XLA's HloParser: names with or without %, comments, layouts with tiles and memory
// spaces, attributes in any order; those that are not needed are skipped. Errors name the file and the line,
// what was there and what was expected: text that does not parse or was cut short, operands and computations
// that are not there, computations that call themselves, forms of replica groups that are not known.
absl::StatusOr<Module> ReadHloText(absl::string_view text, absl::string_view file);

// Whether content begins with "HloModule NAME", after comments.
bool LooksLikeHloText(absl::string_view head);

}  // namespace chakra::hlo
