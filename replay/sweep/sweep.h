// Runs a sweep, from its spec to results in a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/sweep/runner.h"
#include "replay/sweep/space.h"
#include "replay/sweep/spec.h"

namespace chakra::sweep {

// One of `count` equal parts of a sweep: the points whose number modulo count is index.
struct Shard {
  uint32_t index = 0;
  uint32_t count = 1;
};

// "I/N" with I from 1 to N. Errors (InvalidArgument) say what was expected.
absl::StatusOr<Shard> ParseShard(const std::string& text);

struct SweepOptions {
  std::string folder;   // created if needed
  std::string version;  // version of the program
  Shard shard;
  bool retry_failed = false;
  bool continue_changed = false;  // keep the journal's results of equal commands, although the spec changed
  uint64_t limit = 0;             // maximum number of points to run in this call; 0: all
  // Axes whose values run one after the other, such as axes that change the traces.
  std::vector<size_t> slow_axes;
  RunnerOptions runner;
};

struct SweepSummary {
  uint64_t points = 0;  // points of the shard; for a search, the points that it asked for
  uint64_t done_before = 0;
  uint64_t run = 0;
  uint64_t failed = 0;   // failed points among all points with results
  uint64_t left = 0;     // points not run because of `limit`
  uint64_t damaged = 0;  // damaged lines of this shard's journal, which were skipped
  std::string search;    // description of the search; "": no search
  double seconds = 0;    // wall time of running the points
};

// Runs the points without results. The journal in the folder is "points.journal", for a shard
// "points.I-of-N.journal". Points that are in any journal of the folder are not run again. Errors: another
// process writes the journal; the journal belongs to a sweep with other points (the error counts them) or to
// another version (FailedPrecondition); errors of the disk; Cancelled.
absl::StatusOr<SweepSummary> RunSweep(const Spec& spec, const Space& space, const RunPoint& run,
                                      const SweepOptions& options);

// The journals of a folder, in the order of their names. Errors: no such folder; no journal in it.
absl::StatusOr<std::vector<std::string>> FindJournals(const std::string& folder);

// A digest of the points of a spec: of the ids of all points in order; for a search, of its spec.
absl::StatusOr<std::string> PointsDigest(const Space& space);

}  // namespace chakra::sweep
