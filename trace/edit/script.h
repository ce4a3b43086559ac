// Edit scripts as files, and the lines of their fields.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/edit.pb.h"

namespace chakra::edit {

struct Script {
  std::string source;  // the file or the option that contains the script; for messages
  proto::EditScript script;
  std::string text;  // content of the file, if it is text format or JSON; "": lines are unknown
};

inline constexpr size_t kMostScriptBytes = size_t{64} << 20;

// Reads a script: text format, JSON or binary, at most kMostScriptBytes. Errors: those of ReadMessageFile().
absl::StatusOr<Script> ReadScript(const std::string& path);

// Returns the line (from 1) of a field of edit `index` (from 0). If the script lacks the field, returns the
// line of the message around it; 0 if it is unknown. `path` is as in messages of EditPlan::Make(): "select,
// any_of 0, name", "most", "node.lane".
int LineOf(const Script& script, int index, absl::string_view path);

// Returns the line of each edit; empty: unknown.
std::vector<int> LinesOfEdits(const Script& script);

}  // namespace chakra::edit
