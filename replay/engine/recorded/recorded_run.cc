#include "replay/engine/recorded/recorded_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "replay/engine/measure/busy.h"
#include "replay/engine/measure/kept_comm.h"
#include "replay/engine/measure/name_times.h"
#include "replay/engine/recorded/recorded_rendezvous.h"
#include "replay/engine/recorded/recorded_walk.h"
#include "trace/base/parallel.h"
#include "trace/base/prefetch.h"
#include "trace/base/status_macros.h"
#include "trace/base/wait_shortly.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

class RecordedRun {
 public:
  RecordedRun(const TraceSet& traces, const std::vector<ComputeTimes>& compute, const EngineOptions& options,
              const Matching& matching)
      : traces_(traces),
        compute_(compute),
        options_(options),
        matching_(matching),
        distinct_(traces),
        all_rendezvous_(matching),
        threads_(static_cast<uint32_t>(ThreadCount(options.threads, traces.ranks.size()))),
        ranks_each_((static_cast<uint32_t>(traces.ranks.size()) + threads_ - 1) / threads_) {}

  absl::StatusOr<std::optional<Metrics>> Run();

 private:
  class Worker;
  class Measurer;
  bool Fits() const;
  bool FindShapes();
  void PrepareWalks();
  bool WalkAll();
  void Collect(Metrics* metrics);
  uint32_t ThreadOf(uint32_t rank) const { return rank / ranks_each_; }
  RecordedWalk WalkOf(uint32_t rank) const {
    const uint32_t graph = distinct_.of_rank[rank];
    return RecordedWalk(traces_.ranks[rank], shapes_[graph], compute_[graph], matching_);
  }

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& compute_;
  const EngineOptions& options_;
  const Matching& matching_;
  const DistinctGraphs distinct_;
  RecordedRendezvousTable all_rendezvous_;
  const uint32_t threads_, ranks_each_;
  std::vector<RecordedShape> shapes_;  // by distinct graph
  std::vector<RecordedWalk> walks_;    // by rank
  std::vector<uint32_t> waits_;        // by rank: the rendezvous that its walk waits for
  NameTimes names_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::vector<std::vector<uint32_t>> inbox_;  // by thread: rendezvous that other threads completed
  std::atomic<uint64_t> told_ = 0;            // how often inbox_ was filled
  uint32_t idle_ = 0;
  bool over_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<uint64_t> done_ = 0;  // nodes, updated from time to time
  uint64_t nodes_ = 0;
};

// Walks the ranks of a thread until all have ended, or wait for each other.
class RecordedRun::Worker {
 public:
  Worker(RecordedRun* run, uint32_t thread)
      : run_(*run), thread_(thread), members_(run->matching_.groups.size()) {}
  void Run() {
    const auto ranks = static_cast<uint32_t>(run_.walks_.size());
    const uint32_t begin = std::min(ranks, thread_ * run_.ranks_each_);
    for (uint32_t r = std::min(ranks, begin + run_.ranks_each_); r-- > begin;) ready_.push_back(r);
    do {
      while (!ready_.empty() && !run_.lost_.load(std::memory_order_relaxed)) WalkSome();
    } while (Receive());
    run_.done_ += rows_;
  }

  bool Known(uint32_t rendezvous, RoundEnd* last) const {
    return run_.all_rendezvous_.Known(rendezvous, last);
  }
  bool Arrive(uint32_t rendezvous, const RoundEnd& begin, int64_t transfer, bool eager) {
    if (begin.round > UINT16_MAX) return false;
    if (!run_.all_rendezvous_.Arrive(thread_, rank_, rendezvous, begin, transfer, eager)) return true;
    const RecordedRendezvous& m = run_.all_rendezvous_[rendezvous];
    complete_.push_back(rendezvous);
    now_ = std::max(now_, m.last);
    return Time::Picos(m.last) + Time::Picos(std::max<int64_t>(m.longest, 0)) != Time::Never();
  }
  void Ran(uint32_t, const RoundEnd&, const RoundEnd&) {}

