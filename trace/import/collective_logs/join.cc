#include "trace/import/collective_logs/join.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/median.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/import/collective_logs/find_ranks.h"
#include "trace/import/collective_logs/rendezvous.h"

namespace chakra::collective_logs {
namespace {

// Smaller differences between clocks of hosts are not corrected: the ends of one call differ by as much.
constexpr int64_t kLeastOffsetNs = 50000;

// A group and the ranks that logged it.
struct Group {
  std::string id, name;
  int size = 0;
  std::vector<int> job_ranks;  // ranks of the members, if recorded
  std::vector<RankComm> logs;
};

class Joiner {
 public:
  Joiner(std::vector<RankLog> logs, int threads) : threads_(threads) {
    for (RankLog& l : logs) out_.ranks.emplace_back().log = std::move(l);
  }
  absl::StatusOr<JoinedLogs> Run(int world, std::vector<std::string> warnings);

 private:
  absl::Status FindGroups();
  absl::Status CheckGroup(const Group& group) const;
  void NumberMembers();
  void NameGroups();
  void OrderCalls();
  absl::Status Meet();
  void AlignClocks();
  void SetTransfers();
  void PairMessages();
  void BeginAtZero();
  void Report();
  LogCalls& calls(uint32_t rank) { return out_.ranks[rank].log.calls; }
  // Calls fn(rank) for all ranks, on threads. fn must not change other ranks.
  template <typename Fn>
  void ForRanks(const Fn& fn) {
    (void)ForEach(out_.ranks.size(), threads_, [&] {
      return [&fn](size_t r) {
        fn(static_cast<uint32_t>(r));
        return absl::OkStatus();
      };
    });
  }

  const int threads_;
  JoinedLogs out_;
  std::vector<Group> groups_;
  std::optional<AllRendezvous> all_rendezvous_;
};

absl::Status Joiner::FindGroups() {
  std::map<std::pair<std::string, std::vector<int>>, uint32_t> index;
  for (uint32_t r = 0; r < out_.ranks.size(); ++r) {
    JoinedRank& rank = out_.ranks[r];
    for (uint32_t c = 0; c < rank.log.comms.size(); ++c) {
      const LogComm& comm = rank.log.comms[c];
      const auto [it, fresh] =
          index.try_emplace({comm.id, comm.ranks}, static_cast<uint32_t>(groups_.size()));
      if (fresh) groups_.push_back({comm.id, comm.name, comm.size, comm.ranks, {}});
      Group& group = groups_[it->second];
      if (comm.size != group.size && comm.size > 0 && group.size > 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(rank.log.file, ": group ", comm.id, " has ", comm.size, " members, but ", group.size,
                         " in ", out_.ranks[group.logs[0].first].log.file, "; expected logs of one run"));
      }
      group.size = std::max({group.size, comm.size, comm.member + 1});
      if (group.name.empty()) group.name = comm.name;
      group.logs.push_back({r, c});
      rank.groups.push_back(static_cast<int>(it->second));
    }
  }
  for (const Group& group : groups_) {
    RETURN_IF_ERROR(CheckGroup(group));
  }
  return absl::OkStatus();
}

absl::Status Joiner::CheckGroup(const Group& group) const {
  std::map<int, uint32_t> of_member;
  for (const auto& [r, c] : group.logs) {
    const int member = out_.ranks[r].log.comms[c].member;
    const auto [it, fresh] = of_member.try_emplace(member, r);
    if (fresh) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        out_.ranks[r].log.file, " and ", out_.ranks[it->second].log.file, " are both logs of member ", member,
        " of group ", group.id, "; expected one log of each"));
  }
  return absl::OkStatus();
}

// Members without a log get the numbers after those of all logged ranks.
void Joiner::NumberMembers() {
  int next = static_cast<int>(out_.ranks.size());
  std::map<int, int> of_job;  // from rank of the job to rank of the replay
  for (size_t i = 0; i < out_.ranks.size(); ++i) of_job[out_.ranks[i].log.rank] = static_cast<int>(i);
  for (const Group& group : groups_) {
    std::vector<int>& members = out_.members.emplace_back(static_cast<size_t>(group.size), -1);
    for (const auto& [r, c] : group.logs)
      members[static_cast<size_t>(out_.ranks[r].log.comms[c].member)] = static_cast<int>(r);
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m] >= 0) continue;
      if (m >= group.job_ranks.size()) {
        members[m] = next++;
        continue;
      }
      const auto [it, fresh] = of_job.try_emplace(group.job_ranks[m], next);
      if (fresh) ++next;
      members[m] = it->second;
    }
  }
  out_.world = std::max(out_.world, next);
}

