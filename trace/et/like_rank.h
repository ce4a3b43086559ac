// Turns the frames of a rank into those of another rank that does the same with other groups and ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/rank_index.h"
#include "trace/model/trace.h"

namespace chakra {

class LikeRank {
 public:
  // `of` must have its frames (RankTrace::raw) and must outlive the result. Errors (InvalidArgument) give
  // file, rank, node and attribute: a group that is not stored as text, or a rank of communication that is
  // not stored as a varint.
  static absl::StatusOr<LikeRank> Make(const RankTrace& of);

  // Appends the frames of `rank`, each preceded by its length: the frames of `of`, with groups and ranks
  // replaced as the index says. Precondition: index.Covers() the trace.
  void AppendFrames(const RankIndex& index, int rank, std::string* out) const;

 private:
  // A value that differs between ranks, and the attribute that holds it. Positions are bytes within the
  // frame.
  struct Value {
    size_t frame = 0;
    uint64_t field = 0, message = 0, value = 0, value_end = 0, message_end = 0;
    bool group = false;
    int rank = kNoRank;  // the rank to replace, if not a group
  };
  absl::Status FindValues(const RankTrace& of, size_t frame);
  void AppendAttribute(absl::string_view frame, const Value& v, const RankIndex& index, int rank,
                       std::string* out) const;

  const RawFrames* raw_ = nullptr;
  std::vector<Value> values_;
};

}  // namespace chakra
