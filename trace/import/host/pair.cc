#include "trace/import/host/pair.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/utf8.h"
#include "trace/import/host/align.h"

namespace chakra::pytorch {
namespace {

// Evidence for an offset between the record function ids of host and device.
struct Evidence {
  uint64_t agree = 0;     // ids of `common` whose names are equal
  uint64_t common = 0;    // ids that both traces have
  std::string differing;  // text with the first few names that differ
};

// Wraps around instead of overflowing, because ids may be any numbers.
int64_t Plus(uint64_t id, int64_t offset) { return static_cast<int64_t>(id + static_cast<uint64_t>(offset)); }

class Pairer {
 public:
  Pairer(const HostTrace& host, const DeviceTrace& device) : host_(host), device_(device) {
    NumberNames();
    for (uint32_t i = 0; i < host.nodes.size(); ++i) {
      if (IsOperator(host.nodes[i])) nodes_.push_back(i);
    }
    for (uint32_t i = 0; i < device.events.size(); ++i) {
      const Event& e = device.events[i];
      if (e.kind != EventKind::kCpuOp && e.kind != EventKind::kAnnotation) continue;
      if (const int64_t rf = device.ids_of(i).rf; rf > 0) by_rf_.try_emplace(rf, i);
      if (!absl::StartsWith(device.name_of(e), "ProfilerStep")) ops_.push_back(i);
    }
  }

  absl::StatusOr<Pairing> Run();

 private:
  bool IsOperator(const HostNode& n) const {
    const absl::string_view name = host_.name_of(n);
    return n.rf_id != 0 && !absl::StrContains(name, "process_group:init") &&
           !absl::StartsWith(name, "[pytorch|");
  }
  void NumberNames();
  uint32_t EventOf(const HostNode& n, int64_t offset) const;
  bool SameName(const HostNode& n, uint32_t event) const {
    return n.name == host_name_[device_.events[event].name];
  }
  Evidence Test(int64_t offset, const std::vector<uint32_t>& nodes) const;
  int64_t FindOffset() const;
  std::vector<int64_t> OffsetCandidates() const;
  Pairing Empty(absl::string_view method) const;
  void Note(absl::string_view kind, uint64_t count, uint64_t node, std::string detail, Pairing* out) const;
  Pairing PairById(std::string* evidence) const;
  Pairing PairByThread(std::string* evidence) const;
  std::map<uint32_t, OpSequence> HostThreads() const;
  std::map<uint32_t, OpSequence> DeviceThreads() const;
  void TakeThread(uint32_t tid, const OpSequence& a, const OpSequence& b, const Alignment& found,
                  Pairing* out) const;
  void Finish(Pairing* out) const;