void Joiner::NameGroups() {
  std::map<std::string, int> uses;
  for (const Group& g : groups_) ++uses[g.name.empty() ? g.id : g.name];
  std::set<std::string> taken;
  for (const Group& g : groups_) {
    std::string name = g.name.empty() ? g.id : g.name;
    if (uses[name] > 1 && name != g.id) absl::StrAppend(&name, " ", g.id);
    // Subgroups of different ranks may have the same name: the lowest member is added to it.
    const int lowest = g.job_ranks.empty() ? static_cast<int>(g.logs[0].first)
                                           : *std::min_element(g.job_ranks.begin(), g.job_ranks.end());
    if (uses[name] > 1) absl::StrAppend(&name, "@", lowest);
    while (!taken.insert(name).second) absl::StrAppend(&name, "'");
    out_.group_names.push_back(std::move(name));
  }
}

// Sorts calls by start. Calls of a group run one after the other on a device, so overlaps from rounded times
// are cut off. Without times, calls keep the order of the file, and each starts when the one before ends.
void Joiner::OrderCalls() {
  for (JoinedRank& rank : out_.ranks) {
    LogCalls& calls = rank.log.calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      out_.timed = out_.timed && calls.facts(i).timed;
      if (!calls.facts(i).parts) continue;
      LogCall call = calls[i];
      call.parts = false;
      call.bytes *= static_cast<uint64_t>(groups_[static_cast<size_t>(rank.groups[call.comm])].size);
      calls.Set(i, call);
    }
  }
  ForRanks([this](uint32_t r) {
    JoinedRank& rank = out_.ranks[r];
    LogCalls& calls = rank.log.calls;
    if (out_.timed) calls.Sort();
    int64_t end = 0;  // of the last call
    // By row of log.comms: when its last collective ended.
    std::vector<int64_t> free(rank.log.comms.size(), INT64_MIN);
    for (size_t i = 0; i < calls.size(); ++i) {
      const CallFacts& call = calls.facts(i);
      const int64_t start = calls.start_ns(i);
      if (!out_.timed) {
        calls.SetTime(i, end, calls.duration_ns(i));
      } else if (IsCollective(call.op) && start < free[call.comm]) {
        calls.SetTime(i, free[call.comm], std::max<int64_t>(0, calls.end_ns(i) - free[call.comm]));
      }
      end = calls.end_ns(i);
      if (IsCollective(call.op)) free[call.comm] = end;
    }
    calls.Sort();
  });
}

absl::Status Joiner::Meet() {
  std::vector<const LogCalls*> lists;
  uint64_t all = 0;
  for (const JoinedRank& rank : out_.ranks) {
    lists.push_back(&rank.log.calls);
    all += rank.log.calls.size();
  }
  if (all >= kNoRow) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the logs have ", all, " calls, expected less than 2^32 - 1 together"));
  }
  std::vector<std::vector<RankComm>> logs;
  for (const Group& group : groups_) logs.push_back(group.logs);
  all_rendezvous_.emplace(lists, logs);
  for (uint32_t r = 0; r < out_.ranks.size(); ++r) {
    const JoinedRank& rank = out_.ranks[r];
    LogCalls& of = calls(r);
    all_rendezvous_->ForEach(r, [&](size_t i, uint32_t, Rendezvous* rendezvous) {
      if (rendezvous->members < groups_[static_cast<size_t>(rank.groups[of.facts(i).comm])].logs.size())
        of.SetLost(i);
    });
  }
  return absl::OkStatus();
}

