// The process groups that PyTorch's execution-trace observer notes in a
// "## process_group:init ##" node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

struct GroupNote {
  Groups groups;                             // by pg_name
  std::map<std::string, std::string> alias;  // backend_id of early files, as decimal text, to pg_name
  bool cut = false;                          // the text ends in the middle; what was whole is here
};

// `text`: the string in inputs.values, an array of groups as JSON. An empty
// "ranks" means 0 to group_size - 1. `subject` begins the errors.
absl::StatusOr<GroupNote> ReadGroupNote(absl::string_view text, absl::string_view subject);

// The group of `size` ranks from `start` on, `stride` apart; empty where the
// three are no group (absent, or PyTorch's -1 for ranks that are not evenly apart).
std::vector<int> StridedGroup(int64_t start, int64_t stride, int64_t size);

}  // namespace chakra::pytorch
