#include "trace/import/join/join.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "trace/import/join/call_streams.h"
#include "trace/import/join/clocks.h"
#include "trace/import/join/infer_peers.h"
#include "trace/import/join/machines.h"
#include "trace/import/join/match_calls.h"

namespace chakra::pytorch {
namespace {

// Sets the bytes of this rank's input buffer. If only the output is known, computes the input from it.
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
  Joiner(const std::vector<CaptureRank>& ranks, const GroupRules& asked)
      : ranks_(ranks), asked_(asked), machine_(FindMachines(ranks)) {
    for (const CaptureRank& rank : ranks_) steps_.emplace_back(rank);
  }

  Joined Run() {
    out_.comms.resize(ranks_.size());
    out_.world_size = WorldSize(ranks_);
    out_.call_groups = FindCallGroups(ranks_, out_.world_size, machine_, asked_);
    for (const CallGroup& group : out_.call_groups.groups) {
      if (!group.ranks.empty()) out_.groups.emplace(group.name, group.ranks);
    }
    for (uint32_t r = 0; r < ranks_.size(); ++r) PlanRank(r);
    Renumber();
    for (uint32_t g = 0; g < calls_.size(); ++g) MatchGroup(g);
    Clocks clocks = AlignClocks(ranks_, machine_, matched_);
    out_.clock_offset_ns = clocks.offset_ns;
    FindPeers(clocks.one_with);
    CollectMessages();
    const std::vector<bool> told = ToldByMessages(clocks.one_with);
    for (Repair& note : clocks.notes) {
      if (note.kind != "clock_not_aligned" || !told[RowOf(note.rank)])
        out_.repairs.push_back(std::move(note));
    }
    MeasureTransfers();
    MeasureMessages();
    SetWindow();
    out_.names = std::move(names_);
    return std::move(out_);
  }

 private:
  struct Call {  // a send or receive
    uint32_t rank = 0;
    GroupCall call;
  };

  void Note(absl::string_view kind, uint32_t rank, uint64_t count, const std::string& detail) {
    if (count > 0)
      out_.repairs.push_back(
          {std::string(kind), ranks_[rank].device_file, ranks_[rank].rank, count, 0, detail});
  }
  int64_t Base(uint32_t r) const { return ranks_[r].device == nullptr ? 0 : ranks_[r].device->base_ns; }
  uint32_t RowOf(int rank) const {
    const auto at = std::find_if(ranks_.begin(), ranks_.end(), [&](const auto& r) { return r.rank == rank; });
    return static_cast<uint32_t>(at - ranks_.begin());
  }
  int64_t On(uint32_t r, int64_t at) const { return at + out_.clock_offset_ns[r]; }
  GroupCall Timed(uint32_t r, const TimelineNode& node) const {
    return {node.comm, Base(r) + node.start, Base(r) + node.start + node.dur};
  }
  void PlanRank(uint32_t r);
  std::string WorldGroup();
  void NoteGuessed(uint32_t r);
  bool PlanCall(uint32_t r, const TimelineNode& node, uint64_t* sizeless);
  void FindPeers(const std::vector<uint32_t>& clock);
  void TakePeers(const InferredPeers& found, const std::vector<uint32_t>& rows);
  void Renumber();
  void MatchGroup(uint32_t g);
  bool Shifts(const std::vector<uint32_t>& members, const std::vector<std::vector<StreamCall>>& calls,
              std::vector<int>* shifts) const;
  void LeaveOut(uint32_t g, uint32_t r, int from, int to, bool good);
  void MeasureTransfers();
  void CollectMessages();
  std::vector<bool> ToldByMessages(const std::vector<uint32_t>& clock) const;
  void MeasureMessages();
  void SetWindow();

