// Attributes the critical path to its causes, and estimates the gain of changes of the machine.
#pragma once

#include <string>
#include <vector>

#include "backends/topology/topology.h"
#include "proto/report.pb.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/lane_policy.h"
#include "trace/model/trace.h"

namespace chakra {

// The change that a sensitivity is about: 1 % more speed or bandwidth, or 1 % less latency, time or delays.
struct PathChange {
  enum class Of { kDeviceSpeed, kHostSpeed, kMemorySpeed, kBandwidth, kLatency, kLibraryTime, kDelays };
  Of of;
  int level = -1;  // for bandwidth and latency: the index of the dimension
};

// A kind of links, as reports name it.
struct LinkKind {
  int level = 0;          // index of the dimension
  std::string dimension;  // name of the dimension
  std::string name;       // "net" for a plain dimension; "net leaf-spine" for a link class of a network
};

// The kinds, by index into Topology::link_classes().
std::vector<LinkKind> LinkKindsOf(const Topology& topology);

// Sums the segments of the path by cause, rank, lane, operator, collective and kind of link. Estimates
// sensitivities: the gain of a change if the path stays the longest. `changes`, if not null, gets the change
// of each of the report's sensitivities.
proto::CriticalPathReport AttributePath(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                        const std::vector<LinkKind>& kinds,
                                        std::vector<PathChange>* changes = nullptr);

}  // namespace chakra
