// Attributes the critical path to what it ran through, and says what changes of the machine would give.
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
  int level = -1;  // for bandwidth and latency: the dimension
};

// A kind of links, as reports name it.
struct LinkKind {
  int level = 0;          // their dimension
  std::string dimension;  // its name
  std::string name;       // "net" for a plain dimension; "net leaf-spine" for a link class of a network
};

// The kinds, by index into Topology::link_classes().
std::vector<LinkKind> LinkKindsOf(const Topology& topology);

// `changes`, if not null, gets the change of each of the report's sensitivities.
proto::CriticalPathReport AttributePath(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                        const std::vector<LinkKind>& kinds,
                                        std::vector<PathChange>* changes = nullptr);

}  // namespace chakra
