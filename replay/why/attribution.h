// The critical path by what it ran through, and what changes of the machine would give.
#pragma once

#include <string>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine.h"
#include "replay/why/critical_path.h"
#include "trace/trace.h"

namespace chakra {

// `levels`: names of the topology's dimensions, by Fabric::Level().
proto::CriticalPathReport Attribute(const CriticalPath& path, const TraceSet& traces, LanePolicy lanes,
                                    const std::vector<std::string>& levels);

}  // namespace chakra
