// What is asked of readers of traces.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// What of a capture is meant, a run that a profiler recorded.
struct CaptureSelection {
  std::string host, device;  // one pair by its files; "": what the inputs name
  std::vector<int> ranks;    // only these (global) ranks; empty: all
  bool named() const { return !host.empty() || !device.empty(); }
  std::string steps;  // "", "all", "first", "last", "skip-first", "N" or "N-M": of ProfilerStep#N
};

// A rank as something else made it.
struct Rewritten {
  int rank = 0;
  std::string frames;  // of an .et file, plain
};

// Changes ranks on their way from the files to the columns.
class RankRewriter {
 public:
  virtual ~RankRewriter() = default;
  // `trace` has its frames (RankTrace::raw). Called once for each rank, on any thread, several at once. What
  // it adds to `out` is decoded in the rank's place; nothing is a rank that is left out.
  virtual absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) = 0;
};

struct ReadOptions {
  bool keep_raw = false;             // keep RawFrames, for lossless output
  bool allow_truncated = false;      // drop a partial last node, with a repair
  bool strict = false;               // every repair is an error
  int threads = 1;                   // files decoded at once; the result does not depend on it
  CaptureSelection capture;          // of captures only
  RankRewriter* rewriter = nullptr;  // not owned
  std::string groups_file;  // explicit communicator groups; "": found beside the traces, or in metadata nodes
};

}  // namespace chakra
