// Reads values of attributes in HLO text: groups, pairs, windows, labels of dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// "{{0,1},{2,3}}", "[2,4]<=[8]", "[2,4]<=[4,2]T(1,0)", "mesh['a'=2,'b'=4] {'b'}", "{}". nullopt: the text has
// another form.
std::optional<ReplicaGroups> ParseReplicaGroups(absl::string_view text);
// "{{0,1},{1,2}}". nullopt: the text has another form.
std::optional<std::vector<std::pair<int64_t, int64_t>>> ParsePairs(absl::string_view text);
// "b01f_01io->b01f". Returns false if the text has another form.
bool ParseDimLabels(absl::string_view text, ConvDims* out);
// "{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1 rhs_reversal=1x1}". Returns false if the
// text has another form.
bool ParseWindow(absl::string_view text, std::vector<WindowDim>* out);
// Number of elements of all slices "{{128,32},{64,32}}", or of one "{128,32}"; 0: the text has another form.
int64_t ParseSliceElements(absl::string_view text);

// The value of a key in "{key="..." other=3}"; "": there is no such key.
absl::string_view FieldOf(absl::string_view braces, absl::string_view key);

}  // namespace chakra::hlo
