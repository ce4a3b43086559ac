#include "replay/calibrate/call_logs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/accounting.h"
#include "trace/base/median.h"
#include "trace/base/status_macros.h"
#include "trace/et/importer.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/collective_logs/rendezvous.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

using collective_logs::JoinedLogs;
using collective_logs::JoinedRank;
using collective_logs::LogCalls;
using collective_logs::Timing;

// One call, combined over all its members.
struct Together {
  uint32_t members = 0;
  bool timed = true, device = true;
  bool lost = false;
  int64_t least_ns = INT64_MAX;
  uint64_t bytes = 0;
  uint8_t op = 0;
  size_t group = 0;
};

std::vector<Together> CallsOf(const JoinedLogs& logs) {
  std::vector<const LogCalls*> lists;
  std::vector<std::vector<collective_logs::RankComm>> logs_of(logs.members.size());  // by group
  for (uint32_t r = 0; r < logs.ranks.size(); ++r) {
    const JoinedRank& rank = logs.ranks[r];
    lists.push_back(&rank.log.calls);
    for (uint32_t c = 0; c < rank.groups.size(); ++c)
      logs_of[static_cast<size_t>(rank.groups[c])].push_back({r, c});
  }
  collective_logs::AllRendezvous all_rendezvous(lists, logs_of);
  std::vector<Together> calls(all_rendezvous.size());
  for (uint32_t r = 0; r < lists.size(); ++r) {
    const LogCalls& of = *lists[r];
    all_rendezvous.ForEach(r, [&](size_t i, uint32_t at, const collective_logs::Rendezvous* rendezvous) {
      const collective_logs::CallFacts& call = of.facts(i);
      Together& t = calls[at];
      t.members = rendezvous->members;
      t.group = static_cast<size_t>(logs.ranks[r].groups[call.comm]);
      t.op = call.op;
      t.timed = t.timed && call.timing != Timing::kNone;
      t.device = t.device && call.timing == Timing::kDevice;
      t.lost = t.lost || of.lost(i);
      t.least_ns = std::min(t.least_ns, of.duration_ns(i));
      t.bytes = std::max(t.bytes, call.bytes);
    });
  }
  return calls;
}

// By group: the number of hosts of its members; 0: not known.
std::vector<int> NodesOf(const JoinedLogs& logs) {
  std::vector<int> nodes;
  for (const std::vector<int>& members : logs.members) {
    std::set<std::string> hosts;
    bool told = true;
    for (const int m : members) {
      const bool logged = m < static_cast<int>(logs.ranks.size());
      told = told && logged && !logs.ranks[static_cast<size_t>(m)].log.host.empty();
      if (told) hosts.insert(logs.ranks[static_cast<size_t>(m)].log.host);
    }
    nodes.push_back(told ? static_cast<int>(hosts.size()) : 0);
  }
  return nodes;
}

}  // namespace

bool HoldsCallLogs(const std::string& input) {
  std::error_code error;
  if (std::filesystem::is_directory(input, error)) return true;
  if (!std::filesystem::is_regular_file(input, error)) return false;
  const absl::StatusOr<std::string> head = ReadHead(input, Importer::kSniffed);
  return head.ok() && collective_logs::LooksLikeCallLog(*head);
}

absl::StatusOr<MeasuredRun> ReadCallLogRows(const std::vector<std::string>& inputs, int threads) {
  ReadOptions options;
  options.threads = threads;
  std::string format;
  ASSIGN_OR_RETURN(const JoinedLogs logs, collective_logs::ReadLogs(inputs, options, nullptr, &format));
  const std::vector<int> nodes = NodesOf(logs);
  std::map<std::tuple<uint8_t, int, int, uint64_t>, std::vector<double>> times;  // kind, ranks, nodes, bytes
  uint64_t device = 0, host = 0, partial = 0, sizeless = 0;
  for (const Together& t : CallsOf(logs)) {
    const auto ranks = static_cast<int>(logs.members[t.group].size());
    const auto type = static_cast<CollectiveType>(t.op);
    if (t.lost || static_cast<int>(t.members) < ranks || ranks < 2) {
      ++partial;
    } else if (t.timed && !t.device) {
      ++host;
    } else if (!t.timed || t.bytes == 0 || t.least_ns <= 0 || type == CollectiveType::kBarrier) {
      ++sizeless;
    } else {
      ++device;
      times[{t.op, ranks, nodes[t.group], BufferBytes(type, t.bytes, ranks)}].push_back(
          static_cast<double>(t.least_ns) / 1000);
    }
  }
  const std::string source = absl::StrJoin(inputs, ", ");
  const std::string shares = absl::StrCat(
      source, ": ", device, " calls timed by the device are used; not used: ", host, " timed by the host, ",
      partial, " not logged by all members, ", sizeless, " without size or time");
  if (times.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(shares, "; expected at least one call timed by the device"));
  MeasuredRun run;
  run.warnings.push_back(shares);
  run.gpus_per_process = 1;
  int line = 0;
  for (auto& [key, of] : times) {
    MeasuredRow row;
    row.type = static_cast<CollectiveType>(std::get<0>(key));
    row.ranks = std::get<1>(key);
    row.nodes = std::get<2>(key);
    row.bytes = std::get<3>(key);
    row.time_us = Median(of);
    row.devices_per_thread = 1;
    row.file = inputs[0];
    row.line = ++line;
    run.rows.push_back(std::move(row));
  }
  return run;
}

}  // namespace chakra
