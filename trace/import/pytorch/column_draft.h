// The columns of a rank before ranks are joined.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/timeline.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// A node that carries a call.
struct CallRow {
  uint32_t row = 0;      // of the graph
  uint32_t comm = 0;     // row of Timeline::comms
  uint32_t strings = 0;  // of the graph, before the row's own
  Work work;             // what is known of it, whatever it is replayed as
  int64_t moved = -1;    // bytes of a copy, where it is replayed as one
};

struct ColumnDraft {
  GraphDraft graph;               // without starts and calls; delays as if the run began with this rank
  std::vector<int64_t> start_ns;  // by row; since DeviceTrace::base_ns
  std::vector<CallRow> calls;     // by row
  std::vector<TimelineStep> steps;
  bool drafted = false;
};

}  // namespace chakra::pytorch
