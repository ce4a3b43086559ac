#include "replay/run/symmetric.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "trace/import/locate.h"

namespace chakra {
namespace {

// `peer` of traced rank `traced`, seen from `rank`.
int32_t Shift(int32_t peer, int traced, int rank, int ranks) {
  if (peer == kNoRank) return kNoRank;
  const int64_t shifted = (int64_t{peer} - traced + rank) % ranks;
  return static_cast<int32_t>(shifted < 0 ? shifted + ranks : shifted);
}

bool Outside(int32_t peer, int ranks) { return peer != kNoRank && (peer < 0 || peer >= ranks); }

absl::Status CheckPeers(const RankTrace& trace, int ranks) {
  const Graph& graph = *trace.graph;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const NodeType type = graph.type[row];
    if ((type != NodeType::kSend && type != NodeType::kRecv) || graph.payload[row] == kNoRow) continue;
    const Peer& peer = trace.peers[graph.payload[row]];
    const bool source = Outside(peer.src, ranks);
    if (!source && !Outside(peer.dst, ranks)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        DescribeNode(trace, row), ": ", source ? "comm_src" : "comm_dst", " is rank ",
        source ? peer.src : peer.dst, "; expected one in [0, ", ranks, ") with --ranks ", ranks));
  }
  return absl::OkStatus();
}

// The group that `rank` is in where the traced rank is in `name`: the same
// pattern (start + i * stride), moved so that all ranks are tiled by it.
absl::StatusOr<std::string> SiblingGroup(const std::string& name, int traced, int rank, int ranks,
                                         Groups* groups) {
  const auto it = groups->find(name);
  if (it == groups->end() || it->second.empty()) return name;
  const std::vector<int> members = it->second;
  for (int m : members) {
    if (m == rank) return name;
  }
  const auto size = static_cast<int64_t>(members.size());
  const int64_t stride = size > 1 ? int64_t{members[1]} - members[0] : 1;
  const int64_t block = stride * size;
  bool tiles = stride > 0 && ranks % block == 0;
  const auto base_of = [&](int64_t r) { return r / block * block + r % stride; };
  tiles = tiles && base_of(traced) == members[0];
  for (int64_t i = 0; i < size; ++i) tiles = tiles && members[i] == members[0] + i * stride;
  if (!tiles) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ranks ", ranks, ": group \"", name, "\" of rank ", traced, " has no counterpart for rank ", rank,
        "; expected ranks start + i * stride whose shifts tile all ", ranks,
        " ranks. Give the traces of all ranks"));
  }
  const int64_t base = base_of(rank);
  std::string sibling = absl::StrCat(name, "@", base);
  std::vector<int>& list = (*groups)[sibling];
  list.clear();
  for (int64_t i = 0; i < size; ++i) list.push_back(static_cast<int>(base + i * stride));
  return sibling;
}

// The member of `moved`'s group at the place that the root has in `traced`'s.
int32_t MoveRoot(const Peer& peer, const RankTrace& traced, const RankTrace& moved, const Groups& groups) {
  const auto from = groups.find(traced.group_names[peer.group]);
  const auto to = groups.find(moved.group_names[peer.group]);
  if (peer.root == kNoRank || from == groups.end() || to == groups.end()) return peer.root;
  const auto at = std::find(from->second.begin(), from->second.end(), peer.root);
  return at == from->second.end() ? peer.root : to->second[at - from->second.begin()];
}

}  // namespace

absl::Status MakeSymmetric(int ranks, TraceSet* traces) {
  if (traces->ranks.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--ranks replays one trace as many ranks, but there are ",
                                                   traces->ranks.size(), " traces; expected one"));
  }
  RankTrace traced = traces->ranks[0];
  const int from = traced.recorded_rank == kNoRank ? traced.rank : traced.recorded_rank;
  if (from >= ranks) {
    return absl::InvalidArgumentError(absl::StrCat(traced.file, ": the trace is of rank ", from,
                                                   "; expected --ranks of more than that, found ", ranks));
  }
  if (absl::Status s = CheckPeers(traced, ranks); !s.ok()) return s;
  traced.recorded_rank = kNoRank;
  const auto taken_as_rank_0 = [](const Repair& r) { return r.kind == "rank_renumbered"; };
  traced.repairs.erase(std::remove_if(traced.repairs.begin(), traced.repairs.end(), taken_as_rank_0),
                       traced.repairs.end());
  traces->ranks.assign(static_cast<size_t>(ranks), traced);
  for (int r = 0; r < ranks; ++r) {
    RankTrace& rank = traces->ranks[r];
    rank.rank = r;
    if (r > 0) rank.repairs.clear();
    for (std::string& group : rank.group_names) {
      absl::StatusOr<std::string> sibling = SiblingGroup(group, from, r, ranks, &traces->groups);
      if (!sibling.ok()) return sibling.status();
      group = *std::move(sibling);
    }
    for (Peer& peer : rank.peers) {
      peer.src = Shift(peer.src, from, r, ranks);
      peer.dst = Shift(peer.dst, from, r, ranks);
      peer.root = MoveRoot(peer, traced, rank, traces->groups);
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra
