// What is asked of readers of traces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// What of a capture is meant, a run that a profiler recorded.
struct CaptureSelection {
  std::string host, device;  // one pair of files; "": what the inputs name
  std::vector<int> ranks;    // only these (global) ranks; empty: all
  bool named() const { return !host.empty() || !device.empty(); }
  std::vector<std::string> rank_of;  // ranks of files given by hand: patterns of RankByHand()
  std::string steps;       // "", "all", "first", "last", "skip-first", "N" or "N-M"; N is the number in
                           // ProfilerStep#N
  std::string step_range;  // which ranges (of NVTX, or annotations) are steps: text, '*' for any; "pattern", of
                           // Nsight Systems: the kernels that repeat; "": told by their names
};

// A rank as a RankRewriter made it.
struct Rewritten {
  int rank = 0;
  std::string frames;  // the frames of an .et file, not compressed
};

class EtWriter;

// Changes ranks between reading their files and decoding them into columns.
class RankRewriter {
 public:
  virtual ~RankRewriter() = default;
  // Called once for each rank, from several threads at once. `trace` has its frames (RankTrace::raw). The
  // reader decodes what Rewrite() adds to `out` in place of the rank; if Rewrite() adds nothing, the rank is
  // left out.
  virtual absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) = 0;

  // Whether the frames of a recording's rank may go to WriteAsMade() in place of Rewrite(): one that changes
  // nothing needs them in no memory.
  virtual bool WritesAsMade() const { return false; }
  // `rank` has neither graph nor frames; `emit` writes its frames. From several threads at once.
  virtual absl::Status WriteAsMade(RankTrace /*rank*/,
                                   const std::function<absl::Status(EtWriter*)>& /*emit*/) {
    return absl::UnimplementedError("a rewriter that takes frames as they are made writes them");
  }
};

struct ReadOptions {
  bool keep_raw = false;             // keep RawFrames, for lossless output
  bool allow_truncated = false;      // drop a partial last node, with a repair
  bool strict = false;               // every repair is an error
  int threads = 1;                   // files decoded at once; the result does not depend on it
  CaptureSelection capture;          // of captures only
  RankRewriter* rewriter = nullptr;  // not owned
  std::string groups_file;  // file of process groups; "": the reader looks beside the traces and in metadata
                            // nodes
  int ranks = 0;  // asked for, for files of one program that do not say on how many devices it runs; 0: not told
  // Neighbouring ranks that NVLink or its like joins, for steps that go by that; 0: not known.
  int domain = 0;
  // False: InputFile::sha256 may be empty, where a file would be read once more for it alone.
  bool digests = true;
  // Not owned; where not null, a reader that makes the ranks of a run itself may leave out what twins share,
  // and says here which ranks are twins. Others leave it as it is.
  Twins* twins = nullptr;
};

}  // namespace chakra
