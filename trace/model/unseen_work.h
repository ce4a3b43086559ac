// Work of a device that captures do not show, although host calls launched it.
#pragma once

#include <cstdint>
#include <string>

#include "trace/model/trace.h"

namespace chakra {

// Profilers lose kernels at the beginning of a session, and the kernels of graphs.
struct UnseenWork {
  uint64_t launches = 0,
           launches_unseen = 0;  // calls that launch a kernel; those of them without a device operation
  uint64_t graphs = 0,
           graphs_unseen = 0;  // calls that launch a graph; those of them without any device operation
  uint64_t unknown = 0;  // left-out events that may be device operations; counted only if the capture has no
                         // device operation

  bool any() const { return launches_unseen + graphs_unseen + unknown > 0; }
  // Whether so much work is missing that computation time, and what bounds the run, are unknown.
  bool Counts() const {
    return launches_unseen * 50 > launches || graphs_unseen * 50 > graphs || unknown > 0;
  }
};

// Returns "8 of 10 launches of kernels and 4 of 4 launches of graphs have no operation of the device in the
// capture", or "" if no work is missing.
std::string Describe(const UnseenWork& unseen);

// Returns the sum over all ranks of the metadata attributes launches, launches_unseen, graphs, graphs_unseen
// and unknown_events (integers; absent: 0).
UnseenWork UnseenOf(const TraceSet& traces);

}  // namespace chakra
