// Small traces of 2 to 4 ranks, made from bytes and replayed under every lane
// policy on both fabrics. A replay ends with an answer or an error, keeps the
// dependencies, and is the same with and without the closed forms.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/analytical/options.h"
#include "backends/registry.h"
#include "proto/et_def.pb.h"
#include "replay/collectives/registry.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/memory_model.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/nccl/collective_costs.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

namespace et = ChakraProtoMsg;
using fuzz::Bytes;
using fuzz::Require;

constexpr int kMostOps = 48;
constexpr uint64_t kMostPacketBytes = 1 << 20;
constexpr const char* kGroups[] = {"", "a", "b"};
constexpr uint64_t kSizes[] = {0,
                               1,
                               7,
                               1024,
                               1000003,
                               1 << 20,
                               uint64_t{1} << 30,
                               uint64_t{1} << 40,
                               uint64_t{1} << 48,
                               UINT64_MAX / 2,
                               3 * 4 * 5 * 8,
                               64};
constexpr uint64_t kMicros[] = {0, 1, 2, 5, 100, 1000000, 9000000000000, 9223372036854};

void Int(et::Node* node, const char* name, int64_t value) {
  et::AttributeProto* attr = node->add_attr();
  attr->set_name(name);
  attr->set_int64_val(value);
}

// Builds all ranks together, so that most calls and messages have their partners.
class Maker {
 public:
  Maker(Bytes* in, int ranks) : in_(*in), nodes_(static_cast<size_t>(ranks)) {}

  void MakeGroups() {
    for (const char* name : {"a", "b"}) {
      std::vector<int>& members = groups_[name];
      const uint8_t mask = in_.Next();
      for (int r = 0; r < ranks(); ++r) {
        if ((mask >> r & 1) != 0) members.push_back(r);
      }
      if (members.empty()) members.push_back(mask >> 4 & 1);
      if ((mask & 0x80) != 0) std::reverse(members.begin(), members.end());
    }
  }

  void MakeNodes() {
    for (int op = 0; op < kMostOps && !in_.done(); ++op) {
      const uint8_t kind = in_.Next();
      switch (kind % 12) {
        case 0:
        case 1:
        case 2:
          Compute(Rank());
          break;
        case 3:
        case 4:
        case 5:
        case 6:
          Collective();
          break;
        case 7:
        case 8:
          Message(kind >> 4);
          break;
        case 9:
          Memory();
          break;
        case 10: {
          const int rank = Rank();
          Add(rank, in_.Pick({et::METADATA_NODE, et::INVALID_NODE}));
          break;
        }
        default: {  // only one member calls: an error, never a hang
          const int rank = Rank();
          const uint32_t group = in_.Below(3), type = in_.Below(10);
          Call(rank, group, type, 64, 0);
        }
      }
    }
  }

  // The most bytes of one call, message or access.
  uint64_t largest() const { return largest_; }

  // False if the decoder refuses the traces.
  bool Decode(TraceSet* out) const {
    out->groups = groups_;
    for (int r = 0; r < ranks(); ++r) {
      std::string bytes;
      EtWriter writer(&bytes, Compression::kNone);
      et::GlobalMetadata metadata;
      metadata.set_version("0.0.4");
      Require(writer.AddMetadata(metadata).ok(), "metadata can be written");
      for (const et::Node& node : nodes_[static_cast<size_t>(r)])
        Require(writer.AddNode(node).ok(), "nodes can be written");
      Require(writer.Finish().ok(), "a trace can be written");
      absl::StatusOr<RankTrace> trace =
          DecodeTrace(bytes, absl::StrCat("fuzz/none.", r, ".et"), r, ReadOptions());
      if (!trace.ok()) return false;
      out->ranks.push_back(*std::move(trace));
    }
    return true;
  }

 private:
  int ranks() const { return static_cast<int>(nodes_.size()); }

