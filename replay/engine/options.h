// The options of the engine, as plain data.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/memory_model.h"
#include "replay/engine/spans.h"
#include "replay/nccl/collective_costs.h"
#include "trace/base/units.h"
#include "trace/model/symmetric_ranks.h"

namespace chakra {

class FlowLog;        // replay/engine/flow_log.h
class LaneNames;      // replay/engine/measure/name_times.h
class RunObserver;    // replay/engine/observer.h
class Variation;      // replay/cluster/variation.h
struct CriticalPath;  // replay/engine/causes/critical_path.h
struct FixedTimeRun;  // replay/engine/causes/fixed_time.h

struct Progress {
  Time now;
  uint64_t nodes_done = 0;
  uint64_t nodes_total = 0;
};

struct EngineOptions {
  LanePolicy lanes = LanePolicy::kRecorded;
  MemoryModel memory;
  CollectiveCosts collectives;
  // Communication takes its measured time (Comm::transfer, else the node's duration), counted from the
  // arrival of the last member that has a trace. No flow goes over the fabric, and no rank waits for partners
  // without a trace.
  bool recorded_comm = false;
  // For communication that takes its recorded time, if that time contains the waits for members without a
  // trace: each call or message takes the minimum of its repeats (same kind, group or peer, and bytes) in
  // place of its own time.
  bool least_recorded_comm = false;
  bool fast_paths = true;  // use closed forms where the fabric allows them, and replay recorded communication
                           // without events
  int threads = 1;         // threads that replay recorded communication; results do not depend on their
                           // number
  bool strict = false;
  // Sizes of the topology's dimensions, fastest first, to resolve involved_dim. May be empty.
  std::vector<int> dimension_sizes;
  const Variation* variation = nullptr;  // not owned; null: every node takes its ComputeTimes
  std::vector<Time> start;               // by rank: when its first node may begin; empty: all at 0
  // By rank: its device. With MemoryModel::kPerNode, a rank uses the memory of the device's node. Empty: rank
  // r is on device r.
  std::vector<int> device_of;
  FlowLog* flow_log = nullptr;  // the fabric's log; the engine sets the origin of each flow in it; not owned;
                                // may be null
  std::function<void(const Progress&)> progress;  // called from time to time; may be null
  // If set to true, the run ends with a Cancelled error at the next instant where progress is due. Not owned;
  // null: the run cannot be stopped.
  const std::atomic<bool>* stop = nullptr;
  // By distinct graph and index into Graph::comm: the kind of communication (below kCommKinds) for
  // RankMetrics::exposed_of. Not owned; null: all communication is of kind 0.
  const std::vector<std::vector<uint8_t>>* comm_kinds = nullptr;
  // Symmetric ranks, of which only one is simulated. The others get its metrics and its fixed time, but
  // no spans; their calls and messages are counted. Exact if CheckSymmetricRanks() returns true; not to be
  // used with `path`, `variation` or `start`. Not owned; null: each rank is simulated.
  const SymmetricRanks* symmetric = nullptr;
  LaneNames* lane_names = nullptr;  // a cache of the lanes of graphs; not owned; null: the run makes its own
  RunObserver* observer = nullptr;  // gets the events of each node; not owned; null: none
  NodeSpans* spans = nullptr;       // filled if not null; not owned
  // Called with the spans of each simulated rank, once, on any thread, in any order. Spans are not kept for
  // all ranks at once.
  std::function<void(uint32_t rank, const std::vector<NodeSpan>& spans)> ran;
  CriticalPath* path = nullptr;  // filled if not null; not owned
  FixedTimeRun* fixed_time = nullptr;  // filled if not null; not owned
};

inline bool Stopped(const EngineOptions& options) { return options.stop != nullptr && options.stop->load(); }

}  // namespace chakra
