// Logs of collective calls: any bytes give an error with a reason, or logs that can be joined and whose calls
// belong to their communicators. A second read gives the same.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/writer.h"
#include "trace/import/collective_logs/build.h"
#include "trace/import/collective_logs/importer.h"

FUZZ_TARGET(call_log_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::collective_logs;
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  std::vector<RankLog> logs, again;
  const absl::Status a = ReadLog(content, "fuzz_rank_1", &logs), b = ReadLog(content, "fuzz_rank_1", &again);
  fuzz::Require(a == b && logs.size() == again.size(), "the same answer twice");
  if (!a.ok()) {
    fuzz::Require(!a.message().empty(), "an error says why");
    return 0;
  }
  for (const RankLog& log : logs) {
    for (const LogCall& c : log.calls) {
      fuzz::Require(c.comm < log.comms.size(), "a call is on a communicator");
      fuzz::Require(c.duration_ns >= 0 && c.duration_ns <= kMostDurationNs, "a duration is one");
      fuzz::Require(c.start_ns <= kMostStartNs + kMostDurationNs, "a start is one");
    }
  }
  const auto joined = JoinRanks(std::move(logs), {});
  if (!joined.ok()) return 0;
  RankBuilder builder;
  for (size_t r = 0; r < joined->ranks.size(); ++r) {
    if (const absl::Status built = builder.Build(*joined, r, "fuzz", /*frames=*/true); !built.ok()) {
      fuzz::Require(absl::IsInvalidArgument(built),
                    "columns hold what was joined, but times beyond all others");
      continue;
    }
    std::string frames;
    EtWriter writer(&frames, Compression::kNone);
    fuzz::Require(WriteFrames(*builder.draft(), &writer).ok() && writer.Finish().ok(),
                  "what was joined can be written");
  }
  return 0;
}
