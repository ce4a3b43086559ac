#include "trace/import/join/call_groups.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/import/join/call_streams.h"
#include "trace/import/join/comm_group.h"

namespace chakra::pytorch {
namespace {

// The ranks of the call's group, if the capture lists them; else empty. PyTorch names the group of all ranks
// "0" and describes it as "default_pg".
std::vector<int> ListedMembers(const CaptureRank& rank, const CommCall& call, int world) {
  if (!call.ranks.empty() && !call.ranks_cut) return call.ranks;
  if (call.start >= 0 && call.stride > 0 && call.group_size > 0 && call.group_size <= world) {
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
  if (call.group == "0" || call.group_desc == "default_pg") {
    std::vector<int> all;
    for (int r = 0; r < world; ++r) all.push_back(r);
    return all;
  }
  return {};
}

// How good an inference is: more calls with an inferred group are better; if equal, fewer calls for which
// every group is contradicted.
struct Quality {
  uint64_t inferred = 0, unknown = 0;
  bool operator<(const Quality& o) const {
    return inferred != o.inferred ? inferred < o.inferred : unknown > o.unknown;
  }
};

struct Inference {
  CallStreams streams;
  std::vector<InferredGroup> groups;  // by stream
  Quality quality;
};

class GroupFinder {
 public:
  GroupFinder(const std::vector<CaptureRank>& ranks, int world, const std::vector<int>& machine,
              const GroupRules& asked)
      : ranks_(ranks), world_(world), machine_(machine), asked_(asked) {}

  CallGroups Run() {
    for (const CaptureRank& rank : ranks_) out_.of.emplace_back(rank.timeline.comms.size(), kNoRow);
    open_.resize(ranks_.size());
    for (uint32_t r = 0; r < ranks_.size(); ++r) TakeListed(r);
    Infer();
    return std::move(out_);
  }

 private:
  using Members = std::vector<int>;

  void TakeListed(uint32_t r);
  uint32_t OwnGroupRow(const CaptureRank& rank, const CommCall& call);
  uint32_t FindRule(uint32_t r, const TimelineNode& node, const CommCall& call) const;
  void Infer();
  Inference InferWith(HostStreams how, const MixedStreams& mixed = {}) const;
  Inference InferMixed(Inference whole) const;
  void Doubt(const Inference& other, Inference* best) const;
  void Take(const Inference& inference);
  uint32_t Row(const std::string& name, const Members& members, GroupOrigin origin,
               const std::string& evidence);
  std::string Unnamed(const Members& members) const;

  const std::vector<CaptureRank>& ranks_;
  const int world_;
  const std::vector<int>& machine_;
  const GroupRules& asked_;
  CallGroups out_;
  std::vector<std::set<uint32_t>> open_;  // by captured rank: rows of comms whose group must be inferred
  std::map<std::string, uint32_t> by_name_;
};

std::string GroupFinder::Unnamed(const Members& members) const {
  constexpr size_t kMostListed = 16;
  if (static_cast<int>(members.size()) == world_) return "world";
  if (members.size() <= kMostListed) return absl::StrCat("ranks ", absl::StrJoin(members, ","));
  return absl::StrCat(members.size(), " ranks from ", members.front());
}

// The row of the group with this name and these members; added if there is none. If several groups have one
// name, all but the first get their first rank as a suffix ("tp@2").
uint32_t GroupFinder::Row(const std::string& name, const Members& members, GroupOrigin origin,
                          const std::string& evidence) {
  std::string tried = name;
  for (int more = 1;; ++more) {
    const auto [it, fresh] = by_name_.try_emplace(tried, static_cast<uint32_t>(out_.groups.size()));
    if (fresh) out_.groups.push_back({tried, members, origin, evidence, 0});
    if (fresh || out_.groups[it->second].ranks == members) return it->second;
    tried = absl::StrCat(name, "@", members.front(), more > 1 ? absl::StrCat(".", more) : "");
  }
}

uint32_t GroupFinder::FindRule(uint32_t r, const TimelineNode& node, const CommCall& call) const {
  if (asked_.empty()) return kNoRow;
  const CaptureRank& rank = ranks_[r];
  const uint32_t lane = rank.PlaceOf(node).lane;
  const std::string number =
      node.host ? rank.device->threads[lane].tid : absl::StrCat(rank.device->streams[lane].stream);
  RuledCall ruled;
  if (!IsPointer(call.group)) ruled.name = call.group;
  ruled.description = call.group_desc;
  ruled.op = call.op;
  ruled.bytes = call.in_bytes;
  ruled.lane = number;
  ruled.rank = rank.rank;
  return asked_.Find(ruled);
}

// The row of the group of a call whose library has its own groups.
uint32_t GroupFinder::OwnGroupRow(const CaptureRank& rank, const CommCall& call) {
  Members members;
  if (!OwnGroup(rank, call, world_, &members)) {
    return Row(absl::StrCat("unknown (rank ", rank.rank, ")"), {}, GroupOrigin::kUnknown,
               "calls of a library with its own groups, whose members are unknown");
  }
  if (members.empty()) {
    for (int r = 0; r < world_; ++r) members.push_back(r);
  }
  return Row(Unnamed(members), members, GroupOrigin::kInferred,
             "the only group of the rank that calls of this library can use");
}

// Sets the groups that the user or the capture lists. Remembers the other collectives in open_.
void GroupFinder::TakeListed(uint32_t r) {
  const CaptureRank& rank = ranks_[r];
  for (const TimelineNode& node : rank.timeline.nodes) {
    if (node.comm == kNoRow || node.event == kNoRow) continue;
    const CommCall& call = rank.timeline.comms[node.comm];
    if (call.kept) continue;
    uint32_t& row = out_.of[r][node.comm];
    if (const uint32_t rule = FindRule(r, node, call); rule != kNoRow) {
      row = Row(asked_.NameOf(rule), asked_.ranks(rule), GroupOrigin::kAsked, asked_.Evidence(rule));
    } else if (const Members members = ListedMembers(rank, call, world_); !members.empty()) {
      const bool named = !call.group.empty() && !IsPointer(call.group);
      row = Row(named ? call.group : Unnamed(members), members, GroupOrigin::kNamed, "the capture names it");
    } else if (call.own_group && world_ > 1) {
      row = OwnGroupRow(rank, call);
    } else if (!IsPointToPoint(call.op)) {
      open_[r].insert(node.comm);
      continue;
    } else {
      continue;
    }
    ++out_.groups[row].calls;
  }
}

Inference GroupFinder::InferWith(HostStreams how, const MixedStreams& mixed) const {
  Inference out;
  out.streams = CollectStreams(ranks_, machine_, how, mixed,
                               [&](uint32_t r, uint32_t comm) { return open_[r].contains(comm); });
  out.groups = InferGroups(out.streams.streams, static_cast<int>(ranks_.size()), world_);
  for (size_t i = 0; i < out.groups.size(); ++i) {
    const uint64_t calls = out.streams.comms[i].size();
    if (out.groups[i].origin == GroupOrigin::kInferred) out.quality.inferred += calls;
    if (out.groups[i].origin == GroupOrigin::kUnknown) out.quality.unknown += calls;
  }
  return out;
}

// Makes the group of a call a guess if `other`, which combined the host's threads into streams in another
// way, inferred other members for the call.
void GroupFinder::Doubt(const Inference& other, Inference* best) const {
  std::map<std::pair<uint32_t, uint32_t>, size_t> stream_of;  // stream of `other`, by rank and comm
  for (size_t i = 0; i < other.groups.size(); ++i) {
    if (other.groups[i].origin != GroupOrigin::kInferred || other.streams.streams[i].device) continue;
    for (const uint32_t comm : other.streams.comms[i]) stream_of[{other.streams.captured[i], comm}] = i;
  }
  for (size_t i = 0; i < best->groups.size(); ++i) {
    InferredGroup& group = best->groups[i];
    if (group.origin != GroupOrigin::kInferred) continue;
    for (const uint32_t comm : best->streams.comms[i]) {
      const auto it = stream_of.find({best->streams.captured[i], comm});
      if (it == stream_of.end() || other.groups[it->second].ranks == group.ranks) continue;
      group.origin = GroupOrigin::kGuessed;
      absl::StrAppend(&group.evidence,
                      "; but with other threads combined: ", other.groups[it->second].evidence);
      break;
    }
  }
}

// Infers again with some device streams divided by kind and size of their calls, because they carry calls of
// several groups. A stream is divided if the times then give members for some of its calls that differ from
// those of the whole stream, or members at all if they gave none for the whole stream.
Inference GroupFinder::InferMixed(Inference whole) const {
  // Bits needed against the members of a whole stream: a device stream usually belongs to one group.
  constexpr double kAgainst = 8;
  MixedStreams several, mixed;
  std::map<std::pair<uint32_t, uint32_t>, size_t> stream_of;  // stream of `whole`, by rank and comm
  for (size_t i = 0; i < whole.groups.size(); ++i) {
    const std::vector<StreamCall>& calls = whole.streams.streams[i].calls;
    const bool kinds = std::any_of(calls.begin(), calls.end(),
                                   [&](const StreamCall& call) { return call.key != calls[0].key; });
    if (whole.streams.lane[i] == kNoRow || !kinds) continue;
    several.insert({whole.streams.captured[i], whole.streams.lane[i]});
    for (const uint32_t comm : whole.streams.comms[i]) stream_of[{whole.streams.captured[i], comm}] = i;
  }
  if (several.empty()) return whole;
  const Inference parted = InferWith(HostStreams::kPairs, several);
  for (size_t i = 0; i < parted.groups.size(); ++i) {
    const uint32_t r = parted.streams.captured[i];
    const auto at = stream_of.find({r, parted.streams.comms[i][0]});
    if (at == stream_of.end()) continue;
    const InferredGroup &was = whole.groups[at->second], &is = parted.groups[i];
    const bool inferred = was.origin == GroupOrigin::kInferred;
    const bool told = is.origin == GroupOrigin::kInferred || is.likely_bits > (inferred ? kAgainst : 0);
    if (told && (!inferred || was.ranks != is.ranks)) mixed.insert({r, parted.streams.lane[i]});
  }
  return mixed.empty() ? whole : InferWith(HostStreams::kPairs, mixed);
}

void GroupFinder::Infer() {
  Inference best = InferMixed(InferWith(HostStreams::kPairs));
  if (!best.streams.on_host) return Take(best);
  std::vector<Inference> others;
  for (const HostStreams how : {HostStreams::kAll, HostStreams::kSizes, HostStreams::kThreads}) {
    others.push_back(InferWith(how));
    if (best.quality < others.back().quality) std::swap(best, others.back());
  }
  for (const Inference& other : others) Doubt(other, &best);
  Take(best);
}

// Adds the inferred groups. Streams of the host with equal members become one group, which carries out its
// calls in one order. Of the device, only streams with equal calls (InferredGroup::kind) and equal members
// become one group.
void GroupFinder::Take(const Inference& inference) {
  // Kinds of streams, by name and members.
  std::map<std::pair<std::string, Members>, std::vector<uint32_t>> kinds;
  for (size_t i = 0; i < inference.groups.size(); ++i) {
    const CallStream& stream = inference.streams.streams[i];
    const InferredGroup& found = inference.groups[i];
    std::string name = stream.label.empty() ? Unnamed(found.ranks) : stream.label;
    if (found.origin == GroupOrigin::kUnknown) {
      name = absl::StrCat(stream.label.empty() ? "unknown" : stream.label, " (rank ", stream.rank, ")");
    } else if (stream.device && stream.label.empty()) {
      std::vector<uint32_t>& seen = kinds[{name, found.ranks}];
      const auto at = std::find(seen.begin(), seen.end(), found.kind) - seen.begin();
      if (at == static_cast<ptrdiff_t>(seen.size())) seen.push_back(found.kind);
      if (at > 0) absl::StrAppend(&name, " #", at + 1);
    }
    const uint32_t row = Row(name, found.ranks, found.origin, found.evidence);
    out_.groups[row].calls += inference.streams.comms[i].size();
    for (const uint32_t comm : inference.streams.comms[i]) out_.of[inference.streams.captured[i]][comm] = row;
  }
}

}  // namespace

CallGroups FindCallGroups(const std::vector<CaptureRank>& ranks, int world, const std::vector<int>& machine,
                          const GroupRules& asked) {
  return GroupFinder(ranks, world, machine, asked).Run();
}

}  // namespace chakra::pytorch
