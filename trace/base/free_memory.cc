#include "trace/base/free_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace chakra {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// Reads a number from a file that holds nothing else. Returns kNoLimit if there is no number (for example
// "max").
uint64_t NumberIn(const char* path) {
  uint64_t n = 0;
  return std::ifstream(path) >> n ? n : kNoLimit;
}

// Reads the line "NAME: N kB" of a file; returns bytes.
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

absl::Status LimitMemory(uint64_t bytes) {
  const uint64_t data = LineIn("/proc/self/status", "VmData");
  if (data != kNoLimit && data > bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the limit of memory is ", bytes,
                                                   " bytes; expected more than the ", data,
                                                   " bytes that the process already uses"));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return absl::OkStatus();
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, bytes);
  if (setrlimit(RLIMIT_DATA, &limit) == 0) return absl::OkStatus();
  return absl::InternalError("the system does not limit the memory of a process");
}

std::string MemoryText(double bytes) {
  return bytes < 1e12 ? absl::StrFormat("%.3g GB", bytes / 1e9) : absl::StrFormat("%.3g TB", bytes / 1e12);
}

}  // namespace chakra
