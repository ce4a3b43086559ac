#include "replay/report/overlap.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/busy.h"
#include "replay/report/intervals.h"
#include "replay/report/row_table.h"
#include "trace/base/utf8.h"
#include "trace/model/comm_kind.h"

namespace chakra {
namespace {

// The times when a rank computed on its device.
class Computing {
 public:
  Computing(const Graph& graph, const std::vector<NodeSpan>& spans) {
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (ClassOf(graph, row) == BusyClock::kCompute && spans[row].end > spans[row].begin)
        busy_.emplace_back(spans[row].begin.picos(), spans[row].end.picos());
    }
    Join(&busy_);
    before_.push_back(0);
    for (const auto& [begin, end] : busy_) before_.push_back(before_.back() + end - begin);
  }
  // The time that it computed within `span`, in picoseconds.
  int64_t In(const NodeSpan& span) const { return Until(span.end) - Until(span.begin); }

 private:
  int64_t Until(Time time) const {
    const int64_t at = time.picos();
    const auto after =
        std::partition_point(busy_.begin(), busy_.end(), [&](const auto& s) { return s.first < at; });
    const auto n = static_cast<size_t>(after - busy_.begin());
    return n == 0 ? 0 : before_[n] - std::max<int64_t>(0, busy_[n - 1].second - at);
  }
  Intervals busy_;
  std::vector<int64_t> before_;  // by index in busy_: the sum of the intervals before it
};

// The waits of messages whose other side was not recorded, by row: the time beyond that of the shortest
// message of the same size, which is assumed not to have waited.
absl::flat_hash_map<uint32_t, int64_t> WaitsOfMessages(const Graph& graph,
                                                       const std::vector<NodeSpan>& spans) {
  absl::flat_hash_map<uint32_t, int64_t> waits;
  std::map<std::pair<NodeType, uint64_t>, std::vector<uint32_t>> by_size;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] != NodeType::kSend && graph.type[row] != NodeType::kRecv) continue;
    const uint32_t payload = graph.payload[row];
    const bool told = !graph.transfer.empty() && graph.transfer[payload] != Time::Never();
    if (!told && graph.comm[payload].has_bytes)
      by_size[{graph.type[row], graph.comm[payload].bytes}].push_back(row);
  }
  for (const auto& [size, rows] : by_size) {
    const auto length = [&](uint32_t row) { return (spans[row].end - spans[row].begin).picos(); };
    int64_t least = INT64_MAX;
    for (const uint32_t row : rows) least = std::min(least, length(row));
    for (const uint32_t row : rows) waits[row] = length(row) - least;
  }
  return waits;
}

int64_t Held(__int128 ps) { return static_cast<int64_t>(std::min<__int128>(ps, Time::Never().picos())); }

}  // namespace

bool OverlapMeter::Takes(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures) {
  const auto messages = [](const Graph& graph) {
    return std::any_of(graph.type.begin(), graph.type.end(),
                       [](NodeType t) { return t == NodeType::kSend || t == NodeType::kRecv; });
  };
  for (size_t r = 0; r < captures.size(); ++r) {
    if (captures[r].has_value() && (!captures[r]->calls_alone || messages(*traces.ranks[r].graph)))
      return true;
  }
  return false;
}

OverlapMeter::OverlapMeter(const TraceSet& traces, const SymmetricRanks* symmetric, LaneNames* lanes)
    : traces_(traces), lanes_(lanes), ranks_(traces.ranks.size(), 1) {
  for (size_t r = 0; r < ranks_.size(); ++r) {
    if (!IsSymmetricRank(symmetric, static_cast<int>(r))) continue;
    ++ranks_[static_cast<size_t>((*symmetric)[r])];
  }
}

void OverlapMeter::Measure(uint32_t rank, const std::vector<NodeSpan>& spans) {
  const Graph& graph = *traces_.ranks[rank].graph;
  const Computing computing(graph, spans);
  const absl::flat_hash_map<uint32_t, int64_t> waits = WaitsOfMessages(graph, spans);
  const std::shared_ptr<const NamedLanes> lanes = lanes_->Of(graph, LanePolicy::kRecorded);
  absl::flat_hash_map<std::pair<std::string, uint32_t>, Sum> own;  // by kind and lane
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (ClassOf(graph, row) != BusyClock::kComm || graph.is_cpu(row)) continue;
    Sum& sum = own[{CommKind(graph, row), lanes->of_row[row]}];
    sum.time_ps += (spans[row].end - spans[row].begin).picos();
    sum.hidden_ps += computing.In(spans[row]);
    if (const auto wait = waits.find(row); wait != waits.end()) sum.waited_ps += wait->second;
    ++sum.count;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, of_key] : own) {
    Sum& sum = sums_[{ToUtf8(key.first), lanes->names[key.second]}];
    sum.time_ps += of_key.time_ps * ranks_[rank];
    sum.hidden_ps += of_key.hidden_ps * ranks_[rank];
    sum.waited_ps += of_key.waited_ps * ranks_[rank];
    sum.count += of_key.count * static_cast<uint64_t>(ranks_[rank]);
  }
}

void OverlapMeter::AddTo(proto::Report* report) const {
  std::vector<std::pair<Key, Sum>> rows(sums_.begin(), sums_.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_ps > b.second.time_ps; });
  for (const auto& [key, sum] : rows) {
    proto::OverlapReport& o = *report->add_overlap();
    o.set_kind(key.first);
    o.set_lane(key.second);
    o.set_count(sum.count);
    o.set_time_ps(Held(sum.time_ps));
    o.set_waited_ps(Held(sum.waited_ps));
    o.set_hidden_ps(Held(sum.hidden_ps));
    if (sum.time_ps > 0)
      o.set_hidden_share(static_cast<double>(sum.hidden_ps) / static_cast<double>(sum.time_ps));
  }
}

std::string PrintOverlap(const proto::Report& report, TextPage* page) {
  constexpr int kMost = 12;
  if (report.overlap_size() == 0) return "";
  double time = 0, hidden = 0, waited = 0;
  RowTable<proto::OverlapReport> table;
  for (int i = 0; i < report.overlap_size(); ++i) {
    const proto::OverlapReport& o = report.overlap(i);
    time += static_cast<double>(o.time_ps());
    waited += static_cast<double>(o.waited_ps());
    hidden += static_cast<double>(o.hidden_ps());
    if (i < kMost) table.Add(o);
  }
  if (hidden == 0 && waited == 0) return "";  // logs of calls have only gaps between the calls
  const double share = time == 0 ? 0 : 100 * hidden / time;
  return absl::StrCat("\nCommunication that computation hides: ", absl::StrFormat("%.1f %%", share),
                      " of all\n", table.Print(page));
}

}  // namespace chakra
