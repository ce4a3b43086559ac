// What the engine is asked for, as plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/memory_model.h"
#include "replay/engine/spans.h"
#include "replay/nccl/collective_costs.h"
#include "trace/base/units.h"

namespace chakra {

class FlowLog;         // replay/engine/flow_log.h
class Variation;       // replay/cluster/variation.h
struct CriticalPath;   // replay/engine/causes/critical_path.h

struct Progress {
  Time now;
  uint64_t nodes_done = 0;
  uint64_t nodes_total = 0;
};

struct EngineOptions {
  LanePolicy lanes = LanePolicy::kRecorded;
  MemoryModel memory;
  CollectiveCosts collectives;
  // Communication takes what was measured (Comm::transfer, else the node's
  // duration) from the arrival of its last member that has a trace; nothing
  // goes over the fabric, and partners without a trace are not waited for.
  bool recorded_comm = false;
  bool fast_paths = true;  // closed forms where the fabric allows them
  bool strict = false;
  // dims of the topology, sizes fastest first; for involved_dim. May be empty.
  std::vector<int> dimension_sizes;
  const Variation* variation = nullptr;  // the caller's; null: every node takes its ComputeTimes
  std::vector<Time> start;               // by rank, when its first node may begin; empty: all at 0
  // By rank, the device whose node's memory it uses (MemoryModel::kPerNode); empty: rank r on device r.
  std::vector<int> device_of;
  FlowLog* flow_log = nullptr;  // of the fabric, told what flows belong to; the caller's; may be null
  std::function<void(const Progress&)> progress;  // called now and then; may be null
  NodeSpans* spans = nullptr;                     // filled when not null; the caller's
  CriticalPath* path = nullptr;                   // likewise
};

}  // namespace chakra
