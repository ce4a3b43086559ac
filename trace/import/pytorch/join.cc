#include "trace/import/pytorch/join.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/median.h"
#include "trace/import/pytorch/comm_group.h"

namespace chakra::pytorch {
namespace {

constexpr int kMostShift = 64;  // calls by which two ranks' windows may differ
constexpr int64_t kClockNoiseNs = 20000;

bool IsPointToPoint(CommOp op) { return op == CommOp::kSend || op == CommOp::kRecv; }

bool ToCollective(CommOp op, CollectiveType* out) {
  static constexpr std::pair<CommOp, CollectiveType> kTypes[] = {
      {CommOp::kAllReduce, CollectiveType::kAllReduce},
      {CommOp::kReduce, CollectiveType::kReduce},
      {CommOp::kAllGather, CollectiveType::kAllGather},
      {CommOp::kGather, CollectiveType::kGather},
      {CommOp::kScatter, CollectiveType::kScatter},
      {CommOp::kBroadcast, CollectiveType::kBroadcast},
      {CommOp::kAllToAll, CollectiveType::kAllToAll},
      {CommOp::kReduceScatter, CollectiveType::kReduceScatter},
      {CommOp::kBarrier, CollectiveType::kBarrier}};
  for (const auto& [from, to] : kTypes) {
    if (from == op) {
      *out = to;
      return true;
    }
  }
  return false;
}

// Sets the bytes of this rank's input buffer, also if only the output is known.
void SetBytes(const CommCall& call, int64_t members, CommPlan* plan) {
  int64_t bytes = call.in_bytes;
  if (bytes <= 0 && call.out_bytes > 0) {
    bytes = call.out_bytes;
    if (call.op == CommOp::kAllGather || call.op == CommOp::kGather) bytes /= std::max<int64_t>(1, members);
    if (call.op == CommOp::kReduceScatter || call.op == CommOp::kScatter)
      bytes *= std::max<int64_t>(1, members);
  }
  plan->has_bytes = bytes >= 0 || plan->collective == CollectiveType::kBarrier;
  plan->bytes = static_cast<uint64_t>(std::max<int64_t>(0, bytes));
}

class Joiner {
 public:
  explicit Joiner(const std::vector<CaptureRank>& ranks) : ranks_(ranks), offset_known_(ranks.size()) {}

  Joined Run() {
    out_.comms.resize(ranks_.size());
    out_.clock_offset_ns.resize(ranks_.size());
    FindWorld();
    for (uint32_t r = 0; r < ranks_.size(); ++r) PlanRank(r);
    Renumber();
    MatchGroups();
    AlignClocks();
    MeasureTransfers();
    MeasureMessages();
    SetWindow();
    return std::move(out_);
  }

 private:
  struct Call {  // one entry of a rank's comms, with its times
    uint32_t comm = 0;
    int64_t begin = 0, end = 0;  // ns of the rank's own clock, epoch
  };
  using Key = std::pair<CommOp, uint64_t>;

  void Note(absl::string_view kind, uint32_t rank, uint64_t count, const std::string& detail) {
    out_.repairs.push_back(
        {std::string(kind), ranks_[rank].device_file, ranks_[rank].rank, count, 0, detail});
  }
  int64_t Base(uint32_t r) const { return ranks_[r].device == nullptr ? 0 : ranks_[r].device->base_ns; }
  void FindWorld();
  void PlanRank(uint32_t r);
  std::vector<int> Members(const CaptureRank& rank, const CommCall& call) const;
  std::string GroupName(uint32_t r, const CommCall& call, const std::vector<int>& members);
  void Renumber();
  void MatchGroups();
  bool Shift(const std::vector<Call>& a, uint32_t ra, const std::vector<Call>& b, uint32_t rb,
             int* shift) const;
  Key KeyOf(uint32_t r, const Call& call) const {
    const CommPlan& plan = out_.comms[r][call.comm];
    const CommOp op = ranks_[r].timeline.comms[call.comm].op;
    return {op, op == CommOp::kAllToAll || !plan.has_bytes ? 0 : plan.bytes};
  }
  void AlignClocks();
  void MeasureTransfers();
  void MeasureMessages();
  void SetWindow();