  const std::vector<CaptureRank>& ranks_;
  const GroupRules& asked_;
  const std::vector<int> machine_;
  std::vector<StepMarks> steps_;
  Joined out_;
  std::shared_ptr<std::set<std::string>> names_ = std::make_shared<std::set<std::string>>();
  std::map<std::pair<int, int>, std::vector<Call>> sent_, received_;  // by (from, to)
  // By row of call_groups, then by captured rank: nodes in the order of begin.
  std::vector<std::map<uint32_t, std::vector<const TimelineNode*>>> calls_;
  std::vector<MatchedGroup> matched_;
  // Sends and receives without a known peer, by captured rank.
  std::map<uint32_t, std::vector<const TimelineNode*>> peerless_;
};

// Plans the call of `node`. False: this rank is not in the call's group.
bool Joiner::PlanCall(uint32_t r, const TimelineNode& node, uint64_t* sizeless) {
  const CaptureRank& rank = ranks_[r];
  const CommCall& call = rank.timeline.comms[node.comm];
  CommPlan& plan = out_.comms[r][node.comm];
  const uint32_t row = out_.call_groups.of[r][node.comm];
  if (call.kept) return true;
  const bool p2p = IsPointToPoint(call.op);
  if (!p2p && !ToCollective(call.op, &plan.collective)) return true;
  if (!p2p && row == kNoRow) return true;
  static const std::vector<int> kAll;
  const CallGroup* group = row == kNoRow ? nullptr : &out_.call_groups.groups[row];
  if (group != nullptr && group->origin == GroupOrigin::kUnknown) return true;
  const std::vector<int>& members = group == nullptr ? kAll : group->ranks;
  if (!members.empty() && std::find(members.begin(), members.end(), rank.rank) == members.end()) return false;
  const auto size = static_cast<int64_t>(members.empty() ? out_.world_size : members.size());
  const auto global = [&](int64_t member) -> int {
    if (member < 0) return kNoRank;
    if (call.root_is_global || members.empty())
      return member < out_.world_size ? static_cast<int>(member) : kNoRank;
    return member < size ? members[static_cast<size_t>(member)] : kNoRank;
  };
  SetBytes(call, size, &plan);
  if (!plan.has_bytes) ++*sizeless;
  plan.group = *names_->insert(group == nullptr ? WorldGroup() : group->name).first;
  if (p2p) {
    plan.peer = global(call.root);
    if (plan.peer == kNoRank || plan.peer == rank.rank) {
      peerless_[r].push_back(&node);
      return true;
    }
    plan.type = call.op == CommOp::kSend ? NodeType::kSend : NodeType::kRecv;
    return true;
  }
  plan.type = NodeType::kCollective;
  const bool rooted =
      plan.collective == CollectiveType::kBroadcast || plan.collective == CollectiveType::kReduce ||
      plan.collective == CollectiveType::kGather || plan.collective == CollectiveType::kScatter;
  if (rooted) plan.root = global(call.root);
  if (calls_.size() <= row) calls_.resize(row + 1);
  calls_[row][r].push_back(&node);
  return true;
}

// The group of all ranks, for messages without a group.
std::string Joiner::WorldGroup() {
  std::vector<int> all;
  for (int i = 0; i < out_.world_size; ++i) all.push_back(i);
  const auto [it, fresh] = out_.groups.try_emplace("world", std::move(all));
  return it->first;
}

void Joiner::PlanRank(uint32_t r) {
  out_.comms[r].resize(ranks_[r].timeline.comms.size());
  uint64_t strange = 0, sizeless = 0;
  std::map<std::string, uint64_t> unknown;  // number of calls, by reason
  for (const TimelineNode& node : ranks_[r].timeline.nodes) {
    if (node.comm == kNoRow) continue;
    out_.comms[r][node.comm].type = NodeType::kComp;
    if (!PlanCall(r, node, &sizeless)) ++strange;
    const uint32_t row = out_.call_groups.of[r][node.comm];
    if (row == kNoRow) continue;
    const CallGroup& group = out_.call_groups.groups[row];
    if (group.origin == GroupOrigin::kUnknown) ++unknown[group.evidence];
  }
  for (const auto& [why, count] : unknown)
    Note("group_unknown", r, count,
         absl::StrCat("collectives whose group is unknown: ", why, "; kept as recorded, as communication"));
  Note("group_without_self", r, strange,
       "calls on groups without this rank; kept as recorded, as communication");
  Note("comm_size_unknown", r, sizeless,
       "calls whose size is unknown: on a cluster they keep their recorded time; record with shapes, or set "
       "sizes with "
       "the edit `bytes`");
  NoteGuessed(r);
}

// Infers the peers of sends and receives that do not name them, from order and times. `clock`: by captured
// rank; ranks with the same number share a clock.
void Joiner::FindPeers(const std::vector<uint32_t>& clock) {
  constexpr int64_t kToleranceNs = 50000;
  std::vector<uint32_t> rows, clock_of;
  std::vector<std::vector<PeerCall>> calls;
  for (const auto& [r, nodes] : peerless_) {
    rows.push_back(r);
    clock_of.push_back(clock[r]);
    std::vector<PeerCall>& own = calls.emplace_back();
    for (const TimelineNode* node : nodes) {
      const GroupCall timed = Timed(r, *node);
      const CommCall& call = ranks_[r].timeline.comms[node->comm];
      own.push_back({call.op == CommOp::kSend, absl::HashOf(out_.comms[r][node->comm].bytes, call.dtype),
                     timed.begin + out_.clock_offset_ns[r], timed.end + out_.clock_offset_ns[r]});
    }
  }
  if (rows.empty()) return;
  InferredPeers found;
  found.evidence = "not all ranks were captured";
  if (static_cast<int>(ranks_.size()) == out_.world_size) found = InferPeers(calls, kToleranceNs, clock_of);
  if (found.sure) return TakePeers(found, rows);
  for (const auto& [r, nodes] : peerless_) {
    Note("comm_peer_unknown", r, nodes.size(),
         absl::StrCat("sends or receives whose peer is unknown (", found.evidence,
                      "); kept as recorded, as communication"));
  }
}

void Joiner::TakePeers(const InferredPeers& found, const std::vector<uint32_t>& rows) {
  out_.peer_evidence = found.evidence;
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::vector<const TimelineNode*>& nodes = peerless_[rows[row]];
    for (size_t i = 0; i < nodes.size(); ++i) {
      CommPlan& plan = out_.comms[rows[row]][nodes[i]->comm];
      plan.type = ranks_[rows[row]].timeline.comms[nodes[i]->comm].op == CommOp::kSend ? NodeType::kSend
                                                                                       : NodeType::kRecv;
      plan.peer = static_cast<int>(rows[found.peer[row][i]]);
      ++out_.peers_inferred;
    }
  }
}

