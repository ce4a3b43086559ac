#include "replay/run/symmetric.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/run/rank_box.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/import/locate.h"

namespace chakra {
namespace {

// The peer of `rank` that corresponds to `peer` of the traced rank `traced`.
int32_t Shift(int32_t peer, int traced, int rank, int ranks) {
  if (peer == kNoRank) return kNoRank;
  const int64_t shifted = (int64_t{peer} - traced + rank) % ranks;
  return static_cast<int32_t>(shifted < 0 ? shifted + ranks : shifted);
}

bool Outside(int32_t peer, int ranks) { return peer != kNoRank && (peer < 0 || peer >= ranks); }

absl::Status CheckTracePeers(const RankTrace& trace, int ranks) {
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

// A group of the traced rank, and the box that its copies repeat.
struct Placed {
  std::string name;
  std::vector<int> members;
  std::optional<RankBox> box;  // nullopt: its ranks have no pattern

  bool Has(int rank) const {
    return box && box->BaseOf(box->base) == box->base
               ? box->BaseOf(rank) == box->base
               : std::find(members.begin(), members.end(), rank) != members.end();
  }
};

absl::Status NoSibling(const Placed& group, int traced, int rank, int ranks) {
  const bool blocks = group.box && group.box->BaseOf(group.box->base) == group.box->base;
  return absl::InvalidArgumentError(absl::StrCat(
      "--ranks ", ranks, ": group \"", group.name, "\" of rank ", traced, " has no counterpart for rank ",
      rank, "; expected ",
      blocks ? absl::StrCat("a multiple of ", group.box->Block(), " ranks, which such groups fill, ")
             : "ranks start + i * stride (or blocks of such, evenly spaced) whose shifts tile all ranks, ",
      "or the traces of all ranks"));
}

// The group of `rank` that corresponds to `group` of the traced rank.
absl::StatusOr<std::string> SiblingGroup(const Placed& group, int traced, int rank, int ranks,
                                         Groups* groups) {
  if (group.box && !group.box->Tiles(ranks)) {
    if (rank == traced) return group.name;
    return NoSibling(group, traced, rank, ranks);
  }
  if (group.Has(rank)) return group.name;
  if (!group.box) return NoSibling(group, traced, rank, ranks);
  const int64_t base = group.box->BaseOf(rank);
  std::string sibling = absl::StrCat(group.name, "@", base);
  std::vector<int>& list = (*groups)[sibling];
  if (!list.empty()) return sibling;
  for (const int m : group.members) list.push_back(static_cast<int>(m - group.box->base + base));
  return sibling;
}

// The root of a call of the traced rank, moved to the group of `moved`. If the group has shrunk and lost its
// root, the last member becomes the root.
int32_t MoveRoot(const Peer& peer, const RankTrace& traced, const RankTrace& moved, const Growth& growth,
                 const Groups& groups) {
  const auto from = growth.groups.find(traced.group_names[peer.group]);
  const auto to = groups.find(moved.group_names[peer.group]);
  if (peer.root == kNoRank || from == growth.groups.end() || to == groups.end()) return peer.root;
  const std::vector<int>& was = from->second.recorded;
  if (std::find(was.begin(), was.end(), peer.root) == was.end()) return peer.root;
  const std::vector<int>& now = from->second.members;
  const auto at = std::find(now.begin(), now.end(), growth.RankOf(peer.root));
  return at == now.end() ? to->second.back() : to->second[static_cast<size_t>(at - now.begin())];
}

// Whether the size of a call is a rank's share of the whole: all-gather and gather. The whole stays as groups
// grow.
bool GivesAShare(uint8_t type) {
  return type == static_cast<uint8_t>(CollectiveType::kAllGather) ||
         type == static_cast<uint8_t>(CollectiveType::kGather);
}

// The trace's graph, with the sizes of calls on resized groups changed to the new shares.
std::shared_ptr<const Graph> WithShares(const RankTrace& trace, const Growth& growth) {
  std::vector<Comm> changed;
  for (size_t i = 0; i < trace.graph->comm.size(); ++i) {
    const Comm& comm = trace.graph->comm[i];
    const auto group = growth.groups.find(trace.group_names[trace.peers[i].group]);
    if (group == growth.groups.end() || !group->second.grown() || !GivesAShare(comm.type) || comm.bytes == 0)
      continue;
    if (changed.empty()) changed = trace.graph->comm;
    const double factor =
        static_cast<double>(group->second.from()) / static_cast<double>(group->second.members.size());
    const int64_t bytes = std::llround(static_cast<double>(comm.bytes) * factor);
    changed[i].bytes = static_cast<uint64_t>(std::max<int64_t>(1, bytes));
  }
  if (changed.empty()) return trace.graph;
  auto graph = std::make_shared<Graph>(*trace.graph);
  graph->comm = std::move(changed);
  return graph;
}

// "0, 1, 2, ... and 5 more"
std::string Ranks(const std::vector<int>& members) {
  constexpr size_t kShown = 8;
  const size_t shown = std::min(members.size(), kShown);
  const auto end = members.begin() + static_cast<ptrdiff_t>(shown);
  std::string text = absl::StrJoin(members.begin(), end, ", ");
  if (members.size() > shown)
    absl::StrAppend(&text, ", ... and ", FormatCount(members.size() - shown), " more");
  return text;
}

std::string Shares(size_t from, size_t to) {
  return absl::StrCat("a rank's share of an all-gather or gather is ", FormatCount(from), "/",
                      FormatCount(to), " of the recorded bytes; other calls keep their bytes");
}

bool UsesNoGroup(const RankTrace& trace) {
  const Graph& graph = *trace.graph;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] != NodeType::kCollective || graph.comm[graph.payload[row]].dims_count > 0) continue;
    if (trace.group_names[trace.peers[graph.payload[row]].group].empty()) return true;
  }
  return false;
}