  et::Node* Add(int rank, et::NodeType type) {
    std::vector<et::Node>& nodes = nodes_[static_cast<size_t>(rank)];
    et::Node& node = nodes.emplace_back();
    const uint64_t id = nodes.size() - 1;
    node.set_id(id);
    node.set_name(absl::StrCat("n", id));
    node.set_type(type);
    const uint8_t how = in_.Next();
    if ((how & 3) != 0 && id > 0) node.add_data_deps(id - 1 - (how >> 5) % id);
    if ((how & 3) == 3 && id > 1) node.add_ctrl_deps(id - 2);
    if ((how & 0x1c) == 0x1c) {
      const uint8_t more = in_.Next();
      if ((more & 1) != 0) Int(&node, "stream", more >> 1 & 3);
      if ((more & 8) != 0) Int(&node, "is_cpu_op", 1);
      if ((more & 16) != 0) node.set_start_time_micros(more >> 5);
      if ((more & 0xe6) == 0xe6) node.add_data_deps(id + 1);
    }
    return &node;
  }

  // Draw a rank before the call that takes it: compilers evaluate arguments in different orders.
  int Rank() { return static_cast<int>(in_.Below(nodes_.size())); }

  uint64_t Size() {
    const uint8_t b = in_.Next();
    const uint64_t bytes =
        b < 128 ? kSizes[b % (sizeof kSizes / sizeof kSizes[0])] : uint64_t{b} << 8 | in_.Next();
    largest_ = std::max(largest_, bytes);
    return bytes;
  }

  void Compute(int rank) {
    et::Node* node = Add(rank, et::COMP_NODE);
    const uint8_t b = in_.Next();
    node->set_duration_micros(b < 250 ? b : kMicros[in_.Next() % 8]);
    if (b == 77) Int(node, "num_ops", static_cast<int64_t>(Size()));
  }

  void Call(int rank, uint32_t group, uint32_t type, uint64_t bytes, int root) {
    et::Node* node = Add(rank, et::COMM_COLL_NODE);
    Int(node, "comm_type", type);
    Int(node, "comm_size", static_cast<int64_t>(bytes));
    if (group == 0) return;
    Int(node, "root", root);
    et::AttributeProto* attr = node->add_attr();
    attr->set_name("pg_name");
    attr->set_string_val(kGroups[group]);
  }

  void Collective() {
    const uint32_t group = in_.Below(3), type = in_.Below(10);
    const uint64_t bytes = Size();
    std::vector<int> members;
    if (group > 0) members = groups_.at(kGroups[group]);
    if (group == 0) {
      for (int r = 0; r < ranks(); ++r) members.push_back(r);
    }
    const int root = members[in_.Below(static_cast<uint32_t>(members.size()))];
    for (int r : members) Call(r, group, type, bytes, root);
  }

  // Adds a send and its receive; sometimes one of them is missing.
  void Message(uint32_t how) {
    const int src = Rank(), dst = Rank();
    const uint64_t bytes = Size();
    const int64_t tag = in_.Below(2);
    if (how != 15) {
      et::Node* send = Add(src, et::COMM_SEND_NODE);
      Int(send, "comm_dst", dst);
      Int(send, "comm_size", static_cast<int64_t>(bytes));
      Int(send, "comm_tag", tag);
    }
    if (how == 14) return;
    et::Node* receive = Add(dst, et::COMM_RECV_NODE);
    Int(receive, "comm_src", src);
    Int(receive, "comm_size", static_cast<int64_t>(bytes));
    Int(receive, "comm_tag", tag);
  }

  void Memory() {
    const int rank = Rank();
    et::Node* node = Add(rank, in_.Pick({et::MEM_LOAD_NODE, et::MEM_STORE_NODE}));
    Int(node, "tensor_size", static_cast<int64_t>(Size()));
  }

  Bytes& in_;
  std::vector<std::vector<et::Node>> nodes_;
  Groups groups_;
  uint64_t largest_ = 0;
};

// The choices of a run except lanes and fabric.
struct Setup {
  std::vector<TopologyDimension> dimensions;
  EngineOptions options;
  FabricOptions fabric;
};

