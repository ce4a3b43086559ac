// A sweep from its spec to results in a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/sweep/runner.h"
#include "replay/sweep/space.h"
#include "replay/sweep/spec.h"

namespace chakra::sweep {

// One of `count` equal parts of a sweep: points whose number is index modulo count.
struct Shard {
  uint32_t index = 0;
  uint32_t count = 1;
};

// "I/N", I from 1 to N. Errors (InvalidArgument) say what was expected.
absl::StatusOr<Shard> ParseShard(const std::string& text);

struct SweepOptions {
  std::string folder;   // made where there is none
  std::string version;  // of the program
  Shard shard;
  bool retry_failed = false;
  bool continue_changed = false;  // keep what the journal has of the same points, though the spec is another
  uint64_t limit = 0;             // points to run this time at most; 0: all
  std::vector<size_t> slow_axes;  // their values are run one after the other, as those that change the traces
  RunnerOptions runner;
};

struct SweepSummary {
  uint64_t points = 0;  // of the shard; of a search those that it asked for
  uint64_t done_before = 0;
  uint64_t run = 0;
  uint64_t failed = 0;   // of all that have results
  uint64_t left = 0;     // not run: --limit
  uint64_t damaged = 0;  // lines of journals that were passed over
  std::string search;    // what the search did; "" : none
  double seconds = 0;    // that the points took
};

// Runs what is not there yet. `journal` of the folder: "points.journal", of a shard "points.I-of-N.journal";
// what any of the folder's journals has is not run again. Errors: another process writes the journal; the
// journal is of a sweep with other points, which are counted, or of another version (FailedPrecondition); the
// disk; Cancelled.
absl::StatusOr<SweepSummary> RunSweep(const Spec& spec, const Space& space, const RunPoint& run,
                                      const SweepOptions& options);

// Journals of a folder, in the order of their names. Errors: no folder; none in it.
absl::StatusOr<std::vector<std::string>> FindJournals(const std::string& folder);

// What makes the points of a spec what they are, as a digest: the ids of all points in order; of a search its
// spec.
absl::StatusOr<std::string> PointsDigest(const Space& space);

}  // namespace chakra::sweep