 private:
  void WalkSome() {
    std::array<uint32_t, 16> some;
    uint32_t count = 0;
    for (; count < some.size() && !ready_.empty(); ready_.pop_back()) some[count++] = ready_.back();
    for (uint32_t i = 0; i < count; ++i) run_.walks_[some[i]].AskFirst();
    for (uint32_t i = 0; i < count; ++i) run_.walks_[some[i]].AskNext();
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t rendezvous;
      touched_ = touched_ + run_.walks_[some[i]].AskLast(&rendezvous);
      if (rendezvous == RecordedWalk::kDone) continue;
      PrefetchToWrite(&run_.all_rendezvous_[rendezvous]);
      if (rendezvous < run_.all_rendezvous_.calls())
        Prefetch(&run_.matching_.calls[rendezvous]);  // for Wake()
    }
    for (uint32_t i = 0; i < count; ++i) {
      rank_ = some[i];
      Walk();
    }
  }
  void Walk() {
    RecordedWalk& walk = run_.walks_[rank_];
    const uint32_t before = walk.rows_done();
    run_.waits_[rank_] = walk.GoOn(this);
    if (run_.waits_[rank_] == RecordedWalk::kLost) run_.lost_ = true;
    rows_ += walk.rows_done() - before;
    for (const uint32_t rendezvous : complete_) {
      Wake(rendezvous);
      if (run_.all_rendezvous_[rendezvous].spread != RecordedRendezvous::kOne) Tell(rendezvous);
    }
    complete_.clear();
    if (++walks_ % kWalksPerProgress == 0) Progress();
  }
  // Continues the ranks of this thread that wait for the rendezvous.
  void Wake(uint32_t rendezvous) {
    const auto wake = [&](uint32_t rank) {
      if (run_.waits_[rank] == rendezvous) ready_.push_back(rank);
    };
    if (rendezvous >= run_.all_rendezvous_.calls()) {
      const MatchedMessage& m = run_.matching_.messages[rendezvous - run_.all_rendezvous_.calls()];
      for (const int rank : {m.dst, m.src}) {
        const auto r = static_cast<uint32_t>(rank);
        if (run_.ThreadOf(r) == thread_ && (rank == m.dst || m.src != m.dst)) wake(r);
      }
      return;
    }
    const std::vector<uint32_t>& members = MembersOf(run_.matching_.calls[rendezvous].group);
    for (size_t i = members.size(); i-- > 0;) wake(members[i]);
  }
  // The members of a group that are on this thread.
  const std::vector<uint32_t>& MembersOf(uint32_t group) {
    std::vector<uint32_t>& members = members_[group];
    if (!members.empty()) return members;
    for (const int rank : run_.matching_.groups[group].members) {
      if (run_.ThreadOf(static_cast<uint32_t>(rank)) == thread_)
        members.push_back(static_cast<uint32_t>(rank));
    }
    return members;
  }
  // Makes the other threads look for ranks that wait for the rendezvous.
  void Tell(uint32_t rendezvous) {
    const std::lock_guard<std::mutex> lock(run_.mutex_);
    for (uint32_t t = 0; t < run_.threads_; ++t) {
      if (t != thread_) run_.inbox_[t].push_back(rendezvous);
    }
    ++run_.told_;
    run_.changed_.notify_all();
  }
  // Waits for rendezvous that other threads complete. Returns false if no rank can continue.
  bool Receive() {
    WaitShortly([&] { return run_.told_.load(std::memory_order_relaxed) != told_ || run_.threads_ == 1; });
    std::vector<uint32_t> all_rendezvous;
    {
      std::unique_lock<std::mutex> lock(run_.mutex_);
      std::vector<uint32_t>& inbox = run_.inbox_[thread_];
      ++run_.idle_;
      const auto nothing = [](const std::vector<uint32_t>& of) { return of.empty(); };
      if (run_.lost_ ||
          (run_.idle_ == run_.threads_ && std::all_of(run_.inbox_.begin(), run_.inbox_.end(), nothing))) {
        run_.over_ = true;
        run_.changed_.notify_all();
      }
      run_.changed_.wait(lock, [&] { return run_.over_ || !inbox.empty(); });
      if (run_.over_) return false;
      --run_.idle_;
      told_ = run_.told_;
      all_rendezvous.swap(inbox);
    }
    for (const uint32_t rendezvous : all_rendezvous) Wake(rendezvous);
    return true;
  }
  void Progress() {
    run_.done_ += rows_;
    rows_ = 0;
    if (thread_ > 0) return;
    if (Stopped(run_.options_)) run_.lost_ = true;
    if (!run_.options_.progress) return;
    run_.options_.progress({Time::Picos(now_), run_.done_, run_.nodes_});
  }

  static constexpr uint64_t kWalksPerProgress = 4096;
  RecordedRun& run_;
  const uint32_t thread_;
  uint32_t rank_ = 0;  // the rank that is walked
  uint64_t rows_ = 0, walks_ = 0, told_ = 0;
  int64_t now_ = 0;
  volatile uint64_t touched_ = 0;               // sum of prefetched values, so that the compiler keeps their
                                                // reads
  std::vector<uint32_t> ready_;                 // ranks; the last one is walked next
  std::vector<std::vector<uint32_t>> members_;  // by group: see MembersOf()
  std::vector<uint32_t> complete_;              // rendezvous that the current walk completed
};