TopologyDimension MakeDimension(Bytes* in, int size) {
  TopologyDimension d;
  d.kind = static_cast<TopologyDimension::Kind>(in->Below(3));
  d.size = size;
  d.bandwidth =
      Bandwidth::BytesPerSecond(in->Pick<int64_t>({1000000000, 450000000000, 1, 7, INT64_MAX, 53687091200}));
  d.latency = Time::Picos(in->Pick<int64_t>({500000, 0, 1, 1000000000000}));
  return d;
}

Setup MakeSetup(Bytes* in, int ranks) {
  Setup s;
  const uint8_t shape = in->Next();
  if ((shape & 1) != 0 && ranks == 4) {
    for (int i = 0; i < 2; ++i) s.dimensions.push_back(MakeDimension(in, 2));
  } else {
    s.dimensions.push_back(MakeDimension(in, ranks + (shape >> 1 & 1)));
  }
  if ((shape & 4) != 0) s.dimensions.push_back(MakeDimension(in, 2));
  if ((shape & 8) != 0) {
    for (const TopologyDimension& d : s.dimensions) s.options.dimension_sizes.push_back(d.size);
  }
  s.fabric.Ask<PathOptions>().store_and_forward = (shape & 16) != 0;
  s.options.memory.kind = static_cast<MemoryModel::Kind>(in->Below(4));
  s.options.memory.bandwidth = Bandwidth::BytesPerSecond(in->Pick<int64_t>({3350000000000, 1, 0}));
  s.options.memory.latency = Time::Nanos(in->Pick<int64_t>({0, 500, 1000000000}));
  s.options.memory.ranks_per_node = 1 + static_cast<int>(in->Below(4));
  CollectiveCosts& costs = s.options.collectives;
  costs.splits = 1 + static_cast<int>(in->Below(5));
  costs.step_overhead = Time::Picos(in->Pick<int64_t>({0, 1, 10000}));
  costs.reduce_bandwidth = Bandwidth::BytesPerSecond(in->Pick<int64_t>({0, 1600000000000, 1}));
  const uint8_t algorithm = in->Next();
  for (int t = 0; t < kCollectiveTypes; ++t) {
    const auto type = static_cast<CollectiveType>(t);
    const std::vector<std::string> names = AlgorithmsFor(type);
    if (algorithm > 0) costs.algorithm[std::string(Name(type))] = names[algorithm % names.size()];
  }
  return s;
}

struct Outcome {
  absl::Status status;
  Metrics metrics;
  NodeSpans spans;
  std::vector<DimensionTraffic> traffic;
};

Outcome Run(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const Topology& topology,
            const Setup& setup, const char* fabric_name, LanePolicy lanes, bool fast) {
  Outcome out;
  EngineOptions options = setup.options;
  options.lanes = lanes;
  options.fast_paths = fast;
  options.spans = &out.spans;
  absl::StatusOr<std::unique_ptr<Machine>> fabric = MakeMachine(fabric_name, topology, setup.fabric);
  if (!fabric.ok()) {
    out.status = fabric.status();
    return out;
  }
  absl::StatusOr<Metrics> metrics = Replay(traces, compute, **fabric, options);
  out.status = metrics.status();
  if (metrics.ok()) out.metrics = *std::move(metrics);
  out.traffic = (*fabric)->Traffic();
  return out;
}

