// The trees of MPI libraries.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The children of member v of n, numbered from the root, in the tree of an algorithm of BuildHostTree()
// ("knomial", "binary", "linear", else radix 2). They are in the order in which they are served, the largest
// subtree last.
std::vector<int> HostTreeChildren(absl::string_view algorithm, int v, int n);

}  // namespace chakra
