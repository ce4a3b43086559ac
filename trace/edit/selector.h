// Which nodes an edit is about: proto::Selector, compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/edit.pb.h"
#include "trace/edit/draft.h"

namespace chakra::edit {

// Immutable, and safe to share between threads.
class Selector {
 public:
  // `where` begins the errors ("script.txtpb: edit 2, select"), which name the field, what it holds and what
  // is expected there.
  static absl::StatusOr<Selector> Make(const proto::Selector& spec, absl::string_view where);

  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;
  ~Selector();

  // Rows that match and are there, ascending. Errors: an iteration that the trace has not.
  absl::StatusOr<std::vector<uint32_t>> Match(Draft* draft) const;
  // Whether rows of this rank can match at all.
  bool MayMatch(int rank) const;

 private:
  struct Node;
  class Evaluation;
  explicit Selector(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

// "0-7", "3", "0-254/2": integers of [0, 2^63). Errors say what is expected.
struct Interval {
  int64_t first = 0, last = 0, step = 1;
  bool has(int64_t v) const { return v >= first && v <= last && (v - first) % step == 0; }
};
absl::StatusOr<Interval> ParseInterval(absl::string_view text);

// "stream:7", "thread:1", "stream:*", "none".
struct LaneSpec {
  bool any = false, none = false;  // any lane of its kind; on no recorded lane
  bool cpu = false;
  int32_t lane = 0;
};
absl::StatusOr<LaneSpec> ParseLane(absl::string_view text);

// "COMP_NODE" of NodeType, by its name in the schema. Errors suggest one of these names, or of `others`.
absl::StatusOr<NodeType> ParseNodeType(absl::string_view text, std::vector<std::string> others = {});
// "all_reduce" of CollectiveType.
absl::StatusOr<CollectiveType> ParseCollective(absl::string_view text);

// The iterations of a rank: ranges of row numbers in recorded order. Steps of a capture's metadata, else from
// one node named "ProfilerStep..." to the next, else the whole trace is one.
struct Iterations {
  std::vector<std::vector<uint32_t>> rows;  // of each, ascending
  std::vector<std::string> names;
  bool marked = false;  // the trace tells them
};
absl::StatusOr<Iterations> FindIterations(Draft* draft);
// "0", "2-4", "first", "last" of `count`; errors say what there is.
absl::StatusOr<Interval> ParseIteration(absl::string_view text, size_t count);

}  // namespace chakra::edit