// Walks a rank all of whose rendezvous are complete, and measures it.
class RecordedRun::Measurer {
 public:
  explicit Measurer(RecordedRun* run) : run_(*run) {}
  // Returns false if a time exceeds the longest simulated time.
  bool Measure(uint32_t rank, RankMetrics* out) {
    const uint32_t graph = run_.distinct_.of_rank[rank];
    begins_.clear();
    ends_.clear();
    waited_ = Time();
    names_ = run_.names_.of_graph(graph);
    kinds_ = run_.options_.comm_kinds == nullptr ? nullptr : (*run_.options_.comm_kinds)[graph].data();
    spans_ = run_.options_.spans != nullptr ? &(*run_.options_.spans)[rank]
             : run_.options_.ran            ? &rank_spans_
                                            : nullptr;
    RecordedWalk walk = run_.WalkOf(rank);
    graph_ = &walk.graph();
    if (spans_ != nullptr) spans_->resize(graph_->size());
    if (walk.GoOn(this) != RecordedWalk::kDone) return false;
    if (run_.options_.ran) run_.options_.ran(rank, *spans_);
    *out = Busy();
    out->nodes = graph_->size();
    out->waited = waited_;
    return true;
  }

  bool Known(uint32_t rendezvous, RoundEnd* last) const {
    last->ps = run_.all_rendezvous_[rendezvous].last;
    last->round = run_.all_rendezvous_[rendezvous].last_round;
    return true;
  }
  bool Arrive(uint32_t rendezvous, const RoundEnd& begin, int64_t transfer, bool eager) {
    const int64_t last = run_.all_rendezvous_[rendezvous].last;
    if (rendezvous < run_.all_rendezvous_.calls()) waited_ += Time::Picos(last - begin.ps);
    const Time end = Time::Picos(eager ? begin.ps : last) + Time::Picos(transfer);
    end_ = end.picos();
    return end != Time::Never();
  }
  void Ran(uint32_t row, const RoundEnd& begin, const RoundEnd& known) {
    const int64_t end = known.waits == kNoRow ? known.ps : end_;
    const BusyClock::Class c = ClassOf(*graph_, row);
    const uint8_t kind =
        kinds_ == nullptr || graph_->type[row] < NodeType::kSend ? uint8_t{0} : kinds_[graph_->payload[row]];
    begins_.push_back({begin.ps, c, kind});
    ends_.push_back({end, c, kind});
    names_->Ran(row, end - begin.ps);
    if (spans_ != nullptr) (*spans_)[row] = {Time::Picos(begin.ps), Time::Picos(end)};
  }

 private:
  struct Edge {
    int64_t ps;
    BusyClock::Class c;
    uint8_t kind;
  };
  static void Sort(std::vector<Edge>* edges) {
    const auto earlier = [](const Edge& a, const Edge& b) { return a.ps < b.ps; };
    if (!std::is_sorted(edges->begin(), edges->end(), earlier))
      std::sort(edges->begin(), edges->end(), earlier);
  }
  RankMetrics Busy() {
    Sort(&begins_);
    Sort(&ends_);
    BusyClock busy;
    size_t b = 0;
    for (const Edge& e : ends_) {  // each node has begun before it ends
      for (; b < begins_.size() && begins_[b].ps <= e.ps; ++b)
        busy.Begin(begins_[b].c, Time::Picos(begins_[b].ps), begins_[b].kind);
      busy.End(e.c, Time::Picos(e.ps), e.kind);
    }
    return busy.Totals();
  }

  RecordedRun& run_;
  const Graph* graph_ = nullptr;
  NameTimes::OfGraph* names_ = nullptr;
  const uint8_t* kinds_ = nullptr;  // by index into Graph::comm; null: all 0
  std::vector<NodeSpan>* spans_ = nullptr;
  std::vector<NodeSpan> rank_spans_;
  int64_t end_ = 0;  // of the communication that began last
  Time waited_;
  std::vector<Edge> begins_, ends_;
};

bool RecordedRun::Fits() const {
  const auto some = [](const auto* of) { return of != nullptr && !of->empty(); };
  if (!options_.recorded_comm || !options_.fast_paths || options_.lanes != LanePolicy::kRecorded ||
      options_.variation != nullptr || options_.path != nullptr || options_.fixed_time != nullptr ||
      options_.observer != nullptr || some(options_.symmetric) || !options_.start.empty() ||
      traces_.of_one_trace)
    return false;
  const auto whole = [](const GroupInfo& g) { return static_cast<int>(g.members.size()) == g.size; };
  const auto paired = [](const MatchedMessage& m) { return m.send_row != kNoRow && m.recv_row != kNoRow; };
  return matching_.calls.size() + matching_.messages.size() < RecordedWalk::kLost &&
         std::all_of(matching_.groups.begin(), matching_.groups.end(), whole) &&
         std::all_of(matching_.messages.begin(), matching_.messages.end(), paired);
}

