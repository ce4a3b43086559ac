// From trace files, or an archive of them, to decoded ranks, on several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/et/rank_loader.h"
#include "trace/et/read_options.h"
#include "trace/import/find_groups.h"
#include "trace/import/inputs.h"
#include "trace/io/byte_source.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra {

// Decodes one rank. `content` may be compressed, and of any format whose files hold one rank.
absl::Status DecodeContent(absl::string_view content, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out);

// Loads files of one rank each; `out` has the order of `files`. Returns the first error in that order,
// whatever order the threads worked in.
absl::Status LoadFiles(const std::vector<TraceFile>& files, const ReadOptions& options, GraphPool* pool,
                       std::vector<Loaded>* out);

// Loads one input file: a single rank, or an archive of all ranks, which are sorted by rank. For an archive,
// also fills `archive` and adds its JSON members to `candidates`.
absl::Status LoadSingle(const TraceFile& file, const ReadOptions& options, GraphPool* pool,
                        std::vector<Loaded>* out, std::vector<GroupCandidate>* candidates,
                        InputFile* archive);

}  // namespace chakra
