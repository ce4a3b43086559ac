// From what a reader made of a rank, frames or columns, to the trace, through what changes ranks on the way.
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

// One thread's tools: they keep their memory from file to file.
struct Worker {
  explicit Worker(GraphPool* graphs) : pool(graphs), decoder(graphs) {}
  GraphPool* pool;
  Decoder decoder;
  Buffer plain;
  // Of ranks that a rewriter takes, before it does: few of their graphs are kept.
  struct Before {
    GraphPool pool{4};
    Decoder decoder{&pool};
  };
  std::unique_ptr<Before> before;
};

// One rank.
struct Loaded {
  RankTrace trace;
  std::vector<GroupNode> group_nodes;
  InputFile input;
  // With ReadOptions::rewriter: what the rank became, and `trace` is empty.
  bool rewritten = false;
  std::vector<Loaded> became;
};

// Decodes plain frames, through options.rewriter where there is one.
absl::Status DecodeFrames(absl::string_view frames, absl::string_view file, int rank,
                          const ReadOptions& options, Worker* worker, Loaded* out);

// Whether frames of a rank are asked for, beside its columns or in their place.
inline bool WantsFrames(const ReadOptions& options) {
  return options.rewriter != nullptr || options.keep_raw;
}

// Likewise finishes columns, whose side table has frames where WantsFrames(). The graph of `draft` is used up
// with Keep::kRecording. Errors: those of FinishGraph() and of the rewriter.
absl::Status FinishColumns(RankDraft* draft, Keep keep, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out);

// Puts what rewritten ranks became in their place, by rank. Error: not one trace for each of 0 to n - 1.
absl::Status Flatten(std::vector<Loaded>* loaded);

// The ranks of a run that a reader makes itself, on options.threads threads: `load` fills in a rank.
absl::StatusOr<std::vector<RankTrace>> LoadRanks(
    size_t ranks, const ReadOptions& options, GraphPool* pool,
    const std::function<absl::Status(size_t rank, Worker* worker, Loaded* out)>& load);
// Likewise by frames: `write` writes those of a rank. `file` is for messages.
absl::StatusOr<std::vector<RankTrace>> LoadWritten(
    size_t ranks, const ReadOptions& options, const std::string& file,
    const std::function<absl::Status(size_t rank, EtWriter* writer)>& write);

}  // namespace chakra
