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
#include "trace/model/twins.h"

namespace chakra {

class FlowLog;        // replay/engine/flow_log.h
class LaneNames;      // replay/engine/measure/name_times.h
class RunObserver;    // replay/engine/observer.h
class Variation;      // replay/cluster/variation.h
struct CriticalPath;  // replay/engine/causes/critical_path.h
struct PinnedRun;     // replay/engine/causes/pinned.h

struct Progress {
  Time now;
  uint64_t nodes_done = 0;
  uint64_t nodes_total = 0;
};

struct EngineOptions {
  LanePolicy lanes = LanePolicy::kRecorded;
  MemoryModel memory;
  CollectiveCosts collectives;
  // Communication takes its measured time (Comm::transfer, else the node's duration) from the arrival of the
  // last member that has a trace. Nothing goes over the fabric, and no rank waits for partners without a
  // trace.
  bool recorded_comm = false;
  // Of communication that takes its recorded time: that time contains the waits for members without a trace.
  // Such a call or message takes the least of its repeats (same kind, group or peer, and bytes) in place of
  // its own time.
  bool least_recorded_comm = false;
  bool fast_paths = true;  // closed forms where the fabric allows them; recorded communication without events
  int threads = 1;         // that replay recorded communication; results do not depend on it
  bool strict = false;
  // Sizes of the topology's dimensions, fastest first; for involved_dim. May be empty.
  std::vector<int> dimension_sizes;
  const Variation* variation = nullptr;  // not owned; null: every node takes its ComputeTimes
  std::vector<Time> start;               // by rank: when its first node may begin; empty: all at 0
  // By rank: its device. With MemoryModel::kPerNode the rank uses the memory of the device's node. Empty:
  // rank r is on device r.
  std::vector<int> device_of;
  FlowLog* flow_log = nullptr;  // the fabric's log, which the engine tells what flows belong to; not owned;
                                // may be null
  std::function<void(const Progress&)> progress;  // called from time to time; may be null
  // Not owned; where progress is told, a run whose stop is set ends as Cancelled; null: nobody stops it.
  const std::atomic<bool>* stop = nullptr;
  // By distinct graph and index of Graph::comm: the kind of communication, below kCommKinds, of
  // RankMetrics::exposed_of; not owned; null: all are of kind 0.
  const std::vector<std::vector<uint8_t>>* comm_kinds = nullptr;
  // Not owned; null: each rank is simulated. Twins have the metrics and the pinned time of the rank whose
  // twins they are, no spans, and their calls and messages are counted. Exact where CheckTwins() says so; not
  // with `path`, `variation` or `start`.
  const Twins* twins = nullptr;
  LaneNames* lane_names = nullptr;  // whose lanes the run takes; not owned; null: it makes its own
  RunObserver* observer = nullptr;  // told of each node; not owned; null: nobody
  NodeSpans* spans = nullptr;       // filled if not null; not owned
  // Gets the spans of each rank that is no twin, once, on any thread, in any order: they are not kept for
  // all.
  std::function<void(uint32_t rank, const std::vector<NodeSpan>& spans)> ran;
  CriticalPath* path = nullptr;  // likewise
  PinnedRun* pinned = nullptr;   // likewise
};

inline bool Stopped(const EngineOptions& options) { return options.stop != nullptr && options.stop->load(); }

}  // namespace chakra