// Notes what was assumed for each guessed group.
void Joiner::NoteGuessed(uint32_t r) {
  std::map<uint32_t, uint64_t> calls;  // by group
  for (const uint32_t row : out_.call_groups.of[r]) {
    if (row != kNoRow && out_.call_groups.groups[row].origin == GroupOrigin::kGuessed) ++calls[row];
  }
  for (const auto& [row, count] : calls) {
    const CallGroup& group = out_.call_groups.groups[row];
    Note("group_guessed", r, count,
         absl::StrCat("calls assigned to group \"", group.name, "\" of ", group.ranks.size(),
                      group.ranks.size() == 1 ? " rank: " : " ranks: ", group.evidence,
                      "; --groups FILE gives the groups"));
  }
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
  absl::flat_hash_map<absl::string_view, int> tags;
  for (const auto& [name, members] : out_.groups) tags.try_emplace(name, static_cast<int>(tags.size()));
  for (auto& comms : out_.comms) {
    for (CommPlan& plan : comms) {
      if (plan.root != kNoRank) plan.root = place[plan.root];
      if (plan.peer != kNoRank) plan.peer = place[plan.peer];
      if (!plan.group.empty()) plan.tag = tags[plan.group];
    }
  }
}

// Finds the shift of each member's calls against those of the first member. False: the calls do not agree.
bool Joiner::Shifts(const std::vector<uint32_t>& members, const std::vector<std::vector<StreamCall>>& calls,
                    std::vector<int>* shifts) const {
  shifts->assign(members.size(), 0);
  for (size_t m = 1; m < members.size(); ++m) {
    CallShift shift;
    if (!FindShift(calls[0], calls[m], &shift)) return false;
    (*shifts)[m] = shift.calls;
  }
  return true;
}

