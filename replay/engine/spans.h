// The times when nodes ran.
#pragma once

#include <vector>

#include "trace/base/units.h"

namespace chakra {

// When each node began and ended, by rank and row.
struct NodeSpan {
  Time begin;
  Time end;
};
using NodeSpans = std::vector<std::vector<NodeSpan>>;

}  // namespace chakra
