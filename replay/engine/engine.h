// The replay: one discrete-event loop over every rank's graph and one fabric.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/fabric.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

struct LibraryModel;   // replay/nccl/library.h
struct CustomProgram;  // replay/collectives/custom/custom_program.h
class FlowLog;         // replay/engine/flow_log.h
class Variation;       // replay/cluster/variation.h
struct CriticalPath;   // replay/engine/causes/critical_path.h

enum class LanePolicy { kRecorded, kSingle, kUnlimited };
enum class ComputeRung : uint8_t { kTable, kInterpolate, kRoofline, kRecorded, kNone };
inline constexpr int kComputeRungs = 5;

// Where MEM_LOAD and MEM_STORE go.
struct MemoryModel {
  enum class Kind { kLocal, kPerRank, kPerNode, kPool };
  Kind kind = Kind::kLocal;
  Bandwidth bandwidth;  // 0: not configured; a memory node is then an error
  Time latency;
  int ranks_per_node = 1;  // kPerNode
};

// What the collective library costs beside the wire (cluster.proto).
struct CollectiveCosts {
  int splits = 1;
  Time step_overhead;
  Bandwidth reduce_bandwidth;  // 0: free
  std::map<std::string, std::string> algorithm;
  std::shared_ptr<const LibraryModel> library;  // null: the costs above are all
  // Algorithms from files: `algorithm` may name them. Used where there is no library.
  std::vector<std::shared_ptr<const CustomProgram>> programs;
};

// Compute times of one distinct graph, row for row. COMP rows only; others 0.
struct ComputeTimes {
  std::vector<Time> time;
  std::vector<ComputeRung> rung;
  // Of the rows together:
  std::array<Time, kComputeRungs> error{};  // by rung: how far off their times may be, all in one direction
  uint64_t outside = 0;                     // that interpolation refused, being outside of what was measured
  uint64_t derived = 0;                     // whose work the roofline had from shapes
};

// When each node began and ended, by rank and row.
struct NodeSpan {
  Time begin;
  Time end;
};
using NodeSpans = std::vector<std::vector<NodeSpan>>;

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

// Replays `traces` on `fabric`. compute[g] belongs to graph g of
// DistinctGraphs(traces). Rank r is device r of the fabric (PlacedFabric puts it
// elsewhere).
// Errors: a node that cannot be replayed (named), more ranks than devices, a
// group member without a trace, collectives that do not agree (both nodes
// named), unmatched sends and receives, and a run that cannot finish (with who
// waits for whom).
absl::StatusOr<Metrics> Replay(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                               Fabric& fabric, const EngineOptions& options);

// The distinct graphs in order of first use by rank, and each rank's index.
struct DistinctGraphs {
  explicit DistinctGraphs(const TraceSet& traces);
  std::vector<const Graph*> graphs;
  std::vector<uint32_t> of_rank;
};

}  // namespace chakra