// In an answer, every node runs after its dependencies.
void CheckOutcome(const TraceSet& traces, const Outcome& o) {
  if (!o.status.ok()) {
    Require(!o.status.message().empty() && o.status.code() != absl::StatusCode::kInternal,
            "an error says what is wrong");
    return;
  }
  Time last;
  for (size_t r = 0; r < traces.ranks.size(); ++r) {
    const Graph& g = *traces.ranks[r].graph;
    Require(o.metrics.ranks[r].nodes == g.size(), "every node ran");
    Require(o.metrics.ranks[r].idle >= Time::Zero(), "idle time is not negative");
    for (uint32_t row = 0; row < g.size(); ++row) {
      const NodeSpan span = o.spans[r][row];
      Require(span.begin <= span.end, "a node ends after it begins");
      Require(span.end < Time::Never(), "a node ends");
      last = std::max(last, span.end);
      for (uint32_t e = g.dep_begin[row]; e < g.dep_begin[row + 1]; ++e) {
        Require(o.spans[r][g.dep[e]].end <= span.begin, "a node begins after those that it waits for");
      }
    }
  }
  Require(o.metrics.makespan == last, "the makespan is the last end");
}

void CheckSame(const Outcome& fast, const Outcome& slow) {
  // The error for a time past the end of simulated time depends on the node that waits for it.
  Require(fast.status.ok() == slow.status.ok(),
          absl::StrCat("fast: ", fast.status.ToString(), "; slow: ", slow.status.ToString()));
  if (!fast.status.ok()) return;
  Require(fast.metrics.makespan == slow.metrics.makespan, "makespans agree");
  for (size_t r = 0; r < fast.spans.size(); ++r) {
    for (size_t row = 0; row < fast.spans[r].size(); ++row) {
      Require(fast.spans[r][row].begin == slow.spans[r][row].begin &&
                  fast.spans[r][row].end == slow.spans[r][row].end,
              absl::StrCat("spans agree, rank ", r, " row ", row));
    }
    const RankMetrics &a = fast.metrics.ranks[r], &b = slow.metrics.ranks[r];
    Require(a.end == b.end && a.compute_busy == b.compute_busy && a.comm_busy == b.comm_busy &&
                a.exposed_comm == b.exposed_comm && a.idle == b.idle,
            "metrics agree");
  }
  Require(fast.metrics.collectives.size() == slow.metrics.collectives.size(), "the same collectives ran");
  for (const auto& [key, a] : fast.metrics.collectives) {
    const auto b = slow.metrics.collectives.find(key);
    Require(b != slow.metrics.collectives.end() && a.count == b->second.count && a.bytes == b->second.bytes &&
                a.time == b->second.time && a.wait == b->second.wait,
            absl::StrCat("collectives agree: ", key.first));
  }
  for (size_t d = 0; d < fast.traffic.size(); ++d)
    Require(fast.traffic[d].bytes == slow.traffic[d].bytes, "traffic agrees");
}

}  // namespace
}  // namespace chakra

FUZZ_TARGET(replay_fuzz, data, size) {
  using namespace chakra;
  Bytes in(data, size);
  const int ranks = 2 + static_cast<int>(in.Below(3));
  const Setup setup = MakeSetup(&in, ranks);
  const absl::StatusOr<Topology> topology = Topology::Make(setup.dimensions);
  Require(topology.ok(), "the topology can be made");
  Maker maker(&in, ranks);
  maker.MakeGroups();
  maker.MakeNodes();
  TraceSet traces;
  if (!maker.Decode(&traces)) return 0;
  ComputeModel model;
  model.time_sources = {TimeSource::kRecorded};
  ComputeNotes notes;
  std::vector<ComputeTimes> compute;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    absl::StatusOr<ComputeTimes> times = PriceGraph(*graph, model, &notes);
    if (!times.ok()) return 0;
    compute.push_back(*std::move(times));
  }
  for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kSingle, LanePolicy::kUnlimited}) {
    for (const std::string& fabric : FabricNames()) {
      // A TiB is 268 million packets, which take minutes.
      if (maker.largest() > kMostPacketBytes && (fabric == "packet" || fabric == "mixed")) continue;
      const Outcome fast = Run(traces, compute, *topology, setup, fabric.c_str(), lanes, true);
      const Outcome slow = Run(traces, compute, *topology, setup, fabric.c_str(), lanes, false);
      CheckOutcome(traces, fast);
      CheckOutcome(traces, slow);
      CheckSame(fast, slow);
    }
  }
  return 0;
}