// Aligns the clock of each rank with that of a rank whose clock is settled, by the calls that both made.
// Settles ranks group by group, from the first rank on.
void Joiner::AlignClocks() {
  std::vector<bool> settled(out_.ranks.size());
  std::vector<std::vector<uint32_t>> groups_of(out_.ranks.size());
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (const auto& [r, c] : groups_[g].logs) groups_of[r].push_back(g);
  }
  std::vector<int64_t> end_of(all_rendezvous_->size(), std::numeric_limits<int64_t>::min());
  std::vector<bool> done(groups_.size());
  const auto settle = [&](uint32_t r) {
    settled[r] = true;
    LogCalls& of = calls(r);
    if (out_.ranks[r].offset_ns != 0) of.Move(out_.ranks[r].offset_ns);
    all_rendezvous_->ForEach(r, [&](size_t i, uint32_t m, Rendezvous*) {
      if (!of.lost(i) && end_of[m] == std::numeric_limits<int64_t>::min()) end_of[m] = of.end_ns(i);
    });
  };
  for (uint32_t root = 0; root < out_.ranks.size(); ++root) {
    if (settled[root]) continue;
    settle(root);
    std::vector<uint32_t> queue = {root};
    while (!queue.empty()) {
      const uint32_t from = queue.back();
      queue.pop_back();
      for (const uint32_t g : groups_of[from]) {
        if (done[g]) continue;
        done[g] = true;
        for (const auto& [r, c] : groups_[g].logs) {
          if (settled[r]) continue;
          std::vector<double> late;
          const LogCalls& of = calls(r);
          all_rendezvous_->ForEach(r, [&](size_t i, uint32_t m, Rendezvous*) {
            if (of.lost(i) || end_of[m] == std::numeric_limits<int64_t>::min()) return;
            late.push_back(static_cast<double>(of.end_ns(i) - end_of[m]));
          });
          const RankLog& log = out_.ranks[r].log;
          const int64_t by = late.empty() ? 0 : -static_cast<int64_t>(Median(late));
          // Ends that a host found late do not show the offset of a clock.
          if (!log.shared_clock || (log.device_starts && std::abs(by) >= kLeastOffsetNs))
            out_.ranks[r].offset_ns = by;
          settle(r);
          queue.push_back(r);
        }
      }
    }
  }
}

void Joiner::SetTransfers() {
  for (uint32_t r = 0; r < out_.ranks.size(); ++r) {
    const LogCalls& of = calls(r);
    all_rendezvous_->ForEach(r, [&](size_t i, uint32_t, Rendezvous* m) {
      m->last_start = std::max(m->last_start, of.start_ns(i));
      m->least_duration = std::min(m->least_duration, of.duration_ns(i));
      m->timed = m->timed && of.facts(i).timed;
    });
  }
  ForRanks([this](uint32_t r) {
    LogCalls& of = calls(r);
    all_rendezvous_->ForEach(r, [&](size_t i, uint32_t, const Rendezvous* m) {
      if (of.lost(i) || of.facts(i).timing == Timing::kNone) return;
      const int64_t since = of.end_ns(i) - m->last_start;
      of.SetTransfer(i, m->timed && out_.timed ? std::max<int64_t>(0, since) : m->least_duration);
    });
  });
}

// Matches the sends and receives of each pair of ranks in order. Rings drop their oldest calls: if the
// numbers of sends and receives differ, the last ones match.
void Joiner::PairMessages() {
  using Side = std::vector<std::pair<uint32_t, size_t>>;  // rank and call
  struct Pair {
    Side sent, received;
  };
  std::map<std::tuple<int, int, uint32_t>, Pair> pairs;  // sender, receiver, group
  for (uint32_t r = 0; r < out_.ranks.size(); ++r) {
    const LogCalls& of = calls(r);
    for (size_t i = 0; i < of.size(); ++i) {
      const CallFacts& call = of.facts(i);
      if (call.op != kLogSend && call.op != kLogRecv) continue;
      const auto group = static_cast<uint32_t>(out_.ranks[r].groups[call.comm]);
      const int other = out_.members[group][static_cast<size_t>(call.peer)];
      const bool send = call.op == kLogSend;
      Pair& pair = pairs[{send ? static_cast<int>(r) : other, send ? other : static_cast<int>(r), group}];
      (send ? pair.sent : pair.received).push_back({r, i});
    }
  }
  for (const auto& [key, pair] : pairs) {
    const size_t both = std::min(pair.sent.size(), pair.received.size());
    for (const Side* side : {&pair.sent, &pair.received}) {
      for (size_t i = 0; i + both < side->size(); ++i) calls((*side)[i].first).SetLost((*side)[i].second);
    }
    for (size_t i = 0; i < both; ++i) {
      const auto [s, send] = pair.sent[pair.sent.size() - both + i];
      const auto [v, receive] = pair.received[pair.received.size() - both + i];
      LogCalls &from = calls(s), &to = calls(v);
      const int64_t last = std::max(from.start_ns(send), to.start_ns(receive));
      const int64_t least = std::min(from.duration_ns(send), to.duration_ns(receive));
      if (out_.timed && from.end_ns(send) <= to.start_ns(receive)) from.SetEager(send);
      from.SetTransfer(send, out_.timed ? std::max<int64_t>(0, from.end_ns(send) - last) : least);
      to.SetTransfer(receive, out_.timed ? std::max<int64_t>(0, to.end_ns(receive) - last) : least);
    }
  }
}