  const HostTrace& host_;
  const DeviceTrace& device_;
  // By name in the device trace: the same name in the host trace; kNoRow: none.
  std::vector<uint32_t> host_name_;
  std::vector<uint32_t> nodes_;  // rows of host nodes that are operators
  std::vector<uint32_t> ops_;    // rows of device events that are operators
  absl::flat_hash_map<int64_t, uint32_t> by_rf_;
};

void Pairer::NumberNames() {
  absl::flat_hash_map<absl::string_view, uint32_t> rows;
  for (const HostNode& n : host_.nodes) rows.try_emplace(host_.name_of(n), n.name);
  host_name_.assign(device_.strings.size(), kNoRow);
  for (const Event& e : device_.events) {
    uint32_t& row = host_name_[e.name];
    if (row != kNoRow) continue;
    const auto found = rows.find(device_.name_of(e));
    if (found != rows.end()) row = found->second;
  }
}

uint32_t Pairer::EventOf(const HostNode& n, int64_t offset) const {
  const auto e = by_rf_.find(Plus(n.rf_id, offset));
  return e == by_rf_.end() ? kNoRow : e->second;
}

Evidence Pairer::Test(int64_t offset, const std::vector<uint32_t>& nodes) const {
  constexpr uint64_t kShown = 3;
  Evidence found;
  uint64_t shown = 0;
  for (const uint32_t i : nodes) {
    const HostNode& n = host_.nodes[i];
    const uint32_t e = EventOf(n, offset);
    if (e == kNoRow) continue;
    ++found.common;
    if (SameName(n, e)) {
      ++found.agree;
    } else if (shown++ < kShown) {
      absl::StrAppend(&found.differing, found.differing.empty() ? "" : "; ", "record function ", n.rf_id,
                      " is \"", ToUtf8(host_.name_of(n)), "\" on the host, \"",
                      ToUtf8(device_.name_of(device_.events[e])), "\" in Kineto");
    }
  }
  return found;
}

// Offsets to try: small ones, and the most common differences between the ids of rare names.
std::vector<int64_t> Pairer::OffsetCandidates() const {
  constexpr int64_t kNear = 64;
  constexpr size_t kRare = 4, kModes = 8;
  std::vector<int64_t> offsets;
  for (int64_t o = 1; o <= kNear; ++o) {
    offsets.push_back(-o);
    offsets.push_back(o);
  }
  // Ids of host nodes and of events, by name.
  std::map<uint32_t, std::pair<std::vector<int64_t>, std::vector<int64_t>>> ids;
  for (const uint32_t i : nodes_) {
    const HostNode& n = host_.nodes[i];
    std::vector<int64_t>& list = ids[n.name].first;
    if (list.size() <= kRare) list.push_back(static_cast<int64_t>(n.rf_id));
  }
  for (const uint32_t i : ops_) {
    const Event& e = device_.events[i];
    const int64_t rf = device_.ids_of(i).rf;
    if (rf <= 0 || host_name_[e.name] == kNoRow) continue;
    std::vector<int64_t>& list = ids[host_name_[e.name]].second;
    if (list.size() <= kRare) list.push_back(rf);
  }
  std::map<int64_t, uint64_t> differences;
  for (const auto& [name, both] : ids) {
    if (both.first.size() > kRare || both.second.size() > kRare) continue;
    for (const int64_t a : both.first) {
      for (const int64_t b : both.second)
        ++differences[Plus(static_cast<uint64_t>(b), a == INT64_MIN ? a : -a)];
    }
  }
  std::vector<std::pair<uint64_t, int64_t>> modes;
  for (const auto& [difference, count] : differences) modes.emplace_back(count, difference);
  std::stable_sort(modes.begin(), modes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < std::min(kModes, modes.size()); ++i) offsets.push_back(modes[i].second);
  return offsets;
}

// The offset at which most names agree; 0 unless another offset is better.
int64_t Pairer::FindOffset() const {
  constexpr size_t kSample = 4096;
  std::vector<uint32_t> sample;
  const size_t step = nodes_.size() / kSample + 1;
  for (size_t i = 0; i < nodes_.size(); i += step) sample.push_back(nodes_[i]);
  int64_t best = 0;
  uint64_t most = Test(0, sample).agree;
  for (const int64_t offset : OffsetCandidates()) {
    const uint64_t agree = Test(offset, sample).agree;
    if (agree > most) most = agree, best = offset;
  }
  return best;
}

Pairing Pairer::Empty(absl::string_view method) const {
  Pairing out;
  out.method = std::string(method);
  out.event_of_node.assign(host_.nodes.size(), kNoRow);
  out.node_of_event.assign(device_.events.size(), kNoRow);
  return out;
}

void Pairer::Note(absl::string_view kind, uint64_t count, uint64_t node, std::string detail,
                  Pairing* out) const {
  Repair r;
  r.kind = std::string(kind);
  r.file = host_.file;
  r.rank = host_.rank != kNoRank ? host_.rank : device_.rank;
  r.count = count;
  r.first_node = node;
  r.detail = std::move(detail);
  out->repairs.push_back(std::move(r));
}

Pairing Pairer::PairById(std::string* evidence) const {
  Pairing out = Empty("record_function_id");
  const Evidence as_written = Test(0, nodes_);
  Evidence found = as_written;
  constexpr uint64_t kFew = 50;  // up to one name in 50 may differ before the ids are doubted
  if ((as_written.common - as_written.agree) * kFew > as_written.common || as_written.common == 0) {
    out.rf_offset = FindOffset();
    if (out.rf_offset != 0) found = Test(out.rf_offset, nodes_);
  }
  uint64_t repeated = 0, first_repeated = 0;
  for (const uint32_t i : nodes_) {
    const uint32_t e = EventOf(host_.nodes[i], out.rf_offset);
    if (e == kNoRow || !SameName(host_.nodes[i], e)) continue;
    if (out.node_of_event[e] != kNoRow) {
      if (repeated++ == 0) first_repeated = host_.nodes[i].id;
      continue;
    }
    out.event_of_node[i] = e;
    out.node_of_event[e] = i;
    ++out.matched;
  }
  if (out.rf_offset != 0) {
    Note("rf_offset", found.agree, nodes_.empty() ? 0 : host_.nodes[nodes_[0]].id,
         absl::StrCat("record function ids of ", device_.file, " are the host trace's plus ", out.rf_offset,
                      ": so ", found.agree, " of ", found.common, " names agree, without the change ",
                      as_written.agree, " of ", as_written.common),
         &out);
  }
  if (repeated > 0) {
    Note("repeated_record_function", repeated, first_repeated,
         "nodes with the record function id of an earlier node, not paired", &out);
  }
  if (found.agree < found.common) {
    Note("name_mismatch", found.common - found.agree, 0,
         absl::StrCat("not paired, because their names differ: ", found.differing), &out);
  }
  absl::StrAppend(evidence, "by record function id ", out.matched, " (", as_written.common, " ids in both",
                  as_written.differing.empty() ? "" : "; ", as_written.differing, ")");
  return out;
}

// The operators of each thread, in the order of their entry.
std::map<uint32_t, OpSequence> Pairer::HostThreads() const {
  std::vector<uint32_t> rows = nodes_;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return host_.nodes[a].rf_id < host_.nodes[b].rf_id; });
  std::map<uint32_t, OpSequence> threads;
  for (const uint32_t i : rows) {
    const HostNode& n = host_.nodes[i];
    if (absl::StartsWith(host_.name_of(n), "ProfilerStep")) continue;
    OpSequence& t = threads[n.tid];
    t.name.push_back(n.name);
    t.seq.push_back(n.seq_id);
    t.row.push_back(i);
  }
  return threads;
}