// Keeps calls of a group that not all captured members show as they were recorded.
void Joiner::LeaveOut(uint32_t g, uint32_t r, int from, int to, bool good) {
  uint64_t left_out = 0;
  const std::vector<const TimelineNode*>& nodes = calls_[g][r];
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (i >= from && i < to) continue;
    out_.comms[r][nodes[static_cast<size_t>(i)]->comm].type = NodeType::kComp;
    ++left_out;
  }
  Note("collectives_unshared", r, left_out,
       absl::StrCat("calls on group \"", out_.call_groups.groups[g].name,
                    "\" that some captured members do not have",
                    good ? "" : ": the ranks' calls do not agree in kind, size and order",
                    "; kept as recorded, as communication"));
}

// Whether call `i` of the first member agrees with the calls of all other members in kind and size.
bool InOneOrder(const std::vector<std::vector<StreamCall>>& calls, const std::vector<int>& shifts, int i) {
  for (size_t m = 1; m < calls.size(); ++m) {
    if (calls[m][static_cast<size_t>(i + shifts[m])].key != calls[0][static_cast<size_t>(i)].key)
      return false;
  }
  return true;
}

void Joiner::MatchGroup(uint32_t g) {
  const CallGroup& group = out_.call_groups.groups[g];
  if (calls_[g].empty()) return;
  MatchedGroup matched;
  matched.name = group.name;
  matched.sure = group.origin != GroupOrigin::kGuessed;
  std::vector<std::vector<StreamCall>> calls;
  for (const auto& [r, nodes] : calls_[g]) {
    matched.members.push_back(r);
    std::vector<StreamCall>& own = calls.emplace_back();
    for (const TimelineNode* node : nodes) {
      own.push_back(Comparable(ranks_[r], steps_[r], *node));
      const CommPlan& plan = out_.comms[r][node->comm];
      const bool sized = plan.collective != CollectiveType::kAllToAll && plan.has_bytes;
      own.back().key = static_cast<uint64_t>(plan.collective) | (sized ? plan.bytes << 8 : 0);
    }
  }
  std::vector<int> shifts;
  uint64_t members = 0;
  for (const int m : out_.groups[group.name]) members += m < static_cast<int>(ranks_.size()) ? 1 : 0;
  const bool good = Shifts(matched.members, calls, &shifts) && matched.members.size() == members;
  int from = 0, to = static_cast<int>(calls[0].size());
  for (size_t m = 0; m < calls.size(); ++m) {
    from = std::max(from, -shifts[m]);
    to = std::min(to, static_cast<int>(calls[m].size()) - shifts[m]);
  }
  if (!good) to = from;
  for (size_t m = 0; m < calls.size(); ++m) {
    const uint32_t r = matched.members[m];
    LeaveOut(g, r, from + shifts[m], to + shifts[m], good);
    std::vector<GroupCall>& own = matched.calls.emplace_back();
    uint64_t swapped = 0;
    for (int i = from; i < to; ++i) {
      const TimelineNode& node = *calls_[g][r][static_cast<size_t>(i + shifts[m])];
      if (InOneOrder(calls, shifts, i)) {
        own.push_back(Timed(r, node));
      } else {
        out_.comms[r][node.comm].type = NodeType::kComp;
        ++swapped;
      }
    }
    Note("collectives_swapped", r, swapped,
         absl::StrCat("calls on group \"", group.name,
                      "\" that ran at the same time and in different orders on the ranks; kept as recorded, "
                      "as communication"));
  }
  matched_.push_back(std::move(matched));
}

