// Finds the ranks of logs.
#include "trace/import/collective_logs/find_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakra::collective_logs {
namespace {

absl::Status TwoLogs(const RankLog& a, const RankLog& b) {
  return absl::InvalidArgumentError(absl::StrCat("two logs of rank ", a.rank, ": ", a.file, " and ", b.file,
                                                 "; expected one: name the files to use"));
}

// Joins the files of each process: the profiler plugin writes one file for each communicator. Processes of
// different hosts may have the same number, so files must also be in the same folder. A second file of the
// same communicator belongs to another process.
std::vector<RankLog> MergeProcesses(std::vector<RankLog> logs) {
  std::vector<RankLog> out;
  std::map<std::tuple<std::string, int64_t>, std::vector<size_t>> of_process;
  for (RankLog& log : logs) {
    if (log.rank >= 0 || !log.host.empty() || log.process < 0) {
      out.push_back(std::move(log));
      continue;
    }
    const std::string folder = log.file.substr(0, log.file.rfind('/') + 1);
    std::vector<size_t>& there = of_process[{folder, log.process}];
    const auto to = std::find_if(there.begin(), there.end(), [&](size_t i) {
      return std::none_of(log.comms.begin(), log.comms.end(), [&](const LogComm& c) {
        return std::any_of(out[i].comms.begin(), out[i].comms.end(),
                           [&](const LogComm& o) { return o.id == c.id; });
      });
    });
    if (to == there.end()) {
      there.push_back(out.size());
      out.push_back(std::move(log));
      continue;
    }
    RankLog& into = out[*to];
    const auto first = static_cast<uint32_t>(into.comms.size());
    into.comms.insert(into.comms.end(), log.comms.begin(), log.comms.end());
    for (LogCall call : log.calls) {
      call.comm += first;
      into.calls.push_back(call);
    }
    into.repairs.insert(into.repairs.end(), log.repairs.begin(), log.repairs.end());
  }
  return out;
}

// Takes the ranks from the group that all logs have, the largest if there are several. Returns false if there
// is none.
bool ByWorld(std::vector<RankLog>* logs, int* world) {
  struct Seen {
    size_t logs = 0;
    int size = 0;
    std::set<int> members;
  };
  std::map<std::string, Seen> seen;
  for (const RankLog& log : *logs) {
    for (const LogComm& c : log.comms) {
      Seen& s = seen[c.id];
      ++s.logs;
      s.size = std::max({s.size, c.size, c.member + 1});
      s.members.insert(c.member);
    }
  }
  const std::string* best = nullptr;
  for (const auto& [id, s] : seen) {
    if (s.logs != logs->size() || s.members.size() != logs->size()) continue;
    if (best == nullptr || s.size > seen[*best].size) best = &id;
  }
  if (best == nullptr) return false;
  *world = seen[*best].size;
  for (RankLog& log : *logs) {
    for (const LogComm& c : log.comms) {
      if (c.id == *best) log.rank = c.member;
    }
  }
  return true;
}

void ByProcess(std::vector<RankLog>* logs) {
  // The ranks of a process with several devices are next to each other.
  std::stable_sort(logs->begin(), logs->end(), [](const RankLog& a, const RankLog& b) {
    return std::tie(a.host, a.process, a.file) < std::tie(b.host, b.process, b.file);
  });
  for (size_t i = 0; i < logs->size(); ++i) (*logs)[i].rank = static_cast<int>(i);
}

}  // namespace

absl::Status FindRanks(std::vector<RankLog>* logs, int* world, std::vector<std::string>* warnings) {
  *logs = MergeProcesses(std::move(*logs));
  *world = 0;
  const auto told = static_cast<size_t>(
      std::count_if(logs->begin(), logs->end(), [](const RankLog& l) { return l.rank >= 0; }));
  if (told == 0 && !ByWorld(logs, world)) {
    ByProcess(logs);
    warnings->push_back(absl::StrCat("no group has all ", logs->size(),
                                     " logged ranks: they are numbered by host and process"));
  } else if (told != 0 && told != logs->size()) {
    return absl::InvalidArgumentError(
        "some logs name their rank and others do not; expected logs of one recorder");
  }
  std::stable_sort(logs->begin(), logs->end(),
                   [](const RankLog& a, const RankLog& b) { return a.rank < b.rank; });
  for (size_t i = 1; i < logs->size(); ++i) {
    if ((*logs)[i].rank == (*logs)[i - 1].rank) return TwoLogs((*logs)[i - 1], (*logs)[i]);
  }
  for (const RankLog& log : *logs) {
    *world = std::max(*world, log.rank + 1);
    for (const LogComm& c : log.comms) {
      for (const int r : c.ranks) *world = std::max(*world, r + 1);
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra::collective_logs