std::map<uint32_t, OpSequence> Pairer::DeviceThreads() const {
  std::map<uint32_t, std::vector<uint32_t>> lanes;
  for (const uint32_t i : ops_) lanes[device_.events[i].lane].push_back(i);
  std::map<uint32_t, OpSequence> threads;
  for (auto& [lane, rows] : lanes) {
    // The times of old files are too coarse to order operators that were entered in the same microsecond.
    // External ids ascend in the order of entry.
    const bool ids = std::all_of(rows.begin(), rows.end(),
                                 [&](uint32_t i) { return device_.ids_of(i).external != kNone; });
    if (ids) {
      std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
        return device_.ids_of(a).external < device_.ids_of(b).external;
      });
    }
    OpSequence& t = threads[lane];
    for (const uint32_t i : rows) {
      const Event& e = device_.events[i];
      // kNoRow, for a name that the host trace lacks, equals none of the host's names.
      t.name.push_back(host_name_[e.name]);
      t.seq.push_back(e.extra == kNoRow ? kNone : device_.ops[e.extra].seq);
      t.row.push_back(i);
    }
  }
  return threads;
}

// The greatest number of operators that both can share, judged by their names.
uint64_t Overlap(const OpSequence& a, const OpSequence& b) {
  absl::flat_hash_map<uint32_t, uint64_t> count;
  for (const uint32_t n : a.name) ++count[n];
  uint64_t overlap = 0;
  for (const uint32_t n : b.name) {
    const auto c = count.find(n);
    if (c == count.end() || c->second == 0) continue;
    --c->second;
    ++overlap;
  }
  return overlap;
}

void Pairer::TakeThread(uint32_t tid, const OpSequence& a, const OpSequence& b, const Alignment& found,
                        Pairing* out) const {
  for (size_t i = 0; i < a.size(); ++i) {
    if (found.to[i] == kNoRow) continue;
    const uint32_t event = b.row[found.to[i]];
    out->event_of_node[a.row[i]] = event;
    out->node_of_event[event] = a.row[i];
  }
  out->matched += found.matched;
  if (found.windows > 1) {
    Note("ambiguous_window", found.windows, host_.nodes[a.row[0]].id,
         absl::StrCat("thread ", tid, " fits ", found.windows, " places of ", device_.file,
                      " equally well; the first was used"),
         out);
  }
}

