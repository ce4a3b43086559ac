#include "replay/run/free_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/compute/compute_times.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;
// Bytes of a message's connection and sender; with its ways and packets about 950.
constexpr double kOfMessage = 512;

std::string Spelled(double bytes) {
  return bytes < 1e12 ? absl::StrFormat("%.3g GB", bytes / 1e9) : absl::StrFormat("%.3g TB", bytes / 1e12);
}

// A number alone in a file; kNoLimit: there is none ("max" too).
uint64_t NumberIn(const char* path) {
  uint64_t n = 0;
  return std::ifstream(path) >> n ? n : kNoLimit;
}

// A line "NAME: N kB" of a file, in bytes.
uint64_t LineIn(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string word, unit;
  uint64_t kib = 0;
  while (file >> word) {
    if (word == name + ":" && file >> kib >> unit) return kib * 1024;
  }
  return kNoLimit;
}

uint64_t Left(uint64_t most, uint64_t used) {
  if (most == kNoLimit || used == kNoLimit) return kNoLimit;
  return most - std::min(most, used);
}

uint64_t LeastMemory(const TraceSet& traces) {
  constexpr uint64_t kOfGraph =
      sizeof(Time) + sizeof(ComputeRung) + 2 * sizeof(uint32_t);  // rung, lane, place
  uint64_t bytes = 0;
  for (const Graph* graph : DistinctGraphs(traces).graphs) bytes += graph->size() * kOfGraph;
  for (const RankTrace& rank : traces.ranks) {
    const Graph& graph = *rank.graph;
    bytes += graph.size() * (sizeof(uint32_t) + (graph.dep_delay.empty() ? 0 : sizeof(Time))) +
             graph.comm.size() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace

uint64_t FreeMemory() {
  uint64_t free = LineIn("/proc/meminfo", "MemAvailable");
  free =
      std::min(free, Left(NumberIn("/sys/fs/cgroup/memory.max"), NumberIn("/sys/fs/cgroup/memory.current")));
  for (const auto& [limit, used] : {std::pair(RLIMIT_DATA, "VmData"), std::pair(RLIMIT_AS, "VmSize")}) {
    rlimit most{};
    if (getrlimit(limit, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
      free = std::min(free, Left(most.rlim_cur, LineIn("/proc/self/status", used)));
  }
  return free;
}

absl::Status CheckMemory(const TraceSet& traces, uint64_t free_bytes) {
  const uint64_t least = LeastMemory(traces);
  if (least <= free_bytes) return absl::OkStatus();
  const auto gb = [](uint64_t bytes) { return Spelled(static_cast<double>(bytes)); };
  return absl::ResourceExhaustedError(absl::StrCat("a replay of ", traces.ranks.size(), " ranks with ",
                                                   traces.nodes(), " nodes needs at least ", gb(least),
                                                   " beside the traces, and ", gb(free_bytes),
                                                   " are free; expected fewer ranks, calls or steps (name "
                                                   "the files of some ranks), or a machine with more "
                                                   "memory"));
}

absl::Status CheckMessages(uint64_t ranks, uint64_t free_bytes) {
  const double messages = static_cast<double>(ranks) * (static_cast<double>(ranks) - 1);
  const double least = messages * kOfMessage;
  if (free_bytes == kNoLimit || least <= static_cast<double>(free_bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "all_to_all on %u ranks begins %.0f messages at once, whose packets need at least %s, and %s are "
      "free; expected fewer ranks, --fabric fluid or analytical, or a machine with more memory",
      ranks, messages, Spelled(least), Spelled(static_cast<double>(free_bytes))));
}

}  // namespace chakra
