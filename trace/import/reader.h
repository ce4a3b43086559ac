// Reads the traces of a run, in any format of registry.h. Files may be plain, compressed (gzip or zstd,
// recognized by content and not by name), or in tar archives.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/read_options.h"
#include "trace/model/trace.h"

namespace chakra {

// Reads all ranks of a run. Each input is a file, a directory, a tar archive or a prefix ("dir/workload" for
// dir/workload.0.et...). Ranks come from the names (PREFIX.N.et[.zst|.gz]); a single file without a number is
// rank 0. With ReadOptions::rewriter, the result has the ranks that the rewriter makes, 0 to n - 1, or none
// at all; memory then holds only the ranks that are being processed. Errors name file, rank, node id, field
// and byte offset (in the decompressed stream), and say what was expected.
absl::StatusOr<TraceSet> ReadTraceSet(const std::vector<std::string>& inputs, const ReadOptions& options);

// Decodes the content of one file, compressed or not, that is already in memory. `file` is used in messages
// only.
absl::StatusOr<RankTrace> DecodeTrace(absl::string_view content, absl::string_view file, int rank,
                                      const ReadOptions& options);

}  // namespace chakra