// Whether two threads are the same program. Common names agree in any two programs, so at least half of the
// host's thread must match without large gaps, or nearly all of Kineto's thread if that is the shorter one.
bool Fits(const OpSequence& a, const OpSequence& b, const Alignment& found) {
  constexpr size_t kEnough = 32;
  if (2 * found.matched >= a.size() && 2 * found.matched >= found.span_b) return true;
  return b.size() >= kEnough && 10 * found.matched >= 9 * b.size() && 10 * found.matched >= 9 * found.span_a;
}

Pairing Pairer::PairByThread(std::string* evidence) const {
  Pairing out = Empty("thread_order");
  const std::map<uint32_t, OpSequence> threads = HostThreads();
  std::map<uint32_t, OpSequence> lanes = DeviceThreads();
  absl::StrAppend(evidence, "in the order of each thread");
  for (const auto& [tid, a] : threads) {
    uint32_t best = kNoRow;
    uint64_t most = 0;
    for (const auto& [lane, b] : lanes) {
      const uint64_t overlap = Overlap(a, b);
      if (overlap > most) most = overlap, best = lane;
    }
    absl::StrAppend(evidence, " (thread ", tid, ": ");
    if (best == kNoRow) {
      absl::StrAppend(evidence, "0 of ", a.size(), ")");
      continue;
    }
    const OpSequence& b = lanes[best];
    const Alignment found = Align(a, b);
    const ThreadLane& lane = device_.threads[best];
    absl::StrAppend(evidence, found.matched, " of ", a.size(), ", spread over ", found.span_b,
                    " of Kineto's thread ", lane.tid);
    const size_t odd =
        static_cast<size_t>(std::find(found.to.begin(), found.to.end(), kNoRow) - found.to.begin());
    if (odd < a.size()) {
      const uint32_t next = odd == 0 ? 0 : found.to[odd - 1] + 1;
      absl::StrAppend(evidence, ", first without a match: \"", ToUtf8(host_.name_of(host_.nodes[a.row[odd]])),
                      "\" on the host, \"",
                      next < b.size() ? ToUtf8(device_.name_of(device_.events[b.row[next]])) : "its end",
                      "\" in Kineto");
    }
    absl::StrAppend(evidence, ")");
    if (!Fits(a, b, found)) continue;
    TakeThread(tid, a, b, found, &out);
    lanes.erase(best);
  }
  return out;
}

void Pairer::Finish(Pairing* out) const {
  for (const uint32_t i : nodes_) {
    const bool step = absl::StartsWith(host_.name_of(host_.nodes[i]), "ProfilerStep");
    out->nodes_unmatched += out->event_of_node[i] == kNoRow && !step ? 1 : 0;
  }
  for (const uint32_t i : ops_) out->ops_unmatched += out->node_of_event[i] == kNoRow ? 1 : 0;
}

absl::StatusOr<Pairing> Pairer::Run() {
  std::string by_id, by_thread;
  Pairing best = Empty("record_function_id");
  if (!by_rf_.empty()) best = PairById(&by_id);
  // Ids are doubtful if a tenth of the operators or more do not match. Files of 2023 have no ids.
  if (10 * best.matched < 9 * nodes_.size() || by_rf_.empty()) {
    Pairing other = PairByThread(&by_thread);
    if (other.matched > best.matched) best = std::move(other);
  }
  // Either trace may cover only a part of the other.
  if (best.matched == 0 || 2 * best.matched < std::min(nodes_.size(), ops_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(host_.file, ": ", device_.file, ": host and device traces are from different runs: of ",
                     nodes_.size(), " operators of the host trace and ", ops_.size(), " of Kineto, only ",
                     best.matched, " match; expected at least half of the smaller number: ", by_id,
                     by_id.empty() || by_thread.empty() ? "" : "; ", by_thread));
  }
  Finish(&best);
  return best;
}

}  // namespace

absl::StatusOr<Pairing> Pair(const HostTrace& host, const DeviceTrace& device) {
  return Pairer(host, device).Run();
}

}  // namespace chakra::pytorch