// Whether two graphs share all columns that walks read, except those of times.
bool Alike(const Graph& a, const Graph& b) {
  return a.type.Shares(b.type) && a.flags.Shares(b.flags) && a.order.Shares(b.order) &&
         a.lane.Shares(b.lane) && a.payload.Shares(b.payload) && a.comm.Shares(b.comm) &&
         a.dep_begin.Shares(b.dep_begin) && a.dep.Shares(b.dep);
}

// Finds the shape of each graph; graphs that share their columns share one shape. Returns false if a graph
// does not fit.
bool RecordedRun::FindShapes() {
  absl::flat_hash_map<std::tuple<const void*, const void*, const void*>, std::vector<RecordedShape>> known;
  for (const Graph* g : distinct_.graphs) {
    if (!g->child_delay.empty() || !g->child_release.empty()) return false;
    std::vector<RecordedShape>& some = known[{g->type.data(), g->flags.data(), g->comm.data()}];
    auto shape = std::find_if(some.begin(), some.end(),
                              [g](const RecordedShape& known) { return Alike(*known.like, *g); });
    if (shape == some.end()) shape = some.insert(some.end(), RecordedShape::Of(*g));
    if (!shape->fits) return false;
    shapes_.push_back(*shape);
  }
  return true;
}

void RecordedRun::PrepareWalks() {
  walks_.reserve(traces_.ranks.size());
  waits_.assign(traces_.ranks.size(), RecordedWalk::kDone);
  for (uint32_t r = 0; r < traces_.ranks.size(); ++r) {
    walks_.push_back(WalkOf(r));
    nodes_ += traces_.ranks[r].graph->size();
  }
  inbox_.resize(threads_);
}

// Returns false if ranks wait for each other, or if a time exceeds the longest simulated time.
bool RecordedRun::WalkAll() {
  std::vector<std::thread> others;
  const int wanted = static_cast<int>(threads_) - 1;
  StartThreads(
      wanted, [this](int t) { Worker(this, static_cast<uint32_t>(t)).Run(); }, &others);
  if (others.size() < static_cast<size_t>(wanted)) lost_ = true;  // their ranks would not be walked
  Worker(this, 0).Run();
  for (std::thread& t : others) t.join();
  return !lost_ && std::all_of(walks_.begin(), walks_.end(), [](const RecordedWalk& walk) {
    return walk.rows_done() == walk.graph().size();
  });
}

absl::StatusOr<std::optional<Metrics>> RecordedRun::Run() {
  if (!Fits() || !FindShapes()) return std::nullopt;
  all_rendezvous_.Prepare(threads_, [this](uint32_t rank) { return ThreadOf(rank); });
  PrepareWalks();
  const bool ended = WalkAll();
  if (Stopped(options_)) return absl::CancelledError("the run was stopped");
  if (!ended) return std::nullopt;
  std::vector<RecordedWalk>().swap(walks_);
  names_.Prepare(distinct_, options_.lanes, nullptr, options_.lane_names);
  if (options_.spans != nullptr) options_.spans->assign(traces_.ranks.size(), {});
  Metrics metrics;
  metrics.ranks.resize(traces_.ranks.size());
  std::vector<std::vector<uint32_t>> of_graph(distinct_.graphs.size());
  for (uint32_t r = 0; r < traces_.ranks.size(); ++r) of_graph[distinct_.of_rank[r]].push_back(r);
  RETURN_IF_ERROR(ForEach(of_graph.size(), options_.threads, [&] {
    return [&, measurer = std::make_unique<Measurer>(this)](size_t g) {
      for (const uint32_t r : of_graph[g]) {
        if (!measurer->Measure(r, &metrics.ranks[r])) lost_ = true;
      }
      return absl::OkStatus();
    };
  }));
  if (lost_) return std::nullopt;
  Collect(&metrics);
  return std::optional<Metrics>(std::move(metrics));
}

void RecordedRun::Collect(Metrics* metrics) {
  for (const RankMetrics& rank : metrics->ranks) metrics->makespan = std::max(metrics->makespan, rank.end);
  metrics->nodes = nodes_;
  std::vector<uint64_t> invalid;  // by distinct graph
  for (const Graph* graph : distinct_.graphs) {
    invalid.push_back(
        static_cast<uint64_t>(std::count(graph->type.begin(), graph->type.end(), NodeType::kInvalid)));
  }
  for (const uint32_t g : distinct_.of_rank) metrics->invalid_nodes += invalid[g];
  metrics->warnings = matching_.warnings;
  names_.Report(metrics);
  all_rendezvous_.Report(metrics);
  CountKept(traces_, metrics);
}

}  // namespace

absl::StatusOr<std::optional<Metrics>> ReplayRecorded(const TraceSet& traces,
                                                      const std::vector<ComputeTimes>& compute,
                                                      const EngineOptions& options,
                                                      const Matching& matching) {
  return RecordedRun(traces, compute, options, matching).Run();
}

}  // namespace chakra
