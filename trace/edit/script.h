// Edit scripts as files, with the lines on which fields stand.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/edit.pb.h"

namespace chakra::edit {

struct Script {
  std::string source;  // the file or the option that gave the script; for messages
  proto::EditScript script;
  std::string text;  // the file's text, if it is text format or JSON; "": lines are not known
};

inline constexpr size_t kMostScriptBytes = size_t{64} << 20;

// Reads a script: text format, JSON or binary, of at most kMostScriptBytes. Errors: ReadMessageFile()'s.
absl::StatusOr<Script> ReadScript(const std::string& path);

// The line (from 1) of a field of edit `index` (from 0). If the script lacks the field, the line of the
// message around it; 0: not known. `path` as in messages of EditPlan::Make(): "select, any_of 0, name",
// "most", "node.lane".
int LineOf(const Script& script, int index, absl::string_view path);

// The line of each edit; empty: not known.
std::vector<int> LinesOfEdits(const Script& script);

}  // namespace chakra::edit
