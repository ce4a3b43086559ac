// A slice "name[begin:end:step]": selects some of several things with one name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

struct Slice {
  std::string name;
  bool all = true;  // without brackets
  uint64_t begin = 0;
  uint64_t end = 0;  // exclusive
  uint64_t step = 1;
  bool to_end = false;  // "[a:]"

  uint64_t size(uint64_t count) const;
};

// "leaf", "leaf[2]", "leaf[0:4]", "leaf[:4]", "leaf[2:]", "leaf[::2]". Errors: no name, brackets that do not
// match or contain no slice, a step of 0.
absl::StatusOr<Slice> ParseSlice(absl::string_view text);

// Splits "host[0:2]xpu[0:4]" or "host[0].xpu" into its slices: a slice ends after each "]", and at each "."
// outside brackets.
absl::StatusOr<std::vector<Slice>> ParseSlices(absl::string_view text);

// The slice applied to `count` things: resolves `all` and `to_end`. Errors: the slice reaches beyond the
// things or selects nothing; the error text has the largest valid slice.
absl::StatusOr<Slice> Within(const Slice& slice, uint64_t count);

}  // namespace chakra
