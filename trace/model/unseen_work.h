// What of a device's work captures do not show, although the calls of its host tell of it.
#pragma once

#include <cstdint>
#include <string>

#include "trace/model/trace.h"

namespace chakra {

// Profilers drop kernels at the begin of a session, and those of graphs.
struct UnseenWork {
  uint64_t launches = 0, launches_unseen = 0;  // calls that launch a kernel; of these, without an operation
  uint64_t graphs = 0, graphs_unseen = 0;      // calls that launch a graph; of these, without any operation
  uint64_t unknown = 0;  // where no operation of a device is seen: events left out that may be some

  bool any() const { return launches_unseen + graphs_unseen + unknown > 0; }
  // Whether so much is unseen that computation, and what bounds the run, are not known.
  bool Counts() const {
    return launches_unseen * 50 > launches || graphs_unseen * 50 > graphs || unknown > 0;
  }
};

// "8 of 10 launches of kernels and 4 of 4 launches of graphs have no operation of the device in the capture";
// "" where none is unseen.
std::string Describe(const UnseenWork& unseen);

// The sum over ranks of what their metadata say: the attributes launches, launches_unseen, graphs,
// graphs_unseen and unknown_events, integers; absent: 0.
UnseenWork UnseenOf(const TraceSet& traces);

}  // namespace chakra
