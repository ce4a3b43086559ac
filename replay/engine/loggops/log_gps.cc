#include "replay/engine/loggops/log_gps.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/measure/name_times.h"
#include "trace/base/heap4.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"
#include "trace/model/any_order.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kHappeningsPerProgress = 1 << 12;

class LogGps {
 public:
  LogGps(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const LogGpsOptions& model,
         const EngineOptions& options, const Matching& matching)
      : traces_(traces),
        compute_(compute),
        distinct_(traces),
        model_(model),
        options_(options),
        matching_(matching) {}
  absl::StatusOr<Metrics> Run();

 private:
  enum Kind : uint8_t { kNode, kMessage };
  struct Happening {
    Time at;
    uint64_t order;
    Kind kind;
    uint32_t rank, row;  // of the node; of a message's send
    bool Before(const Happening& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  // When a resource is free, by its number.
  struct Units {
    std::vector<Time> free;
    Time& operator[](size_t i) {
      if (free.size() <= i) free.resize(i + 1);
      return free[i];
    }
  };
  struct Side {
    uint32_t rank, row;
    Time done;  // of a message: when the receiver has taken it
  };
  using Queue = absl::flat_hash_map<std::pair<int32_t, int32_t>, std::deque<Side>>;  // by source and tag
  struct Rank {
    const Graph* graph = nullptr;
    Units cpu, sends, receives;
    std::vector<uint32_t> waits;
    std::vector<Time> not_before;
    std::vector<NodeSpan> spans;
    std::vector<uint32_t> released;  // by the event at hand
    Queue posted, arrived;  // receives, and messages as (rank, row) of their sends; by source and tag
    uint32_t left = 0;
  };

  absl::Status Check() const;
  void Prepare();
  void Handle(const Happening& h);
  void Calc(const Happening& h);
  void Send(const Happening& h);
  void Receive(const Happening& h);
  void Arrive(const Happening& h);
  void Meet(Time now, uint32_t sender, uint32_t send_row);
  void Begins(uint32_t r, uint32_t row, Time now);
  void Ends(uint32_t r, uint32_t row, Time now);
  void Release(uint32_t r, uint32_t child, Time at);
  void MakeReleased();
  // Numbers of a node's cpu and card; those without are 0.
  static size_t Cpu(const Graph& g, uint32_t row) { return Unit(g, row) % 256; }
  static size_t Card(const Graph& g, uint32_t row) { return Unit(g, row) / 256; }
  static uint32_t Unit(const Graph& g, uint32_t row) {
    const bool told = !g.lane.empty() && InAnyOrder(g, row) && g.lane[row] >= 0;
    return told ? static_cast<uint32_t>(g.lane[row]) % 65536 : 0;
  }
  const Comm& CommOf(uint32_t r, uint32_t row) const {
    return ranks_[r].graph->comm[ranks_[r].graph->payload[row]];
  }
  const Peer& PeerOf(uint32_t r, uint32_t row) const {
    return traces_.ranks[r].peers[ranks_[r].graph->payload[row]];
  }
  void Again(Happening h, Time at) {
    h.at = at;
    events_.Push(h);
  }
  absl::Status Unfinished() const;
  Metrics Collect();

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  const DistinctGraphs distinct_;
  const LogGpsOptions& model_;
  const EngineOptions& options_;
  const Matching& matching_;
  std::vector<Rank> ranks_;
  Heap4<Happening> events_;
  std::vector<uint32_t> touched_;  // ranks with released nodes
  uint64_t order_ = 0;
  CollectiveMetrics total_;
};

absl::Status LogGps::Check() const {
  if (options_.path != nullptr || options_.flow_log != nullptr)
    return absl::InvalidArgumentError(
        "fabric loggps: it keeps no causes and no log of flows; expected a run without --critical-path and "
        "--flows");
  if (options_.variation != nullptr)
    return absl::InvalidArgumentError("fabric loggps: ranks that vary are not for this fabric");
  for (const RankTrace& trace : traces_.ranks) {
    const Graph& g = *trace.graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      const NodeType type = g.type[row];
      const bool memory = type == NodeType::kMemLoad || type == NodeType::kMemStore;
      if (!memory && type != NodeType::kCollective) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(DescribeNode(trace, row), ": fabric loggps knows computation, sends and receives only",
                       "; `convert --to goal --cluster SPEC` lowers the rest to these"));
    }
  }
  return absl::OkStatus();
}

