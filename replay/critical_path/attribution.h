// The critical path by what it ran through, and what changes of the machine would give.
#pragma once

#include <string>
#include <vector>

#include "backends/topology/topology.h"
#include "proto/report.pb.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/lane_policy.h"
#include "trace/model/trace.h"

namespace chakra {

// What a sensitivity is of: 1 % more speed or bandwidth, 1 % less latency, time or delays.
struct PathChange {
  enum class Of { kDeviceSpeed, kHostSpeed, kMemorySpeed, kBandwidth, kLatency, kLibraryTime, kDelays };
  Of of;
  int level = -1;  // of bandwidth and latency: the dimension
};

// Links that are alike, as reports name them.
struct LinkKind {
  int level = 0;          // their dimension
  std::string dimension;  // its name
  std::string name;       // "net": of a plain dimension; "net leaf-spine": of a network's link class
};

// By Topology::link_classes().
std::vector<LinkKind> LinkKindsOf(const Topology& topology);

// `changes`, where given, becomes what the report's sensitivities are of, by their row.
proto::CriticalPathReport AttributePath(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                        const std::vector<LinkKind>& kinds,
                                        std::vector<PathChange>* changes = nullptr);

}  // namespace chakra
