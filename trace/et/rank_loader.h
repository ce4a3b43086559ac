// From the frames of a rank to its columns, through what changes ranks on the way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/et/decode.h"
#include "trace/et/read_options.h"
#include "trace/io/byte_source.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra {

// One thread's tools: they keep their memory from file to file.
struct Worker {
  explicit Worker(GraphPool* pool) : decoder(pool) {}
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

// Puts what rewritten ranks became in their place, by rank. Error: not one trace for each of 0 to n - 1.
absl::Status Flatten(std::vector<Loaded>* loaded);

}  // namespace chakra
