// A compiled proto::Selector: selects the nodes of an edit.
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

// Immutable and thread-safe.
class Selector {
 public:
  // Errors begin with `where` ("script.txtpb: edit 2, select") and give the field, its value and what is
  // expected.
  static absl::StatusOr<Selector> Make(const proto::Selector& spec, absl::string_view where);

  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;
  ~Selector();

  // Returns the rows that match and were not removed, ascending. Errors: an iteration that the trace does not
  // have.
  absl::StatusOr<std::vector<uint32_t>> Match(Draft* draft) const;
  // Whether rows of this rank can match at all.
  bool MayMatch(int rank) const;

 private:
  struct Node;
  class Evaluation;
  explicit Selector(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

// A range of integers in [0, 2^63), written "0-7", "3" or "0-254/2" (every second). Errors say what is
// expected.
struct Interval {
  int64_t first = 0, last = 0, step = 1;
  bool has(int64_t v) const { return v >= first && v <= last && (v - first) % step == 0; }
};
absl::StatusOr<Interval> ParseInterval(absl::string_view text);

// A lane, written "stream:7", "thread:1", "stream:*" or "none". Lanes below 0 are the numbers that reports
// show for thread ids of more than 31 bits ("thread -1").
struct LaneSpec {
  bool any = false, none = false;  // any: all lanes of the kind; none: nodes without a recorded lane
  bool cpu = false;
  int32_t lane = 0;
};
absl::StatusOr<LaneSpec> ParseLane(absl::string_view text);
// The same for a lane on which to put nodes. Error: a lane below 0, because it does not give the thread id.
absl::StatusOr<LaneSpec> ParseLaneToPutOn(absl::string_view text);

// Parses a NodeType from its name in the schema, such as "COMP_NODE". Errors suggest one of these names or of
// `others`.
absl::StatusOr<NodeType> ParseNodeType(absl::string_view text, std::vector<std::string> others = {});
// Parses a CollectiveType from its name, such as "all_reduce".
absl::StatusOr<CollectiveType> ParseCollective(absl::string_view text);

// The iterations of a rank. In a capture, an iteration begins with the first node of each step named
// "ProfilerStep..." in the metadata; in other traces, with each node named "ProfilerStep...". Without such
// steps or nodes, the whole trace is one iteration.
struct Iterations {
  std::vector<std::vector<uint32_t>> rows;  // rows of each iteration, ascending
  std::vector<std::string> names;
  bool marked = false;  // false: the whole trace is one iteration
};
absl::StatusOr<Iterations> FindIterations(Draft* draft);
// Parses "0", "2-4", "first" or "last", for a trace with `count` iterations. Errors say which iterations
// exist.
absl::StatusOr<Interval> ParseIteration(absl::string_view text, size_t count);

}  // namespace chakra::edit