// A line for each group, by name, and a line for calls that name no group.
std::vector<std::string> Assumptions(const RankTrace& trace, const Growth& growth, int ranks, bool asked) {
  std::vector<std::string> lines;
  bool grown = false, several = false;
  for (const auto& [name, group] : growth.groups) {
    const std::string what = absl::StrCat("group \"", name, "\" of ", FormatCount(group.from()), " ranks ");
    const size_t size = group.members.size();
    several |= group.from() > 1;
    grown |= group.grown();
    if (group.grown()) {
      lines.push_back(
          absl::StrCat(what, size > group.from() ? "grows" : "shrinks", " to ", FormatCount(size), " (",
                       Ranks(group.members), ")",
                       size < static_cast<size_t>(ranks)
                           ? absl::StrCat(", ", FormatCount(static_cast<size_t>(ranks) / size), " of them")
                           : "",
                       ": ", Shares(group.from(), size)));
    } else if (size == static_cast<size_t>(ranks)) {
      lines.push_back(absl::StrCat(what, "stays as it is"));
    } else {
      lines.push_back(absl::StrCat(what, "stays (", Ranks(group.members), ") and is repeated, ",
                                   FormatCount(static_cast<size_t>(ranks) / size), " in all"));
    }
  }
  const bool world = std::any_of(trace.graph->type.begin(), trace.graph->type.end(),
                                 [](NodeType t) { return t == NodeType::kCollective; }) &&
                     UsesNoGroup(trace);
  if (world) {
    lines.push_back(absl::StrCat("calls that name no group are of all ",
                                 FormatCount(static_cast<size_t>(ranks)),
                                 " ranks, with the bytes that were recorded"));
  }
  if (several && !grown && !asked && growth.recorded != ranks) {
    lines.push_back("no group has all recorded ranks, so none can grow; use --replicas GROUP=N with --ranks");
  }
  return lines;
}

// Gives the peers of the traced rank their new numbers.
absl::Status Renumber(const Growth& growth, int ranks, RankTrace* traced) {
  RETURN_IF_ERROR(CheckTracePeers(*traced, ranks));
  std::vector<Peer> peers = traced->peers;
  for (Peer& peer : peers) {
    if (peer.src != kNoRank) peer.src = growth.RankOf(peer.src);
    if (peer.dst != kNoRank) peer.dst = growth.RankOf(peer.dst);
  }
  traced->peers = std::move(peers);
  return CheckTracePeers(*traced, ranks);
}

