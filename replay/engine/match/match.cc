#include "replay/engine/match/match.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/registry.h"
#include "replay/engine/match/call_patterns.h"
#include "replay/nccl/shipped.h"
#include "trace/base/printable.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"

namespace chakra {
namespace {

// Maximum size of a call or message: 256 TiB, so that sums over all ranks fit in 64 bits.
constexpr uint64_t kMostBytes = uint64_t{1} << 48;
constexpr size_t kMostListed = 100;  // the maximum number of messages that an error lists

constexpr absl::string_view kRemedy =
    ". The edit `bytes` sets the bytes of nodes that it selects (see chakra-replay edit --help)";

// Whether a communication node has a recorded time.
bool HasRecordedTime(const Graph& graph, uint32_t row) {
  return graph.transfer_of(graph.payload[row]) != Time::Never() || graph.duration[row] > Time::Zero();
}

class Matcher {
 public:
  Matcher(const TraceSet& traces, const std::vector<int>& dims, bool partial, const SymmetricRanks* symmetric)
      : traces_(traces),
        groups_(traces, dims, partial, &result_.groups),
        partial_(partial),
        symmetric_(symmetric) {
    group_calls_.resize(result_.groups.size());
    made_.resize(traces.ranks.size());
  }

  absl::StatusOr<Matching> Run() {
    result_.slots.resize(traces_.ranks.size());
    for (const RankTrace& trace : traces_.ranks) {
      if (IsSymmetricRank(symmetric_, trace.rank)) continue;
      groups_.BeginRank();
      RETURN_IF_ERROR(AddRank(trace));
    }
    pattern_groups_.ForEachRepeated([this](uint32_t group, uint32_t calls, uint32_t members) {
      for (uint32_t i = 0; i < calls; ++i) result_.calls[group_calls_[group][i]].made += members;
    });
    if (partial_) {
      WarnPartial();
    } else {
      RETURN_IF_ERROR(CheckEveryoneCalled());
      RETURN_IF_ERROR(CheckMessages());
    }
    if (symmetric_ != nullptr && !symmetric_->empty()) CountSymmetricRanks();
    if (uneven_ > 0) {
      result_.warnings.push_back(absl::StrCat(
          uneven_, " all_to_all calls have different sizes on their ranks; the largest size was used"));
    }
    if (groups_.without_group() > 0 && !traces_.groups.empty()) {
      result_.warnings.push_back(absl::StrCat(groups_.without_group(),
                                              " collective nodes name no process group (pg_name); ",
                                              "they were used as calls of all ranks"));
    }
    return std::move(result_);
  }

 private:
  std::string Node(const RankTrace& trace, uint32_t row) { return locator_.Describe(trace, row); }
  absl::Status Bad(const RankTrace& trace, uint32_t row, const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(Node(trace, row), ": ", what));
  }

