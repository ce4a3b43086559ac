// The critical path by what it ran through, and what changes of the machine would give.
#pragma once

#include <string>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine.h"
#include "replay/why/critical_path.h"
#include "trace/trace.h"

namespace chakra {

// Names of sensitivities.
std::string SpeedOf(const std::string& cause);
std::string LevelName(const std::string& dimension, int level);
std::string BandwidthOf(const std::string& level);
std::string LatencyOf(const std::string& level);

// `levels`: names of the topology's dimensions, by Fabric::Level().
proto::CriticalPathReport Attribute(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                    const std::vector<std::string>& levels);

}  // namespace chakra
