#include "replay/engine/measure/name_times.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/lanes.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

struct Sum {
  std::string name;
  uint64_t count = 0;
  __int128 ps = 0;
  bool merged = false;
};

Time ToTime(__int128 ps) {
  return ps > Time::Never().picos() ? Time::Never() : Time::Picos(static_cast<int64_t>(ps));
}

void MergeInto(absl::string_view name, std::string* out) {
  out->clear();
  bool number = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out->push_back(c);
    if (digit && !number) out->push_back('#');
    number = digit;
  }
}

// Sums by name. If `may_merge` and there are more than kLongestNames names, names that differ only in numbers
// share a sum.
class Sums {
 public:
  explicit Sums(bool may_merge) : may_merge_(may_merge) {}
  void Add(absl::string_view name, uint64_t count, __int128 ps) {
    if (merged_) {
      MergeInto(name, &scratch_);
      return AddRow(scratch_, count, ps, scratch_ != name);
    }
    AddRow(name, count, ps, false);
    if (may_merge_ && sums_.size() > kLongestNames) Merge();
  }
  // The longest sums, each as a row, and one row for all others.
  std::vector<NameMetrics> Longest() {
    const size_t listed = std::min(sums_.size(), kLongestNames);
    std::vector<const Sum*> sorted;
    sorted.reserve(sums_.size());
    for (const Sum& sum : sums_) sorted.push_back(&sum);
    std::partial_sort(
        sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(listed), sorted.end(),
        [](const Sum* a, const Sum* b) { return a->ps != b->ps ? a->ps > b->ps : a->name < b->name; });
    std::vector<NameMetrics> rows;
    rows.reserve(listed + 1);
    for (size_t i = 0; i < listed; ++i)
      rows.push_back({sorted[i]->name, sorted[i]->count, ToTime(sorted[i]->ps), sorted[i]->merged});
    if (listed == sums_.size()) return rows;
    Sum rest;
    for (size_t i = listed; i < sums_.size(); ++i) {
      rest.count += sorted[i]->count;
      rest.ps += sorted[i]->ps;
    }
    rows.push_back({"(others)", rest.count, ToTime(rest.ps), true});
    return rows;
  }

 private:
  void AddRow(absl::string_view name, uint64_t count, __int128 ps, bool merged) {
    auto it = index_.find(name);
    if (it == index_.end()) {
      it = index_.emplace(std::string(name), sums_.size()).first;
      sums_.push_back({std::string(name)});
    }
    Sum& sum = sums_[it->second];
    sum.count += count;
    sum.ps += ps;
    sum.merged |= merged;
  }
  void Merge() {
    merged_ = true;
    std::vector<Sum> before;
    before.swap(sums_);
    index_.clear();
    for (const Sum& sum : before) {
      MergeInto(sum.name, &scratch_);
      AddRow(scratch_, sum.count, sum.ps, scratch_ != sum.name);
    }
  }

  bool may_merge_;
  bool merged_ = false;
  absl::flat_hash_map<std::string, size_t> index_;
  std::vector<Sum> sums_;
  std::string scratch_;
};

}  // namespace

std::string MergeNumbers(absl::string_view name) {
  std::string out;
  MergeInto(name, &out);
  return out;
}

std::string LaneName(const Graph& graph, uint32_t row, LanePolicy policy) {
  if (policy == LanePolicy::kRecorded && RunsOnRecordedLane(graph, row)) {
    return absl::StrCat(graph.is_cpu(row) ? "thread " : "stream ", graph.lane[row]);
  }
  switch (graph.type[row]) {
    case NodeType::kComp:
      if (graph.is_kept_comm(row)) return "communication";
      return graph.is_cpu(row) ? "host" : "compute";
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      return policy == LanePolicy::kSingle ? "communication" : "storage";
    case NodeType::kSend:
    case NodeType::kRecv:
    case NodeType::kCollective:
      return "communication";
    default:
      return "";
  }
}

