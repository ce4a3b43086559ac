// The critical path by what it ran through, and what changes of the machine would give.
#pragma once

#include <string>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine.h"
#include "replay/why/critical_path.h"
#include "trace/trace.h"

namespace chakra {

// What a sensitivity is of: 1 % more speed or bandwidth, 1 % less latency, time or delays.
struct PathChange {
  enum class Of { kDeviceSpeed, kHostSpeed, kMemorySpeed, kBandwidth, kLatency, kLibraryTime, kDelays };
  Of of;
  int level = -1;  // of bandwidth and latency: Fabric::Level()
};

// `levels`: names of the topology's dimensions, by Fabric::Level(). `changes`, where given, becomes what the
// report's sensitivities are of, by their row.
proto::CriticalPathReport Attribute(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                    const std::vector<std::string>& levels,
                                    std::vector<PathChange>* changes = nullptr);

}  // namespace chakra
