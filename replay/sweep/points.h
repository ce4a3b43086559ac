// The points of a sweep as `replay` runs them.
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
  // Keeps the traces of the last `kept` sets that points named, at least 1. Points that do not say --threads
  // simulate packets on `threads`.
  // Files that were sent here are told by where they were: for each such place here and there, in paths and
  // in errors.
  using Places = std::vector<std::pair<std::string, std::string>>;
  SweepPoints(size_t kept, int threads, Places sent = {})
      : kept_(kept), threads_(threads), sent_(std::move(sent)) {}

  // As `replay` would; any number of calls at once. What reads the same traces shares them.
  Outcome Run(const std::vector<std::string>& words);

  // Everything that can be said without a trace: the words, the cluster, its fields. The TraceKey(), which is
  // equal where traces are shared.
  absl::StatusOr<std::string> Check(const std::vector<std::string>& words) const;

  // Reads the traces of a point, if they are not held yet.
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
  std::list<std::pair<std::string, std::shared_ptr<Held>>> held_;  // by key, the last used first
};

// Tries each value of each axis in the first point that has it, and reads the traces of the first point. The
// axes whose values change the traces. Errors begin with the axis' path in the spec.
absl::StatusOr<std::vector<size_t>> CheckPoints(const Space& space, SweepPoints* points);

}  // namespace chakra::sweep