absl::Status TooFew(const Growth& growth, const std::string& name, int ranks) {
  const std::vector<int>& members = growth.groups.at(name).members;
  return absl::InvalidArgumentError(absl::StrCat("--ranks ", ranks, ": group \"", name, "\" has the ranks ",
                                                 Ranks(members), "; expected --ranks of more than ",
                                                 *std::max_element(members.begin(), members.end())));
}

// Fills the set with `ranks` copies of `traced`, each with its own groups and peers.
absl::Status Copy(RankTrace traced, const Growth& growth, const std::map<std::string, Placed>& placed,
                  int ranks, TraceSet* traces) {
  traced.recorded_rank = kNoRank;
  const auto taken_as_rank_0 = [](const Repair& r) { return r.kind == "rank_renumbered"; };
  traced.repairs.erase(std::remove_if(traced.repairs.begin(), traced.repairs.end(), taken_as_rank_0),
                       traced.repairs.end());
  traces->ranks.assign(static_cast<size_t>(ranks), traced);
  for (int r = 0; r < ranks; ++r) {
    RankTrace& rank = traces->ranks[static_cast<size_t>(r)];
    rank.rank = r;
    if (r > 0) rank.repairs.clear();
    for (std::string& name : rank.group_names) {
      const auto group = placed.find(name);
      if (group == placed.end()) continue;
      ASSIGN_OR_RETURN(name, SiblingGroup(group->second, growth.traced, r, ranks, &traces->groups));
    }
    std::vector<Peer> peers = rank.peers;
    for (Peer& peer : peers) {
      peer.src = Shift(peer.src, growth.traced, r, ranks);
      peer.dst = Shift(peer.dst, growth.traced, r, ranks);
      peer.root = MoveRoot(peer, traced, rank, growth, traces->groups);
    }
    rank.peers = std::move(peers);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeSymmetric(int ranks, TraceSet* traces, const std::vector<Replicas>& replicas) {
  if (traces->ranks.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ranks replays one trace as many ranks, but there are ", traces->ranks.size(),
        " traces; expected one of them, or --replicas N in place of --ranks, which changes the number of "
        "data-parallel replicas to N (GROUP=N, with a data-parallel group, if the traces have several "
        "kinds of parallelism)"));
  }
  RankTrace traced = traces->ranks[0];
  const int from = traced.recorded_rank == kNoRank ? traced.rank : traced.recorded_rank;
  if (from >= ranks) {
    return absl::InvalidArgumentError(absl::StrCat(traced.file, ": the trace is of rank ", from,
                                                   "; expected --ranks of more than that, found ", ranks));
  }
  ASSIGN_OR_RETURN(Growth growth, GrowGroups(traced, from, traces->groups, ranks, replicas));
  RETURN_IF_ERROR(Renumber(growth, ranks, &traced));
  std::map<std::string, Placed> placed;
  for (const auto& [name, group] : growth.groups) {
    for (const int m : group.members) {
      if (m >= ranks) return TooFew(growth, name, ranks);
    }
    placed[name] = {name, group.members, BoxOf(group.members)};
  }
  traces->assumptions = Assumptions(traced, growth, ranks, !replicas.empty());
  traces->of_one_trace = ranks > 1;
  for (const auto& [name, group] : placed) traces->groups[name] = group.members;
  traced.graph = WithShares(traced, growth);
  return Copy(traced, growth, placed, ranks, traces);
}

SymmetricRanks FindSymmetricRanks(const TraceSet& traces) {
  if (traces.ranks.empty()) return {};
  const std::vector<NodeType>& types = traces.ranks[0].graph->type;
  const bool messages = std::any_of(types.begin(), types.end(),
                                    [](NodeType t) { return t == NodeType::kSend || t == NodeType::kRecv; });
  return messages ? SymmetricRanks() : SymmetricRanks(traces.ranks.size(), 0);
}

}  // namespace chakra