  const std::vector<CaptureRank>& ranks_;
  Joined out_;
  std::map<std::pair<int, int>, std::vector<std::pair<uint32_t, Call>>> sent_, received_;  // by (from, to)
  std::map<std::string, std::vector<std::vector<Call>>> calls_;  // by group, captured rank: in order of begin
  std::map<std::string, std::vector<std::map<uint32_t, Call>>> matched_;  // by group: calls, by captured rank
  std::vector<std::map<std::string, std::string>>
      pointers_;  // by captured rank: names of process-group pointers
  std::vector<bool> offset_known_;
};

void Joiner::FindWorld() {
  pointers_.resize(ranks_.size());
  int world = static_cast<int>(ranks_.size());
  for (const CaptureRank& rank : ranks_) {
    world = std::max(world, rank.rank + 1);
    if (rank.device != nullptr) world = std::max(world, rank.device->world_size);
    for (const CommCall& call : rank.timeline.comms) {
      if (call.group_size > 0 && call.group_size <= (1 << 22))
        world = std::max(world, static_cast<int>(call.group_size));
      for (const int r : call.ranks) world = std::max(world, r + 1);
    }
  }
  out_.world_size = world;
}

// The ranks of the call's group, as far as the traces tell; empty: not known, taken for all ranks.
std::vector<int> Joiner::Members(const CaptureRank& rank, const CommCall& call) const {
  if (!call.ranks.empty() && !call.ranks_cut) return call.ranks;
  if (call.start >= 0 && call.stride > 0 && call.group_size > 0 && call.group_size <= out_.world_size) {
    std::vector<int> members;
    for (int64_t i = 0; i < call.group_size; ++i)
      members.push_back(static_cast<int>(call.start + i * call.stride));
    return members;
  }
  for (const Groups* groups : {rank.device != nullptr ? &rank.device->groups : nullptr,
                               rank.host != nullptr ? &rank.host->groups : nullptr}) {
    if (groups == nullptr) continue;
    if (const auto it = groups->find(call.group); it != groups->end()) return it->second;
  }
  return {};
}

// Old traces name a group by the address of an object, which differs between ranks. Groups are then numbered
// in the order of their first use on each rank.
std::string Joiner::GroupName(uint32_t r, const CommCall& call, const std::vector<int>& members) {
  const bool pointer = call.group.size() > 6 && std::all_of(call.group.begin(), call.group.end(),
                                                            [](char c) { return c >= '0' && c <= '9'; });
  std::string name = call.group;
  if (pointer) {
    auto& names = pointers_[r];
    name = names.try_emplace(call.group, absl::StrCat("group", names.size())).first->second;
  } else if (name.empty() && !members.empty() && static_cast<int>(members.size()) < out_.world_size) {
    name = absl::StrCat("ranks ", absl::StrJoin(members, ","));
  }
  if (name.empty()) name = "world";
  std::vector<int> all = members;
  if (all.empty()) {
    for (int i = 0; i < out_.world_size; ++i) all.push_back(i);
  }
  const auto [it, fresh] = out_.groups.try_emplace(name, all);
  if (fresh || it->second == all) return name;
  // Several groups have this name: add the first rank to the name.
  name = absl::StrCat(name, "@", all.front());
  out_.groups.try_emplace(name, all);
  return name;
}

void Joiner::PlanRank(uint32_t r) {
  const CaptureRank& rank = ranks_[r];
  const Timeline& t = rank.timeline;
  out_.comms[r].resize(t.comms.size());
  uint64_t guessed = 0, sizeless = 0, peerless = 0, groupless = 0;
  for (const TimelineNode& node : t.nodes) {
    if (node.comm == kNoRow) continue;
    const CommCall& call = t.comms[node.comm];
    CommPlan& plan = out_.comms[r][node.comm];
    plan.type = NodeType::kComp;
    if (call.kept) continue;
    std::vector<int> members = Members(rank, call);
    if (members.empty() && !OwnGroup(rank, call, out_.world_size, &members)) {
      ++groupless;
      continue;
    }
    const auto size = static_cast<int64_t>(members.empty() ? out_.world_size : members.size());
    if (std::find(members.begin(), members.end(), rank.rank) == members.end() && !members.empty()) {
      ++guessed;  // the rank is not in its own group: calls cannot be matched
      continue;
    }
    const bool p2p = IsPointToPoint(call.op);
    if (!p2p && !ToCollective(call.op, &plan.collective)) continue;
    const auto global = [&](int64_t member) -> int {
      if (member < 0) return kNoRank;
      if (call.root_is_global || members.empty())
        return member < out_.world_size ? static_cast<int>(member) : kNoRank;
      return member < size ? members[static_cast<size_t>(member)] : kNoRank;
    };
    SetBytes(call, size, &plan);
    if (!plan.has_bytes) ++sizeless;
    plan.group = GroupName(r, call, members);
    if (p2p) {
      plan.peer = global(call.root);
      if (plan.peer == kNoRank || plan.peer == rank.rank) {
        ++peerless;
        continue;
      }
      plan.type = call.op == CommOp::kSend ? NodeType::kSend : NodeType::kRecv;
      continue;
    }
    plan.type = NodeType::kCollective;
    const bool rooted =
        plan.collective == CollectiveType::kBroadcast || plan.collective == CollectiveType::kReduce ||
        plan.collective == CollectiveType::kGather || plan.collective == CollectiveType::kScatter;
    if (rooted) plan.root = global(call.root);
    auto& calls = calls_[plan.group];
    calls.resize(ranks_.size());
    calls[r].push_back({node.comm, Base(r) + node.start, Base(r) + node.start + node.dur});
  }
  if (guessed > 0)
    Note("group_without_self", r, guessed,
         "calls on groups that do not hold this rank; kept as recorded, as communication");
  if (groupless > 0)
    Note(
        "comm_group_unknown", r, groupless,
        "calls of a library with groups of its own, of which nothing tells the members; kept as recorded, as "
        "communication");
  if (sizeless > 0)
    Note("comm_size_unknown", r, sizeless,
         "calls whose size nothing tells: a cluster keeps their recorded time; record with shapes, or set "
         "sizes with "
         "the edit `bytes`");
  if (peerless > 0)
    Note("comm_peer_unknown", r, peerless,
         "sends or receives whose peer nothing tells; kept as recorded, as communication");
}

// Captured ranks become 0, 1, ...; other ranks follow.
void Joiner::Renumber() {
  std::map<int, int> place;
  for (uint32_t r = 0; r < ranks_.size(); ++r) place[ranks_[r].rank] = static_cast<int>(r);
  int next = static_cast<int>(ranks_.size());
  for (int r = 0; r < out_.world_size; ++r) {
    if (place.try_emplace(r, next).second) ++next;
  }
  for (auto& [name, members] : out_.groups) {
    for (int& m : members) m = place.try_emplace(m, next++).first->second;
  }
  std::map<std::string, int> tags;
  for (const auto& [name, members] : out_.groups) tags.try_emplace(name, static_cast<int>(tags.size()));
  for (auto& comms : out_.comms) {
    for (CommPlan& plan : comms) {
      if (plan.root != kNoRank) plan.root = place[plan.root];
      if (plan.peer != kNoRank) plan.peer = place[plan.peer];
      if (plan.type == NodeType::kSend || plan.type == NodeType::kRecv) plan.tag = tags[plan.group];
    }
  }
}

// Finds a shift such that a[i] is b[i + shift]: calls that both ranks have agree in kind and size. Of several
// such shifts, takes the one under which the difference of their ends varies least.
bool Joiner::Shift(const std::vector<Call>& a, uint32_t ra, const std::vector<Call>& b, uint32_t rb,
                   int* shift) const {
  bool found = false;
  int64_t best = 0;
  const auto na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  for (int s = -std::min(kMostShift, na); s <= std::min(kMostShift, nb); ++s) {
    const int from = std::max(0, -s), to = std::min(na, nb - s);
    // Both must share at least half of the shorter list.
    if (to - from < (std::min(na, nb) + 1) / 2) continue;
    bool agree = true;
    std::vector<int64_t> differences;
    for (int i = from; i < to && agree; ++i) {
      agree = KeyOf(ra, a[static_cast<size_t>(i)]) == KeyOf(rb, b[static_cast<size_t>(i + s)]);
      differences.push_back(a[static_cast<size_t>(i)].end - b[static_cast<size_t>(i + s)].end);
    }
    if (!agree) continue;
    const int64_t middle = UpperMedian(differences);
    for (int64_t& d : differences) d = std::abs(d - middle);
    // Without better evidence the windows are the same.
    const int64_t score =
        UpperMedian(std::move(differences)) + kClockNoiseNs * (s != 0) + std::abs(middle) / 1000;
    if (found && score >= best) continue;
    found = true;
    best = score;
    *shift = s;
  }
  return found;
}

void Joiner::MatchGroups() {
  for (auto& [name, calls] : calls_) {
    uint32_t first = 0;
    while (first < calls.size() && calls[first].empty()) ++first;
    std::vector<std::pair<uint32_t, int>> shifts;  // rank, shift against `first`
    bool good = true;
    int from = 0, to = static_cast<int>(calls[first].size());
    uint64_t members = 0;
    for (const int m : out_.groups[name]) members += m < static_cast<int>(ranks_.size()) ? 1 : 0;
    for (uint32_t r = first; r < calls.size(); ++r) {
      if (calls[r].empty()) continue;
      int shift = 0;
      good = good && (r == first || Shift(calls[first], first, calls[r], r, &shift));
      shifts.push_back({r, shift});
      from = std::max(from, -shift);
      to = std::min(to, static_cast<int>(calls[r].size()) - shift);
    }
    good = good && shifts.size() == members;
    if (!good) to = from;
    for (const auto& [r, shift] : shifts) {
      uint64_t left_out = 0;
      for (int i = 0; i < static_cast<int>(calls[r].size()); ++i) {
        if (i - shift >= from && i - shift < to) continue;
        out_.comms[r][calls[r][static_cast<size_t>(i)].comm].type = NodeType::kComp;
        ++left_out;
      }
      if (left_out > 0) {
        Note("collectives_unshared", r, left_out,
             absl::StrCat("calls on group \"", name, "\" that not every captured member shows",
                          good ? "" : ": the ranks' calls do not agree in kind, size and order",
                          "; kept as recorded, as communication"));
      }
    }
    auto& matched = matched_[name];
    for (int i = from; i < to; ++i) {
      auto& one = matched.emplace_back();
      for (const auto& [r, shift] : shifts) one[r] = calls[r][static_cast<size_t>(i + shift)];
    }
  }
}

// A collective ends on all ranks at nearly the same time: its ends give the difference of the clocks, if that
// exceeds the spread of the ends.
void Joiner::AlignClocks() {
  if (ranks_.empty()) return;
  offset_known_[0] = true;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t r = 1; r < ranks_.size(); ++r) {
      if (offset_known_[r]) continue;
      std::vector<int64_t> differences;
      for (const auto& [name, calls] : matched_) {
        for (const auto& one : calls) {
          const auto own = one.find(r);
          if (own == one.end()) continue;
          for (const auto& [other, call] : one) {
            if (other == r || !offset_known_[other]) continue;
            differences.push_back(call.end + out_.clock_offset_ns[other] - own->second.end);
            break;
          }
        }
      }
      if (differences.empty()) continue;
      const int64_t middle = UpperMedian(differences);
      for (int64_t& d : differences) d = std::abs(d - middle);
      const int64_t spread = UpperMedian(std::move(differences));
      if (std::abs(middle) > kClockNoiseNs + 4 * spread) {
        out_.clock_offset_ns[r] = middle;
        Note(
            "clock_aligned", r, 1,
            absl::StrCat("the clock was moved by ", middle,
                         " ns, so that shared collectives end together; their ends vary by ", spread, " ns"));
      }
      offset_known_[r] = again = true;
    }
  }
  for (uint32_t r = 1; r < ranks_.size(); ++r) {
    if (!offset_known_[r])
      Note("clock_not_aligned", r, 1,
           "no collective is shared with the other ranks; the clock is taken as it is");
  }
}

void Joiner::MeasureTransfers() {
  for (const auto& [name, calls] : matched_) {
    for (const auto& one : calls) {
      int64_t last = INT64_MIN;
      for (const auto& [r, call] : one) last = std::max(last, call.begin + out_.clock_offset_ns[r]);
      for (const auto& [r, call] : one) {
        out_.comms[r][call.comm].transfer_ns =
            std::max<int64_t>(0, call.end + out_.clock_offset_ns[r] - last);
      }
    }
  }
}

// Matches the k-th send from one rank to another with the k-th receive there, if both sides have equally
// many.
void Joiner::MeasureMessages() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    for (const TimelineNode& node : ranks_[r].timeline.nodes) {
      if (node.comm == kNoRow) continue;
      const CommPlan& plan = out_.comms[r][node.comm];
      const Call call = {node.comm, Base(r) + node.start, Base(r) + node.start + node.dur};
      const auto self = static_cast<int>(r);
      if (plan.type == NodeType::kSend) sent_[{self, plan.peer}].push_back({r, call});
      if (plan.type == NodeType::kRecv) received_[{plan.peer, self}].push_back({r, call});
    }
  }
  for (const auto& [who, sends] : sent_) {
    const auto it = received_.find(who);
    if (it == received_.end() || it->second.size() != sends.size()) continue;
    for (size_t i = 0; i < sends.size(); ++i) {
      const auto& [rs, send] = sends[i];
      const auto& [rr, recv] = it->second[i];
      const int64_t last =
          std::max(send.begin + out_.clock_offset_ns[rs], recv.begin + out_.clock_offset_ns[rr]);
      out_.comms[rs][send.comm].eager =
          send.end + out_.clock_offset_ns[rs] <= recv.begin + out_.clock_offset_ns[rr];
      out_.comms[rs][send.comm].transfer_ns =
          std::max<int64_t>(0, send.end + out_.clock_offset_ns[rs] - last);
      out_.comms[rr][recv.comm].transfer_ns =
          std::max<int64_t>(0, recv.end + out_.clock_offset_ns[rr] - last);
    }
  }
}

void Joiner::SetWindow() {
  out_.window_begin_ns = INT64_MAX;
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    out_.window_begin_ns =
        std::min(out_.window_begin_ns, Base(r) + ranks_[r].timeline.window_begin + out_.clock_offset_ns[r]);
  }
}

}  // namespace

Joined JoinRanks(const std::vector<CaptureRank>& ranks) { return Joiner(ranks).Run(); }

}  // namespace chakra::pytorch
