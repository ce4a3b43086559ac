// Options for readers of traces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Selects a part of a capture (a run that a profiler recorded).
struct CaptureSelection {
  std::string host, device;  // a pair of files; "": as the inputs name them
  std::vector<int> ranks;    // only these global ranks; empty: all
  bool named() const { return !host.empty() || !device.empty(); }
  std::vector<std::string> rank_of;  // ranks of files: patterns of RankByHand()
  std::string steps;  // "", "all", "first", "last", "skip-first", "N" or "N-M"; N: number in ProfilerStep#N
  std::string step_range;  // which ranges (of NVTX, or annotations) are steps: a text, with '*' for any text;
                           // "pattern" (Nsight Systems): kernels that repeat; "": ranges with known names
};

// A rank as a RankRewriter produced it.
struct Rewritten {
  int rank = 0;
  std::string frames;  // the frames of an .et file, uncompressed
};

class EtWriter;

// Changes ranks after their files are read and before they are decoded into columns.
class RankRewriter {
 public:
  virtual ~RankRewriter() = default;
  // Called once for each rank, from several threads at once. `trace` has its frames (RankTrace::raw). The
  // reader decodes the frames that Rewrite() adds to `out` instead of the rank; if Rewrite() adds nothing,
  // the rank is left out.
  virtual absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) = 0;

  // Whether the reader may call WriteAsMade() instead of Rewrite() for ranks of recordings. A rewriter that
  // changes nothing then needs no frames in memory.
  virtual bool WritesAsMade() const { return false; }
  // `rank` has neither graph nor frames; `emit` writes its frames. Called from several threads at once.
  virtual absl::Status WriteAsMade(RankTrace /*rank*/,
                                   const std::function<absl::Status(EtWriter*)>& /*emit*/) {
    return absl::UnimplementedError("a rewriter that takes frames as they are made writes them");
  }
};

struct ReadOptions {
  bool keep_raw = false;             // keep RawFrames, for lossless output
  bool allow_truncated = false;      // drop a partial last node, with a repair
  bool strict = false;               // repairs are errors
  int threads = 1;                   // number of files decoded at once; does not change the result
  CaptureSelection capture;          // only for captures
  RankRewriter* rewriter = nullptr;  // not owned
  std::string groups_file;  // process groups; "": the reader looks next to the traces, and in metadata nodes
  int ranks = 0;  // number of ranks, for files of a single program without a number of devices; 0: not given
  // Number of neighbouring ranks that are connected by NVLink or similar, for formats that need it; 0:
  // unknown.
  int domain = 0;
  // False: InputFile::sha256 may be empty if the reader would have to read the file again only to compute it.
  bool digests = true;
  // Not owned. If not null, a reader that creates the ranks of a run itself may omit the data that symmetric
  // ranks share, and reports here which ranks are symmetric. Other readers do not change it.
  SymmetricRanks* symmetric = nullptr;
};

}  // namespace chakra
