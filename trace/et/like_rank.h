// From the frames of one rank to those of another that does the same, but beside other groups and ranks.
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
  // `of` has its frames (RankTrace::raw), which must outlive this. Errors (InvalidArgument) name file, rank,
  // node and attribute: a group that is not written as text, a rank of communication that is not written as a
  // varint.
  static absl::StatusOr<LikeRank> Make(const RankTrace& of);

  // Appends the frames of `rank`, each behind its length: those of `of`, with what the index has in place of
  // groups and ranks. Precondition: index.Covers() the trace.
  void AppendFrames(const RankIndex& index, int rank, std::string* out) const;

 private:
  // A value that other ranks have otherwise, and the attribute that holds it. Places are bytes of the frame.
  struct Value {
    size_t frame = 0;
    uint64_t field = 0, message = 0, value = 0, value_end = 0, message_end = 0;
    bool group = false;
    int rank = kNoRank;  // else
  };
  absl::Status FindValues(const RankTrace& of, size_t frame);
  void AppendAttribute(absl::string_view frame, const Value& v, const RankIndex& index, int rank,
                       std::string* out) const;

  const RawFrames* raw_ = nullptr;
  std::vector<Value> values_;
};

}  // namespace chakra
