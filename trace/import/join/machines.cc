#include "trace/import/join/machines.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace chakra::pytorch {
namespace {

// The machine in the device trace, or the host in "HOST_PID.TIME.pt.trace.json" if the events have that pid;
// "": unknown.
std::string HostInName(const CaptureRank& rank) {
  if (rank.device == nullptr) return "";
  if (!rank.device->machine.empty()) return rank.device->machine;
  absl::string_view name = rank.device_file;
  if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  const size_t end = name.find(".pt.trace.json");
  if (end == name.npos) return "";
  name = name.substr(0, end);
  int64_t time = 0, pid = 0;
  const size_t dot = name.rfind('.');
  if (dot == name.npos || !absl::SimpleAtoi(name.substr(dot + 1), &time)) return "";
  name = name.substr(0, dot);
  const size_t line = name.rfind('_');
  if (line == name.npos || line == 0 || !absl::SimpleAtoi(name.substr(line + 1), &pid)) return "";
  const auto& threads = rank.device->threads;
  const bool own =
      std::any_of(threads.begin(), threads.end(), [&](const ThreadLane& t) { return t.pid == pid; });
  return own ? std::string(name.substr(0, line)) : "";
}

// When the steady clock of a rank's machine began, from its host trace.
struct Boot {
  int64_t ms = kNone, pid = kNone;
  uint32_t rank = 0;
};

// Numbers the machines of traces whose steady clocks began at the same time. `next` is the next free number.
void ByBoot(std::vector<Boot> boots, int* next, std::vector<int>* machine) {
  // The wall clock is cut to seconds, and is read shortly before or after the steady clock.
  constexpr int64_t kRoundingMs = 1500;
  constexpr int64_t kOneLaunch = 4096;  // maximum difference between the pids of one launch
  std::sort(boots.begin(), boots.end(), [](const Boot& a, const Boot& b) {
    return std::tie(a.ms, a.pid, a.rank) < std::tie(b.ms, b.pid, b.rank);
  });
  for (size_t from = 0; from < boots.size();) {
    size_t to = from;
    while (to < boots.size() && boots[to].ms - boots[from].ms <= kRoundingMs) ++to;
    std::sort(boots.begin() + static_cast<ptrdiff_t>(from), boots.begin() + static_cast<ptrdiff_t>(to),
              [](const Boot& a, const Boot& b) { return std::tie(a.pid, a.rank) < std::tie(b.pid, b.rank); });
    bool one = to - from > 1 && boots[to - 1].pid - boots[from].pid <= kOneLaunch;
    for (size_t i = from + 1; i < to; ++i) one = one && boots[i].pid != boots[i - 1].pid;
    for (size_t i = from; i < to && one; ++i) (*machine)[boots[i].rank] = *next;
    *next += one ? 1 : 0;
    from = to;
  }
}

}  // namespace

std::vector<int> FindMachines(const std::vector<CaptureRank>& ranks) {
  // An earlier begin shows that the clock is another one, such as the wall clock itself.
  constexpr int64_t kYear2001Ms = 978307200000;
  std::vector<int> machine(ranks.size(), -1);
  std::map<std::string, int> hosts;
  std::vector<Boot> boots;
  int next = 0;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    if (const std::string host = HostInName(ranks[r]); !host.empty()) {
      const auto [it, fresh] = hosts.try_emplace(host, next);
      next += fresh ? 1 : 0;
      machine[r] = it->second;
    } else if (ranks[r].host != nullptr && ranks[r].host->boot_ms > kYear2001Ms && ranks[r].host->pid > 0) {
      boots.push_back({ranks[r].host->boot_ms, ranks[r].host->pid, r});
    }
  }
  ByBoot(std::move(boots), &next, &machine);
  return machine;
}

}  // namespace chakra::pytorch
