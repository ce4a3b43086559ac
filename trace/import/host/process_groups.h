// Reads the process groups that PyTorch's execution-trace observer writes in a "## process_group:init ##"
// node.
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
  Groups groups;  // by pg_name
  // pg_name by backend_id, as decimal text; only early files have it.
  std::map<std::string, std::string> alias;
  bool cut = false;  // the text was cut; `groups` has the whole entries
};

// `text`: the string in inputs.values, a JSON array of groups. An empty "ranks" means ranks 0 to group_size -
// 1. Errors begin with `subject`.
absl::StatusOr<GroupNote> ReadGroupNote(absl::string_view text, absl::string_view subject);

// The group of `size` ranks from `start` on, `stride` apart. Empty if the arguments do not describe a group:
// they are absent, or -1, which PyTorch writes for ranks that are not evenly spaced.
std::vector<int> StridedGroup(int64_t start, int64_t stride, int64_t size);

}  // namespace chakra::pytorch
