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

// Decodes one rank, whose `content` may be compressed, and of any format.
absl::Status DecodeContent(absl::string_view content, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out);

// One file each rank, in order. The first error by position, whatever order the
// threads worked in.
absl::Status LoadFiles(const std::vector<TraceFile>& files, const ReadOptions& options, GraphPool* pool,
                       std::vector<Loaded>* out);

// One input file: one rank, or an archive of all ranks, sorted by rank. The
// latter also fills `archive` and adds its JSON members to `candidates`.
absl::Status LoadSingle(const TraceFile& file, const ReadOptions& options, GraphPool* pool,
                        std::vector<Loaded>* out, std::vector<GroupCandidate>* candidates,
                        InputFile* archive);

}  // namespace chakra