void Joiner::BeginAtZero() {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const JoinedRank& rank : out_.ranks) {  // calls are sorted by start
    if (!rank.log.calls.empty()) first = std::min(first, rank.log.calls.start_ns(0));
  }
  ForRanks([this, first](uint32_t r) {
    JoinedRank& rank = out_.ranks[r];
    LogCalls& calls = rank.log.calls;
    calls.Move(-first);
    for (size_t i = 0; i < calls.size(); ++i) rank.end_ns = std::max(rank.end_ns, calls.end_ns(i));
  });
}

void Joiner::Report() {
  ForRanks([this](uint32_t r) {
    JoinedRank& rank = out_.ranks[r];
    uint64_t lost = 0, gaps = 0;
    std::vector<std::vector<uint64_t>> numbers;  // by row of log.comms
    const LogCalls& calls = rank.log.calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      const CallFacts& call = calls.facts(i);
      if (calls.lost(i)) ++lost;
      if (!IsCollective(call.op)) continue;
      if (call.comm >= numbers.size()) numbers.resize(call.comm + 1);
      numbers[call.comm].push_back(call.sequence);
    }
    for (std::vector<uint64_t>& of : numbers) {
      if (!std::is_sorted(of.begin(), of.end())) std::sort(of.begin(), of.end());
      for (size_t i = 1; i < of.size(); ++i) {
        if (of[i] > of[i - 1] + 1) gaps += of[i] - of[i - 1] - 1;
      }
    }
    rank.log.Note("calls_missing", gaps, 0,
                  "call numbers that are missing in the log: their bytes are not replayed, and their time "
                  "counts as computation");
    rank.log.Note("calls_without_partners", lost, 0,
                  "calls that some members did not log; kept as recorded, as communication");
    if (rank.offset_ns != 0 && rank.log.shared_clock) {
      rank.log.Note("clock_aligned", 1, 0,
                    absl::StrCat("its clock was moved by ", rank.offset_ns,
                                 " ns, according to the ends of shared calls"));
    }
  });
  if (out_.world > static_cast<int>(out_.ranks.size())) {
    out_.warnings.push_back(absl::StrCat("the job has ", out_.world, " ranks, ", out_.ranks.size(),
                                         " of them logged: the others are unknown"));
  }
  if (!out_.timed) {
    out_.warnings.push_back(
        "the logs do not give the start of calls: they follow one another without computation between; "
        "NCCL_INSPECTOR_DUMP_VERBOSE=1 records it");
  }
}

absl::StatusOr<JoinedLogs> Joiner::Run(int world, std::vector<std::string> warnings) {
  out_.world = world;
  out_.warnings = std::move(warnings);
  RETURN_IF_ERROR(FindGroups());
  NumberMembers();
  NameGroups();
  OrderCalls();
  RETURN_IF_ERROR(Meet());
  if (out_.timed) AlignClocks();
  SetTransfers();
  PairMessages();
  BeginAtZero();
  Report();
  return std::move(out_);
}

}  // namespace

absl::StatusOr<JoinedLogs> JoinRanks(std::vector<RankLog> logs, const std::vector<int>& wanted, int threads) {
  int world = 0;
  std::vector<std::string> warnings;
  RETURN_IF_ERROR(FindRanks(&logs, &world, &warnings));
  for (const int rank : wanted) {
    if (std::any_of(logs.begin(), logs.end(), [rank](const RankLog& l) { return l.rank == rank; })) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank, " was asked for, but has no log; there are logs of ",
        absl::StrJoin(logs, ", ", [](std::string* s, const RankLog& l) { absl::StrAppend(s, l.rank); })));
  }
  if (!wanted.empty()) {
    std::erase_if(logs, [&](const RankLog& l) {
      return std::find(wanted.begin(), wanted.end(), l.rank) == wanted.end();
    });
  }
  return Joiner(std::move(logs), threads).Run(world, std::move(warnings));
}

}  // namespace chakra::collective_logs