  absl::Status AddRank(const RankTrace& trace) {
    CallPattern* alike = patterns_.Find(trace);
    std::vector<uint32_t> groups, members;
    std::vector<size_t> before;
    for (size_t u = 0; alike != nullptr && u < alike->uses.size(); ++u) {
      const auto group = GroupOf(trace, alike->uses[u].first_row);
      if (!group.ok()) alike = nullptr;  // AddRows() reports the error: an earlier row may have another error
      if (!group.ok()) break;
      groups.push_back(group->first);
      members.push_back(group->second);
      before.push_back(group_calls_[group->first].size());
    }
    CommSlots& slots = result_.slots[trace.rank];
    if (alike != nullptr && (pattern_groups_.Repeat(*alike, groups) || AddGroup(trace, *alike, groups))) {
      for (size_t u = 0; u < groups.size(); ++u) made_[trace.rank][groups[u]] = alike->uses[u].count;
      slots = CommSlots(IndexOf(*trace.graph, alike, groups), alike->use_of, std::move(members));
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(AddRows(trace));
    slots = CommSlots(slots_);
    if (alike == nullptr) {
      groups.clear();
      for (const auto& [group, calls] : made_[trace.rank]) groups.push_back(group);
    } else {
      slots = CommSlots(alike->indices.try_emplace(groups, slots.index()).first->second, alike->use_of,
                        std::move(members));
    }
    pattern_groups_.Matched(alike, groups, before);
    return absl::OkStatus();
  }

  // Adds the calls of the rank if all are known except those of one group, and these equal the calls of
  // another group. Returns whether this was the case.
  bool AddGroup(const RankTrace& trace, const CallPattern& alike, const std::vector<uint32_t>& groups) {
    uint32_t like = 0;
    const std::optional<size_t> missing = pattern_groups_.OneMissing(alike, groups, &like);
    if (!missing.has_value()) return false;
    const uint32_t group = groups[*missing];
    group_calls_[group].reserve(group_calls_[like].size());
    for (const uint32_t i : group_calls_[like]) {
      CollectiveCall call = result_.calls[i];
      call.group = group;
      call.made = 1;
      call.first_rank = static_cast<uint32_t>(trace.rank);
      group_calls_[group].push_back(static_cast<uint32_t>(result_.calls.size()));
      result_.calls.push_back(call);
    }
    pattern_groups_.Join(alike, groups, *missing);
    return true;
  }

  // Matches the rank node by node.
  absl::Status AddRows(const RankTrace& trace) {
    slots_.assign(trace.graph->comm.size(), {});
    for (uint32_t row : trace.graph->order) {
      const NodeType type = trace.graph->type[row];
      absl::Status status;
      if (type == NodeType::kCollective) {
        status = AddCall(trace, row);
      } else if (type == NodeType::kSend || type == NodeType::kRecv) {
        status = AddMessage(trace, row);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // The calls of a rank, by index into Graph::comm, if the calls of its groups are known.
  Column<uint32_t> IndexOf(const Graph& graph, CallPattern* alike,
                           const std::vector<uint32_t>& groups) const {
    const auto [known, fresh] = alike->indices.try_emplace(groups);
    if (!fresh) return known->second;
    std::vector<uint32_t> index(graph.comm.size()), made(groups.size());
    for (const uint32_t row : graph.order) {
      if (graph.type[row] != NodeType::kCollective) continue;
      const uint32_t payload = graph.payload[row], use = alike->use_of[payload];
      index[payload] = group_calls_[groups[use]][made[use]++];
    }
    return known->second = std::move(index);
  }

  // The group of a call, and the rank's member number in it.
  absl::StatusOr<std::pair<uint32_t, uint32_t>> GroupOf(const RankTrace& trace, uint32_t row) {
    auto group = groups_.Find(trace, row);
    if (group_calls_.size() < result_.groups.size()) group_calls_.resize(result_.groups.size());
    return group;
  }

  absl::Status CheckSize(const RankTrace& trace, uint32_t row, const Comm& comm) {
    if (comm.bytes <= kMostBytes) return absl::OkStatus();
    return Bad(trace, row, absl::StrCat("comm_size: ", comm.bytes, " bytes, expected at most ", kMostBytes));
  }

  absl::Status AddCall(const RankTrace& trace, uint32_t row) {
    const uint32_t payload = trace.graph->payload[row];
    const Comm& comm = trace.graph->comm[payload];
    if (comm.type >= kCollectiveTypes) {
      return Bad(trace, row,
                 absl::StrCat(
                     "comm_type: ", comm.type == 0xff ? "missing" : absl::StrCat("unknown value ", comm.type),
                     "; expected 0 (ALL_REDUCE) to 9 (BARRIER)"));
    }
    const auto type = static_cast<CollectiveType>(comm.type);
    const bool sizeless = !comm.has_bytes && type != CollectiveType::kBarrier && !partial_;
    if (sizeless && !HasRecordedTime(*trace.graph, row)) {
      return Bad(trace, row,
                 absl::StrCat("comm_size: missing; expected the bytes of this rank's input buffer", kRemedy));
    }
    RETURN_IF_ERROR(CheckSize(trace, row, comm));
    ASSIGN_OR_RETURN(const auto group, GroupOf(trace, row));
    CollectiveCall call;
    call.group = group.first;
    call.type = type;
    call.bytes = type == CollectiveType::kBarrier ? 0 : comm.bytes;
    call.kept = sizeless;
    call.first_rank = static_cast<uint32_t>(trace.rank);
    call.first_row = row;
    if (const int root = trace.peers[payload].root; IsRooted(type) && root != kNoRank) {
      const std::vector<int>& members = result_.groups[call.group].members;
      const auto at = std::find(members.begin(), members.end(), root);
      if (at == members.end()) {
        return Bad(trace, row,
                   absl::StrCat("root: rank ", root, " is not a member of the group; expected one of ",
                                absl::StrJoin(members, ", ")));
      }
      call.root = static_cast<int>(at - members.begin());
    }
    std::vector<uint32_t>& calls = group_calls_[call.group];
    const uint32_t position = made_[trace.rank][call.group]++;
    call.position = position;
    if (position == calls.size()) {
      calls.push_back(static_cast<uint32_t>(result_.calls.size()));
      if (type == CollectiveType::kAllReduce && !trace.graph->start.empty())
        call.kernel = shipped::AlgorithmOfKernel(trace.graph->name_of(row));
      result_.calls.push_back(call);
    } else {
      RETURN_IF_ERROR(Agree(&result_.calls[calls[position]], call, trace));
    }
    ++result_.calls[calls[position]].made;
    slots_[payload] = {calls[position], group.second};
    return absl::OkStatus();
  }

  absl::Status Agree(CollectiveCall* first, const CollectiveCall& b, const RankTrace& trace) {
    const CollectiveCall& a = *first;
    std::string what;
    if (a.kept || b.kept) first->kept = true;
    if (a.type == b.type && a.type == CollectiveType::kAllToAll && a.bytes != b.bytes) {
      ++uneven_;  // all_to_allv: ranks may give different sizes
      first->bytes = std::max(a.bytes, b.bytes);
      return absl::OkStatus();
    }
    if (a.type != b.type) {
      what = absl::StrCat("comm_type: ", std::string(Name(b.type)), ", but ", std::string(Name(a.type)));
    } else if (a.bytes != b.bytes && !first->kept) {
      what = absl::StrCat("comm_size: ", b.bytes, " bytes, but ", a.bytes, " bytes");
    } else if (a.root != b.root) {
      what = absl::StrCat("root: member ", b.root, ", but member ", a.root);
    } else {
      return absl::OkStatus();
    }
    return Bad(trace, b.first_row,
               absl::StrCat(what, " in ", Node(traces_.ranks[a.first_rank], a.first_row), "; both are call ",
                            a.position, " of group \"", result_.groups[a.group].name,
                            "\": the ranks of a group must make the same calls in the same order"));
  }

  absl::Status CheckEveryoneCalled() {
    for (uint32_t g = 0; g < result_.groups.size(); ++g) {
      const std::vector<uint32_t>& calls = group_calls_[g];
      for (int rank : result_.groups[g].members) {
        const int of = SymmetricTo(rank);
        const auto made = made_[of].find(g);
        const uint32_t n = made == made_[of].end() ? 0 : made->second;
        if (n == calls.size()) continue;
        const CollectiveCall& missed = result_.calls[calls[n]];
        return absl::InvalidArgumentError(absl::StrCat(
            "group \"", result_.groups[g].name, "\": rank ", rank, " never makes call ", n, ", ",
            std::string(Name(missed.type)), " of ", missed.bytes, " bytes, that ",
            Node(traces_.ranks[missed.first_rank], missed.first_row), " makes; ", Instead(rank, g, n)));
      }
    }
    return absl::OkStatus();
  }

  // For error messages: what `rank` does instead of call `n` of group `g`.
  std::string Instead(int rank, uint32_t g, uint32_t n) {
    const RankTrace& trace = traces_.ranks[rank];
    const Graph& graph = *trace.graph;
    uint32_t last_row = kNoRow;
    uint32_t seen = 0;
    for (uint32_t row : graph.order) {
      if (graph.type[row] != NodeType::kCollective) continue;
      const CommSlot slot = result_.slots[rank][graph.payload[row]];
      if (result_.calls[slot.index].group == g && ++seen == n) last_row = row;
    }
    const std::string last = last_row == kNoRow
                                 ? "it makes no call on this group at all"
                                 : absl::StrCat("its last call on this group is ", Node(trace, last_row));
    return absl::StrCat(last, "; its file is ", trace.file, " with ", graph.size(), " nodes");
  }

  int SymmetricTo(int rank) const {
    return symmetric_ == nullptr || symmetric_->empty() ? rank : (*symmetric_)[static_cast<size_t>(rank)];
  }

  // Counts the calls and messages of symmetric ranks, which are not matched themselves.
  void CountSymmetricRanks() {
    std::vector<uint64_t> ranks(traces_.ranks.size());
    for (const int of : *symmetric_) ++ranks[static_cast<size_t>(of)];
    for (MatchedMessage& m : result_.messages) m.times = ranks[static_cast<size_t>(m.src)];
    absl::flat_hash_map<absl::string_view, uint32_t> group_of;
    for (uint32_t g = 0; g < result_.groups.size(); ++g) {
      GroupInfo& group = result_.groups[g];
      if (g > 0) group_of.emplace(group.name, g);
      absl::flat_hash_map<int, uint32_t> last;
      group.next_symmetric.resize(group.members.size());
      for (uint32_t m = 0; m < group.members.size(); ++m) {
        const auto [at, fresh] = last.emplace(SymmetricTo(group.members[m]), m);
        group.next_symmetric[m] = fresh ? m : group.next_symmetric[at->second];  // the ring closes with the
                                                                                 // first such member
        group.next_symmetric[at->second] = m;
        at->second = m;
      }
    }
    absl::flat_hash_set<absl::string_view> seen;
    for (const RankTrace& trace : traces_.ranks) {
      if (!IsSymmetricRank(symmetric_, trace.rank)) continue;
      const std::vector<std::string>& of =
          traces_.ranks[static_cast<size_t>(SymmetricTo(trace.rank))].group_names;
      for (size_t i = 1; i < of.size(); ++i) {
        const std::string& name = trace.group_names[i];
        if (name == of[i] || !seen.insert(name).second) continue;
        const auto group = group_of.find(of[i]);
        const auto copy = traces_.groups.find(name);
        if (group != group_of.end() && copy != traces_.groups.end())
          result_.groups[group->second].copies.push_back(&*copy);
      }
    }
  }

  absl::Status AddMessage(const RankTrace& trace, uint32_t row) {
    const uint32_t payload = trace.graph->payload[row];
    const Comm& comm = trace.graph->comm[payload];
    const Peer& peer = trace.peers[payload];
    const bool send = trace.graph->type[row] == NodeType::kSend;
    const int ranks = static_cast<int>(traces_.ranks.size());
    const char* field = send ? "comm_dst" : "comm_src";
    const int other = send ? peer.dst : peer.src;
    const int self = send ? peer.src : peer.dst;
    if (other == kNoRank) {
      return Bad(
          trace, row,
          absl::StrCat(field, ": missing; expected the global rank of the ", send ? "receiver" : "sender"));
    }
    if (other < 0 || (other >= ranks && !partial_)) {
      return Bad(trace, row,
                 absl::StrCat(field, ": rank ", other, " has no trace; expected 0 to ", ranks - 1));
    }
    if (self != kNoRank && self != trace.rank) {
      return Bad(
          trace, row,
          absl::StrCat(send ? "comm_src" : "comm_dst", ": ", self, "; expected this rank, ", trace.rank));
    }
    const bool sizeless = !comm.has_bytes && !partial_;
    if (sizeless && !HasRecordedTime(*trace.graph, row)) {
      return Bad(trace, row, absl::StrCat("comm_size: missing; expected the bytes of the message", kRemedy));
    }
    RETURN_IF_ERROR(CheckSize(trace, row, comm));
    const int src = send ? trace.rank : other;
    const int dst = send ? other : trace.rank;
    Channel& channel = channels_[{src, dst, peer.tag}];
    uint32_t& next = send ? channel.sends : channel.recvs;
    if (next == channel.messages.size()) {
      channel.messages.push_back(static_cast<uint32_t>(result_.messages.size()));
      result_.messages.push_back({src, dst, peer.tag, comm.bytes, kNoRow, kNoRow});
    }
    const uint32_t index = channel.messages[next++];
    MatchedMessage& message = result_.messages[index];
    (send ? message.send_row : message.recv_row) = row;
    message.kept = message.kept || sizeless;
    if (message.bytes != comm.bytes) unequal_.push_back({index, trace.rank, row, comm.bytes});
    slots_[payload] = {index, 0};
    return absl::OkStatus();
  }

  // By group: the number of members that are simulated themselves.
  std::vector<uint64_t> SimulatedMembers() const {
    std::vector<uint64_t> out;
    for (const GroupInfo& group : result_.groups)
      out.push_back(
          static_cast<uint64_t>(std::count_if(group.members.begin(), group.members.end(), [this](int rank) {
            return !IsSymmetricRank(symmetric_, rank);
          })));
    return out;
  }

  // Warns about calls and messages that a partial run leaves out.
  void WarnPartial() {
    uint64_t calls = 0, alone = 0, messages = 0;
    const std::vector<uint64_t> simulated = SimulatedMembers();
    for (const CollectiveCall& call : result_.calls) {
      const GroupInfo& group = result_.groups[call.group];
      calls += call.made < simulated[call.group] ? 1 : 0;
      alone += static_cast<int>(group.members.size()) < group.size ? 1 : 0;
    }
    for (const MatchedMessage& m : result_.messages)
      messages += m.send_row == kNoRow || m.recv_row == kNoRow ? 1 : 0;
    const auto warn = [this](uint64_t n, const char* what) {
      if (n > 0) result_.warnings.push_back(absl::StrCat(n, what));
    };
    warn(alone,
         " collective calls have members without a trace; they begin when the last member with a trace "
         "reaches them");
    warn(calls, " collective calls are missing on some of their traced members");
    warn(messages, " messages have one side only; they take their recorded time");
  }

  // Lists every send and receive without a partner or with a partner of another size.
  absl::Status CheckMessages() {
    std::vector<std::string> lines;
    size_t bad = 0;
    for (const MatchedMessage& m : result_.messages) {
      if (m.send_row != kNoRow && m.recv_row != kNoRow) continue;
      if (++bad > kMostListed) continue;
      const bool sent = m.send_row != kNoRow;
      lines.push_back(absl::StrCat(sent ? "send without receive: " : "receive without send: ",
                                   Node(traces_.ranks[sent ? m.src : m.dst], sent ? m.send_row : m.recv_row),
                                   Key(m), ", ", m.bytes, " bytes"));
    }
    for (const Unequal& u : unequal_) {
      if (result_.messages[u.message].kept) continue;
      if (++bad > kMostListed) continue;
      const MatchedMessage& m = result_.messages[u.message];
      const bool sent = u.row == m.send_row && u.rank == m.src;
      lines.push_back(
          absl::StrCat("sizes differ: ", Node(traces_.ranks[u.rank], u.row), ": comm_size: ", u.bytes,
                       " bytes, but ", m.bytes, " bytes in its partner, ",
                       Node(traces_.ranks[sent ? m.dst : m.src], sent ? m.recv_row : m.send_row), Key(m)));
    }
    if (bad == 0) return absl::OkStatus();
    if (traces_.of_one_trace) return OneSided(bad, lines[0]);
    if (bad > kMostListed) lines.push_back(absl::StrCat("and ", bad - kMostListed, " more"));
    return absl::InvalidArgumentError(absl::StrCat(
        bad,
        bad == 1 ? " message has no partner of its size:\n  "
                 : " messages have no partner of their size:\n  ",
        absl::StrJoin(lines, "\n  ",
                      [](std::string* out, const std::string& line) { out->append(Printable(line)); })));
  }

  // The error for ranks that are copies of one trace: all of them lack the same partners, so one example is
  // enough.
  static absl::Status OneSided(size_t bad, const std::string& first) {
    return absl::InvalidArgumentError(absl::StrCat(
        bad,
        " messages have no partner, because every rank does what the traced rank did; the first: ", first,
        ". A rank that only sends or only receives, as a stage of a pipeline, cannot stand for all ranks; "
        "expected the traces of all ranks"));
  }

  static std::string Key(const MatchedMessage& m) {
    return absl::StrCat(" (src ", m.src, ", dst ", m.dst, ", tag ", m.tag, ")");
  }

  struct Unequal {
    uint32_t message;
    int rank;
    uint32_t row;
    uint64_t bytes;
  };
  struct Channel {
    std::vector<uint32_t> messages;
    uint32_t sends = 0;
    uint32_t recvs = 0;
  };

  const TraceSet& traces_;
  Matching result_;
  GroupResolver groups_;
  std::vector<std::vector<uint32_t>> group_calls_;             // [group][position]
  std::vector<absl::flat_hash_map<uint32_t, uint32_t>> made_;  // [rank]: group -> calls so far
  absl::flat_hash_map<std::tuple<int, int, int32_t>, Channel> channels_;
  std::vector<Unequal> unequal_;
  std::vector<CommSlot> slots_;  // of the rank that is being matched
  CallPatterns patterns_;
  PatternGroups pattern_groups_;
  NodeLocator locator_;
  uint64_t uneven_ = 0;
  bool partial_;
  const SymmetricRanks* symmetric_;
};

}  // namespace

absl::StatusOr<Matching> MatchCommunication(const TraceSet& traces, const std::vector<int>& dimension_sizes,
                                            bool partial, const SymmetricRanks* symmetric) {
  return Matcher(traces, dimension_sizes, partial, symmetric).Run();
}

}  // namespace chakra
