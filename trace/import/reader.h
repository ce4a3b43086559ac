// Reads Chakra traces: .et frames, plain or compressed (gzip, zstd; told by
// content, never by name), tar archives of these, and the JSON relatives.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// What of a PyTorch capture is meant.
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
  CaptureSelection capture;          // PyTorch captures only
  RankRewriter* rewriter = nullptr;  // not owned
  std::string groups_file;  // explicit communicator groups; "": found beside the traces, or in metadata nodes
};

// Reads all ranks of a run. Each input is a file, a directory, a tar archive or
// a prefix ("dir/workload" for dir/workload.0.et...). Ranks come from the names
// (PREFIX.N.et[.zst|.gz]); a single file without a number is rank 0.
// With a rewriter the ranks are those that it makes, 0 to n - 1, or none at all;
// memory then holds no more of the files than the ranks that are under way.
// Errors name file, rank, node id, field and byte offset (in the decompressed
// stream), and say what was expected.
absl::StatusOr<TraceSet> ReadTraceSet(const std::vector<std::string>& inputs, const ReadOptions& options);

// Decodes one file's content, already in memory (compressed or not). `file`
// is used in messages only.
absl::StatusOr<RankTrace> DecodeTrace(absl::string_view content, absl::string_view file, int rank,
                                      const ReadOptions& options);

// Byte offset, in the decompressed stream, of the frame of node `id` in `file`;
// for messages made long after decoding. -1 when it cannot be found.
int64_t LocateNode(const std::string& file, uint64_t id);

// "rank 3, node 17 ("matmul") of dir/w.3.et, byte 1234": the subject of an
// error about one node.
std::string DescribeNode(const RankTrace& trace, uint32_t row);

}  // namespace chakra
