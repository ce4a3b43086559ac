// A recording of one process by rocprofv3, from JSON or from a rocpd database.
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

// A processor. `index` of a GPU: its number among the GPUs of the machine that the process sees.
struct Agent {
  bool gpu = false;
  int index = 0;
  std::string name;  // "AMD Instinct MI350X"
};

enum class Domain : uint8_t { kHip, kHsa, kRccl, kMarker, kOther };

// A call of the host, or a range that the program marks. Times are ns of the machine's clock since its boot.
struct Call {
  int64_t begin = 0, end = 0;
  int64_t thread = 0;
  int64_t correlation = kUnknown;  // equal to that of the device operations that the call launched
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
  int64_t bytes = kUnknown;  // kUnknown in old files, which have no sizes
};

struct Recording {
  std::string file;
  std::string machine;  // name of the host; "": not recorded
  int64_t pid = 0;
  int rank = kNoRank;  // from the environment of the process, where it was recorded
  int world = 0;       // as `rank`; 0: not recorded
  std::map<int64_t, Agent> agents;                 // by handle
  absl::flat_hash_map<int64_t, uint32_t> kernels;  // by id: the name's row in `strings`
  std::vector<Call> calls;
  std::vector<Arguments> args;
  std::vector<Dispatch> dispatches;
  std::vector<Copy> copies;
  StringTable strings;
  std::vector<Repair> repairs;

  // Counts a repair. `detail` is kept from the first of a kind.
  void Note(absl::string_view kind, absl::string_view detail, uint64_t n = 1);
};

// Whether the value is a time of a machine's clock: 0 < ns < 2^61 (73 years).
bool IsTime(int64_t ns);

// The library that a call belongs to, by its name ("hipLaunchKernel", "ncclAllReduce").
Domain DomainOf(absl::string_view name);

}  // namespace chakra::rocprof
