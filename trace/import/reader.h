// Reads the traces of a run, in any format of registry.h: plain or compressed
// (gzip, zstd; told by content, never by name), or in tar archives.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/read_options.h"
#include "trace/model/trace.h"

namespace chakra {

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

}  // namespace chakra