void Joiner::MeasureTransfers() {
  for (const MatchedGroup& group : matched_) {
    for (size_t i = 0; i < group.calls[0].size(); ++i) {
      int64_t last = INT64_MIN;
      for (size_t m = 0; m < group.members.size(); ++m)
        last = std::max(last, group.calls[m][i].begin + out_.clock_offset_ns[group.members[m]]);
      for (size_t m = 0; m < group.members.size(); ++m) {
        const GroupCall& call = group.calls[m][i];
        const uint32_t r = group.members[m];
        out_.comms[r][call.comm].transfer_ns =
            std::max<int64_t>(0, call.end + out_.clock_offset_ns[r] - last);
      }
    }
  }
}

void Joiner::CollectMessages() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    for (const TimelineNode& node : ranks_[r].timeline.nodes) {
      if (node.comm == kNoRow) continue;
      const CommPlan& plan = out_.comms[r][node.comm];
      const Call call = {r, Timed(r, node)};
      const auto self = static_cast<int>(r);
      if (plan.type == NodeType::kSend) sent_[{self, plan.peer}].push_back(call);
      if (plan.type == NodeType::kRecv) received_[{plan.peer, self}].push_back(call);
    }
  }
}

// By captured rank: whether messages show that its clock is the same as the first rank's. Ranks exchange
// messages in both directions, directly or through other ranks, and nothing is received before it was sent.
// `clock`: see Clocks::one_with.
std::vector<bool> Joiner::ToldByMessages(const std::vector<uint32_t>& clock) const {
  std::map<std::pair<uint32_t, uint32_t>, bool> in_order;  // by clocks of sender and receiver
  for (const auto& [who, sends] : sent_) {
    const auto it = received_.find(who);
    if (it == received_.end()) continue;
    bool good = it->second.size() == sends.size();
    for (size_t i = 0; i < sends.size() && good; ++i) {
      const Call &send = sends[i], &receive = it->second[i];
      good = On(receive.rank, receive.call.end) >= On(send.rank, send.call.begin);
    }
    bool& all = in_order
                    .try_emplace(
                        {clock[static_cast<size_t>(who.first)], clock[static_cast<size_t>(who.second)]}, true)
                    .first->second;
    all = all && good;
  }
  std::set<uint32_t> one = {0};
  for (size_t before = 0; before != one.size();) {
    before = one.size();
    for (const auto& [who, good] : in_order) {
      const auto back = in_order.find({who.second, who.first});
      if (good && back != in_order.end() && back->second && one.contains(who.first)) one.insert(who.second);
    }
  }
  std::vector<bool> told;
  for (const uint32_t c : clock) told.push_back(one.contains(c));
  return told;
}

// Matches the k-th send from one rank to another with the k-th receive there, if both sides have the same
// number of messages.
void Joiner::MeasureMessages() {
  for (const auto& [who, sends] : sent_) {
    const auto it = received_.find(who);
    if (it == received_.end() || it->second.size() != sends.size()) continue;
    for (size_t i = 0; i < sends.size(); ++i) {
      const auto& [rs, send] = sends[i];
      const auto& [rr, recv] = it->second[i];
      const int64_t last = std::max(On(rs, send.begin), On(rr, recv.begin));
      out_.comms[rs][send.comm].eager = On(rs, send.end) <= On(rr, recv.begin);
      out_.comms[rs][send.comm].transfer_ns = std::max<int64_t>(0, On(rs, send.end) - last);
      out_.comms[rr][recv.comm].transfer_ns = std::max<int64_t>(0, On(rr, recv.end) - last);
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

int WorldSize(const std::vector<CaptureRank>& ranks) {
  int world = static_cast<int>(ranks.size());
  for (const CaptureRank& rank : ranks) {
    world = std::max(world, rank.rank + 1);
    if (rank.device != nullptr) world = std::max(world, rank.device->world_size);
    for (const CommCall& call : rank.timeline.comms.distinct()) {
      if (call.group_size > 0 && call.group_size <= (1 << 22))
        world = std::max(world, static_cast<int>(call.group_size));
      for (const int r : call.ranks) world = std::max(world, r + 1);
    }
  }
  return world;
}

Joined JoinRanks(const std::vector<CaptureRank>& ranks, const GroupRules& asked) {
  return Joiner(ranks, asked).Run();
}

}  // namespace chakra::pytorch
