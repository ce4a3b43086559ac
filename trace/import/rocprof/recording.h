// What rocprofv3 recorded of one process, whether its file is JSON or a rocpd database.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/model/string_table.h"
#include "trace/model/trace.h"

namespace chakra::rocprof {

inline constexpr int64_t kUnknown = -1;  // an absent identifier

// A processor: of a GPU, `index` is its number among the GPUs of the machine that the process sees.
struct Agent {
  bool gpu = false;
  int index = 0;
  std::string name;  // "AMD Instinct MI350X"
};

enum class Domain : uint8_t { kHip, kHsa, kRccl, kMarker, kOther };

// A call of the host, or a range that it marks. Times are ns of the machine's clock since its boot.
struct Call {
  int64_t begin = 0, end = 0;
  int64_t thread = 0;
  int64_t correlation = kUnknown;  // also of the device operations that the call launched
  uint32_t name = 0;               // in Recording::strings
  uint32_t args = kNoRow;          // row of Recording::args
  Domain domain = Domain::kOther;
};

// The arguments of a call by name, as text.
using Arguments = std::map<std::string, std::string, std::less<>>;

struct Dispatch {
  int64_t begin = 0, end = 0;
  int64_t thread = 0;
  int64_t correlation = kUnknown;
  int64_t agent = 0, queue = kUnknown, stream = kUnknown;
  int64_t kernel = 0;
  uint32_t grid[3] = {0, 0, 0};  // work items
  uint32_t block[3] = {0, 0, 0};
};

struct Copy {
  int64_t begin = 0, end = 0;
  int64_t thread = 0;
  int64_t correlation = kUnknown;
  int64_t from = kUnknown, to = kUnknown;  // agents
  int64_t stream = kUnknown;
  int64_t bytes = kUnknown;  // absent in old files
};

struct Recording {
  std::string file;
  std::string machine;  // name of the host; "": not told
  int64_t pid = 0;
  int rank = kNoRank;                              // by the process's environment, where it was recorded
  int world = 0;                                   // likewise
  std::map<int64_t, Agent> agents;                 // by handle
  absl::flat_hash_map<int64_t, uint32_t> kernels;  // by id: the name, in strings
  std::vector<Call> calls;
  std::vector<Arguments> args;
  std::vector<Dispatch> dispatches;
  std::vector<Copy> copies;
  StringTable strings;
  std::vector<Repair> repairs;

  // Counts a repair; the first of a kind gives the detail.
  void Note(absl::string_view kind, absl::string_view detail, uint64_t n = 1);
};

// Times that no machine's clock shows: 0 < t < 2^61 ns (73 years).
bool IsTime(int64_t ns);

// Which library a call belongs to, by its name: "hipLaunchKernel", "ncclAllReduce".
Domain DomainOf(absl::string_view name);

}  // namespace chakra::rocprof