NamedLanes::NamedLanes(const Graph& graph, LanePolicy policy) : of_row(graph.size()) {
  absl::flat_hash_map<uint64_t, uint32_t> index;  // (recorded, host or device, lane or type) -> lane
  absl::flat_hash_map<std::string, uint32_t> numbers;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const bool recorded = policy == LanePolicy::kRecorded && RunsOnRecordedLane(graph, row);
    const NodeType type = graph.is_kept_comm(row) ? NodeType::kCollective : graph.type[row];
    const uint32_t key = recorded ? static_cast<uint32_t>(graph.lane[row]) : static_cast<uint32_t>(type);
    const auto [it, fresh] =
        index.emplace(uint64_t{recorded} << 33 | uint64_t{graph.is_cpu(row)} << 32 | key, 0);
    if (fresh) {
      std::string name = LaneName(graph, row, policy);
      const auto [number, added] = numbers.emplace(name, static_cast<uint32_t>(names.size()));
      if (added) names.push_back(std::move(name));
      it->second = number->second;
    }
    of_row[row] = it->second;
  }
}

std::shared_ptr<const NamedLanes> LaneNames::Of(const Graph& graph, LanePolicy policy) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Known>& some = known_[{graph.type.data(), graph.flags.data()}];
  for (const Known& k : some) {
    if (k.policy == policy && k.graph->lane.Shares(graph.lane)) return k.lanes;
  }
  some.push_back({&graph, policy, std::make_shared<const NamedLanes>(graph, policy)});
  return some.back().lanes;
}

void NameTimes::Prepare(const DistinctGraphs& graphs, LanePolicy policy,
                        const std::vector<ComputeTimes>* fixed, LaneNames* lanes) {
  LaneNames own;
  if (lanes == nullptr) lanes = &own;
  fixed_ = fixed;
  graphs_.resize(graphs.graphs.size());
  for (const uint32_t g : graphs.of_rank) ++graphs_[g].ranks_;
  for (size_t g = 0; g < graphs_.size(); ++g) {
    OfGraph& of = graphs_[g];
    const Graph& graph = *graphs.graphs[g];
    of.graph_ = &graph;
    of.name_.resize(graph.strings.size());
    of.lanes_ = lanes->Of(graph, policy);
    of.lane_of_ = of.lanes_->of_row.data();
    of.lane_.resize(of.lanes_->names.size());
  }
}

// How many nodes each name and each lane has.
void NameTimes::Count(const OfGraph& of, Counts* counts) {
  const Graph& graph = *of.graph_;
  if (counts->lanes == of.lanes_ && counts->graph->name.Shares(graph.name) &&
      counts->of_name.size() == of.name_.size())
    return;
  counts->graph = &graph;
  counts->lanes = of.lanes_;
  counts->of_name.assign(of.name_.size(), 0);
  counts->of_lane.assign(of.lane_.size(), 0);
  for (uint32_t row = 0; row < graph.size(); ++row) {
    ++counts->of_name[graph.name[row]];
    ++counts->of_lane[of.lane_of_[row]];
  }
}

void NameTimes::Report(Metrics* metrics) const {
  Sums names(true), lanes(false);
  Counts counts;  // graphs with equal columns follow one another
  for (size_t g = 0; g < graphs_.size(); ++g) {
    const OfGraph& of = graphs_[g];
    const Graph& graph = *of.graph_;
    Count(of, &counts);
    std::vector<__int128> name_ps = of.name_, lane_ps = of.lane_;
    const RowTimes* fixed = fixed_ != nullptr ? &(*fixed_)[g].time : nullptr;
    const Time* plain = fixed != nullptr ? fixed->plain() : nullptr;
    for (uint32_t row = 0; fixed != nullptr && row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kComp) continue;
      const Time time = plain != nullptr ? plain[row] : (*fixed)[row];
      const __int128 ps = __int128{time.picos()} * static_cast<int64_t>(of.ranks_);
      name_ps[graph.name[row]] += ps;
      lane_ps[of.lane_of_[row]] += ps;
    }
    for (uint32_t s = 0; s < counts.of_name.size(); ++s) {
      if (counts.of_name[s] > 0) names.Add(graph.strings.Get(s), counts.of_name[s] * of.ranks_, name_ps[s]);
    }
    for (size_t l = 0; l < counts.of_lane.size(); ++l) {
      if (!of.lanes_->names[l].empty())
        lanes.Add(of.lanes_->names[l], counts.of_lane[l] * of.ranks_, lane_ps[l]);
    }
  }
  metrics->operators = names.Longest();
  metrics->lanes = lanes.Longest();
}

}  // namespace chakra
