// Turns what a reader read of a rank, frames or columns, into a trace, through the rewriter if there is one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/decode.h"
#include "trace/et/rank_draft.h"
#include "trace/et/read_options.h"
#include "trace/io/byte_source.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra {

// The buffers of a thread: they keep their memory from file to file.
struct Worker {
  explicit Worker(GraphPool* graphs) : pool(graphs), decoder(graphs) {}
  GraphPool* pool;
  Decoder decoder;
  Buffer plain;
  // For ranks before they are rewritten: only few of their graphs are kept.
  struct Before {
    GraphPool pool{4};
    Decoder decoder{&pool};
  };
  std::unique_ptr<Before> before;
};

// The result of loading a rank.
struct Loaded {
  RankTrace trace;
  std::vector<GroupNode> group_nodes;
  InputFile input;
  // With ReadOptions::rewriter: `became` has the rewritten ranks, and `trace` is empty.
  bool rewritten = false;
  std::vector<Loaded> became;
};

// Decodes plain frames, and rewrites them if options.rewriter is set.
absl::Status DecodeFrames(absl::string_view frames, absl::string_view file, int rank,
                          const ReadOptions& options, Worker* worker, Loaded* out);

// Whether frames of a rank are needed, in addition to its columns or instead of them.
inline bool WantsFrames(const ReadOptions& options) {
  return options.rewriter != nullptr || options.keep_raw;
}

// Finishes columns, and rewrites the rank if options.rewriter is set. The side table must have frames if
// WantsFrames(). Keep::kRecording empties the graph of `draft`. Errors: those of FinishGraph() and of the
// rewriter.
absl::Status FinishColumns(RankDraft* draft, Keep keep, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out);

// Replaces rewritten ranks by their results, sorted by rank. Error: the results are not one trace for each of
// the ranks 0 to n - 1.
absl::Status Flatten(std::vector<Loaded>* loaded);

// Loads the ranks of a run that a reader builds itself, on options.threads threads. `load` fills in a rank.
absl::StatusOr<std::vector<RankTrace>> LoadRanks(
    size_t ranks, const ReadOptions& options, GraphPool* pool,
    const std::function<absl::Status(size_t rank, Worker* worker, Loaded* out)>& load);
// Like LoadRanks(), for ranks as frames: `write` writes the frames of a rank. `file` is for messages.
absl::StatusOr<std::vector<RankTrace>> LoadWritten(
    size_t ranks, const ReadOptions& options, const std::string& file,
    const std::function<absl::Status(size_t rank, EtWriter* writer)>& write);

}  // namespace chakra
