// Runs the points of a sweep as `replay` would.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/run.pb.h"
#include "replay/run/traces.h"
#include "replay/sweep/runner.h"
#include "replay/sweep/space.h"

namespace chakra::sweep {

class SweepPoints {
 public:
  // Keeps the sets of traces that were used last, `kept` sets, at least 1. Points without --threads simulate
  // packets on `threads` threads. `sent` is for files that were copied to this machine: pairs of the local
  // path and the path on the sending machine. Paths in commands, results and errors are those of the sending
  // machine.
  using Places = std::vector<std::pair<std::string, std::string>>;
  SweepPoints(size_t kept, int threads, Places sent = {})
      : kept_(kept), threads_(threads), sent_(std::move(sent)) {}

  // Runs a point as `replay` would. Thread-safe. Points that read the same traces share them.
  Outcome Run(const std::vector<std::string>& words);

  // Checks everything that needs no trace: the words, the cluster, its fields. Returns the TraceKey(), which
  // is equal for points that share traces.
  absl::StatusOr<std::string> Check(const std::vector<std::string>& words) const;

  // Reads the traces of a point, unless they are in memory.
  absl::Status Load(const std::vector<std::string>& words);

 private:
  struct Held {
    std::once_flag once;
    absl::StatusOr<LoadedTraces> traces = absl::UnknownError("");
  };
  Outcome RunHere(const std::vector<std::string>& words);
  std::shared_ptr<Held> Hold(const proto::Run& run, const TraceOptions& options);

  const size_t kept_;
  const int threads_;
  const Places sent_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<Held>>> held_;  // by key, the most recently used first
};

// Checks each value of each axis in the first point that has it, and reads the traces of the first point.
// Returns the axes whose values change the traces. Errors begin with the axis' path in the spec.
absl::StatusOr<std::vector<size_t>> CheckPoints(const Space& space, SweepPoints* points);

}  // namespace chakra::sweep