void LogGps::Prepare() {
  ranks_.resize(traces_.ranks.size());
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const Graph& g = *traces_.ranks[r].graph;
    rank.graph = &g;
    rank.left = g.size();
    rank.spans.resize(g.size());
    const Time start = options_.start.empty() ? Time::Zero() : options_.start[r];
    rank.not_before.assign(g.size(), start);
    rank.waits.resize(g.size());
    for (uint32_t row = 0; row < g.size(); ++row) rank.waits[row] = g.dep_begin[row + 1] - g.dep_begin[row];
    for (uint32_t row = 0; row < g.size(); ++row) {
      if (rank.waits[row] == 0) rank.released.push_back(row);
    }
    touched_.push_back(r);
  }
  MakeReleased();
}

void LogGps::Release(uint32_t r, uint32_t child, Time at) {
  Rank& rank = ranks_[r];
  rank.not_before[child] = std::max(rank.not_before[child], at);
  if (--rank.waits[child] > 0) return;
  if (rank.released.empty()) touched_.push_back(r);
  rank.released.push_back(child);
}

void LogGps::MakeReleased() {
  std::sort(touched_.begin(), touched_.end());
  for (const uint32_t r : touched_) {
    Rank& rank = ranks_[r];
    const Graph& g = *rank.graph;
    const auto place = [&g](uint32_t row) {
      return g.type[row] == NodeType::kSend ? 1 : g.type[row] == NodeType::kRecv ? 2 : 3;
    };
    std::stable_sort(rank.released.begin(), rank.released.end(),
                     [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    for (const uint32_t row : rank.released) {
      Time at = std::max(rank.not_before[row], rank.cpu[Cpu(g, row)]);
      if (g.type[row] == NodeType::kSend) at = std::max(at, rank.sends[Card(g, row)]);
      events_.Push({at, order_++, kNode, r, row});
    }
    rank.released.clear();
  }
  touched_.clear();
}

void LogGps::Begins(uint32_t r, uint32_t row, Time now) {
  Rank& rank = ranks_[r];
  const Graph& g = *rank.graph;
  rank.spans[row].begin = now;
  for (uint32_t i = g.child_begin[row]; i < g.child_begin[row + 1]; ++i) {
    if (!g.child_release.empty() && g.child_release[i] == 0)
      Release(r, g.child[i], now + (g.child_delay.empty() ? Time::Zero() : g.child_delay[i]));
  }
}

// The node ends at `end`, which is known now. A part of computation releases then, too.
void LogGps::Ends(uint32_t r, uint32_t row, Time end) {
  Rank& rank = ranks_[r];
  const Graph& g = *rank.graph;
  rank.spans[row].end = end;
  --rank.left;
  for (uint32_t i = g.child_begin[row]; i < g.child_begin[row + 1]; ++i) {
    const int64_t release = g.child_release.empty() ? kReleaseAtEnd : g.child_release[i];
    if (release == 0) continue;
    const Time begin = rank.spans[row].begin;
    const Time at = g.type[row] == NodeType::kComp ? begin + ReleasedAfter(end - begin, release) : end;
    Release(r, g.child[i], at + (g.child_delay.empty() ? Time::Zero() : g.child_delay[i]));
  }
}

void LogGps::Calc(const Happening& h) {
  Rank& rank = ranks_[h.rank];
  const bool computes = rank.graph->type[h.row] == NodeType::kComp;
  if (!computes) {  // metadata
    Begins(h.rank, h.row, h.at);
    return Ends(h.rank, h.row, h.at);
  }
  Time& cpu = rank.cpu[Cpu(*rank.graph, h.row)];
  if (cpu > h.at) return Again(h, cpu);
  cpu = h.at + compute_[distinct_.of_rank[h.rank]].time[h.row];
  Begins(h.rank, h.row, h.at);
  Ends(h.rank, h.row, cpu);
}

void LogGps::Send(const Happening& h) {
  Rank& rank = ranks_[h.rank];
  const Graph& g = *rank.graph;
  Time &cpu = rank.cpu[Cpu(g, h.row)], &card = rank.sends[Card(g, h.row)];
  if (std::max(cpu, card) > h.at) return Again(h, std::max(cpu, card));
  const uint64_t bytes = CommOf(h.rank, h.row).bytes;
  cpu = h.at + model_.overhead + model_.Overhead(bytes);
  card = h.at + model_.gap + model_.Gap(bytes);
  Begins(h.rank, h.row, h.at);
  const Time done = cpu;
  events_.Push({h.at + model_.overhead + model_.latency, order_++, kMessage, h.rank, h.row});
  if (bytes <= model_.rendezvous_bytes) Ends(h.rank, h.row, done);
}

// A rendezvous that met: its sender goes on from the instant of the meeting.
void LogGps::Meet(Time now, uint32_t sender, uint32_t send_row) {
  if (CommOf(sender, send_row).bytes <= model_.rendezvous_bytes) return;
  Rank& from = ranks_[sender];
  Time &cpu = from.cpu[Cpu(*from.graph, send_row)], &card = from.sends[Card(*from.graph, send_row)];
  cpu = std::max(cpu, now);
  card = std::max(card, now);
  Ends(sender, send_row, now);
}

void LogGps::Receive(const Happening& h) {
  Rank& rank = ranks_[h.rank];
  Begins(h.rank, h.row, h.at);
  const Peer& peer = PeerOf(h.rank, h.row);
  auto& arrived = rank.arrived[{peer.src, peer.tag}];
  if (arrived.empty()) {
    rank.posted[{peer.src, peer.tag}].push_back({h.rank, h.row, Time::Zero()});
    return;
  }
  const auto [sender, send_row, done] = arrived.front();
  arrived.pop_front();
  Meet(h.at, sender, send_row);
  // Its message may still keep a cpu busy that was idle when the receive was made.
  Ends(h.rank, h.row, std::max(h.at, done));
}

void LogGps::Arrive(const Happening& h) {
  const Graph& from = *ranks_[h.rank].graph;
  const auto to = static_cast<uint32_t>(PeerOf(h.rank, h.row).dst);
  Rank& rank = ranks_[to];
  Time &cpu = rank.cpu[Cpu(from, h.row)], &card = rank.receives[Card(from, h.row)];
  if (std::max(cpu, card) > h.at) return Again(h, std::max(cpu, card));
  const uint64_t bytes = CommOf(h.rank, h.row).bytes;
  cpu = h.at + model_.overhead + std::max(model_.Overhead(bytes), model_.Gap(bytes));
  card = h.at + model_.gap + model_.Gap(bytes);
  const Time done = cpu;
  ++total_.count;
  total_.bytes += bytes;
  total_.time += done - ranks_[h.rank].spans[h.row].begin;
  const auto key = std::make_pair(static_cast<int32_t>(h.rank), PeerOf(h.rank, h.row).tag);
  auto& posted = rank.posted[key];
  if (posted.empty()) {
    rank.arrived[key].push_back({h.rank, h.row, done});
    return;
  }
  const uint32_t recv_row = posted.front().row;
  posted.pop_front();
  Meet(h.at, h.rank, h.row);
  // A receive counts from when its message was there.
  rank.spans[recv_row].begin = std::max(rank.spans[recv_row].begin, std::min(h.at, done));
  Ends(to, recv_row, done);
}

void LogGps::Handle(const Happening& h) {
  if (h.kind == kMessage) return Arrive(h);
  const NodeType type = ranks_[h.rank].graph->type[h.row];
  if (type == NodeType::kSend) return Send(h);
  if (type == NodeType::kRecv) return Receive(h);
  Calc(h);
}

absl::Status LogGps::Unfinished() const {
  uint64_t left = 0;
  std::string first;
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    left += ranks_[r].left;
    if (!first.empty() || ranks_[r].left == 0) continue;
    for (uint32_t row = 0; row < ranks_[r].graph->size() && first.empty(); ++row) {
      if (ranks_[r].waits[row] == 0 && ranks_[r].spans[row].end == Time::Zero() &&
          ranks_[r].graph->type[row] >= NodeType::kSend)
        first = DescribeNode(traces_.ranks[r], row);
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the run cannot finish: ", left, " nodes are left when nothing more can happen",
                   first.empty() ? "" : absl::StrCat("; one that waits for its partner: ", first)));
}

Metrics LogGps::Collect() {
  Metrics metrics;
  NameTimes names;
  names.Prepare(distinct_, options_.lanes, nullptr, options_.lane_names);
  struct Edge {
    Time at;
    bool begin;
    uint32_t row;
  };
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    const Graph& g = *rank.graph;
    std::vector<Edge> edges;
    for (uint32_t row = 0; row < g.size(); ++row) {
      edges.push_back({rank.spans[row].begin, true, row});
      edges.push_back({rank.spans[row].end, false, row});
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return a.at != b.at ? a.at < b.at : a.begin > b.begin;
    });
    BusyClock busy;
    NameTimes::OfGraph* sums = names.of_graph(distinct_.of_rank[r]);
    for (const Edge& e : edges) {
      e.begin ? busy.Begin(ClassOf(g, e.row), e.at) : busy.End(ClassOf(g, e.row), e.at);
      e.begin ? sums->Begin(e.row, e.at) : sums->End(e.row, e.at);
    }
    RankMetrics total = busy.Totals();
    // A message that nobody had asked for keeps the cpu busy past the last node.
    Time end = total.end;
    for (const Time t : rank.cpu.free) end = std::max(end, t);
    total.idle += end - total.end;
    total.end = end;
    total.nodes = g.size();
    metrics.ranks.push_back(total);
    metrics.nodes += g.size();
    metrics.makespan = std::max(metrics.makespan, end);
  }
  names.Report(&metrics);
  metrics.flows = total_.count;
  if (total_.count > 0) {
    total_.ranks = 2;
    metrics.collectives[{"send_recv", ""}] = total_;
  }
  metrics.warnings = matching_.warnings;
  if (options_.spans != nullptr) {
    options_.spans->clear();
    for (Rank& rank : ranks_) options_.spans->push_back(std::move(rank.spans));
  }
  return metrics;
}

absl::StatusOr<Metrics> LogGps::Run() {
  RETURN_IF_ERROR(Check());
  Prepare();
  uint64_t handled = 0;
  while (!events_.empty()) {
    if (++handled % kHappeningsPerProgress == 0) {
      if (options_.progress) options_.progress({events_.top().at, 0, 0});
      if (Stopped(options_)) return absl::CancelledError("the run was told to stop");
    }
    const Happening h = events_.top();
    events_.Pop();
    if (h.at == Time::Never())
      return absl::OutOfRangeError("the run exceeds the longest simulated time, 106 days");
    Handle(h);
    MakeReleased();
  }
  const bool left = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.left > 0; });
  if (left) return Unfinished();
  return Collect();
}

}  // namespace

absl::StatusOr<Metrics> ReplayLogGps(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                                     const LogGpsOptions& model, const EngineOptions& options,
                                     const Matching& matching) {
  return LogGps(traces, compute, model, options, matching).Run();
}

}  // namespace chakra
