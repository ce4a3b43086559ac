// The points of a sweep: axes, the values that they take together, and the command line that each means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/expression.h"

namespace chakra::sweep {

struct AxisValue {
  std::string text;                // as written, in columns and words
  Value value;                     // in expressions: a number where the text is one
  std::vector<std::string> words;  // of a choice, not filled in
};

struct SweepAxis {
  std::string name;
  std::string option;  // "", or what the value follows
  std::string field;   // "", or of proto::Cluster
  std::string where;   // in the spec, for messages: "axis[1]", "group[0].axis[2]"
  std::vector<AxisValue> values;
  const proto::ValueRange* range = nullptr;  // of a range without steps, drawn when points are
};

// One index a axis: which of its values a point has.
using Place = std::vector<uint32_t>;

// Where an error of a spec lies, and what it is: InvalidArgument "WHERE: WHAT".
absl::Status SpecError(absl::string_view where, absl::string_view what);

// What is combined: an axis, or a group of them.
struct SpaceUnit {
  size_t axis = 0;  // where `parts` is empty
  std::vector<SpaceUnit> parts;
  bool zip = false;
  uint64_t count = 0;  // of its points, 2^64 - 1 for more; 0: a range without steps, not drawn yet

  bool single() const { return parts.empty(); }
};

class Space {
 public:
  // Checks all of the spec that can be checked without a trace, and expands it. `spec` must outlive this.
  // Errors (InvalidArgument) begin with the field's path ("axis[1].range.step: ..."): names that are no names
  // or stand twice, axes without or with two kinds of values, fields that Cluster has not (with the nearest),
  // zips of unequal length, expressions, no point or more than max_points (with their number).
  static absl::StatusOr<Space> Make(const proto::Sweep& spec);

  const proto::Sweep& spec() const { return *spec_; }
  const std::vector<SweepAxis>& axes() const { return axes_; }
  // In order. Empty for a search, whose grid is checked alone.
  const std::vector<Place>& points() const { return points_; }
  // Axes and groups of the top level, and the place that their indices mean; for searches.
  const std::vector<SpaceUnit>& units() const { return top_.parts; }
  Place PlaceOf(const std::vector<uint64_t>& indices) const;
  // The same with each seed of the repeats; without repeats that place alone.
  std::vector<Place> PlacesOf(const std::vector<uint64_t>& indices) const;
  // Points that a constraint left out.
  uint64_t left_out() const { return left_out_; }

  // TRACE... and options of `replay` for a point. Errors: expressions in {...}.
  absl::StatusOr<std::vector<std::string>> Words(const Place& place) const;
  // The value of an axis at a point; nothing for other names.
  std::optional<Value> ValueAt(const Place& place, const std::string& name) const;
  // Whether all constraints hold.
  absl::StatusOr<bool> Allowed(const Place& place) const;
  // SHA-256 over the words, the first 16 hexadecimal digits: equal for equal commands.
  static std::string Id(const std::vector<std::string>& words);

 private:
  friend class SpaceBuilder;
  explicit Space(const proto::Sweep* spec) : spec_(spec) {}

  const proto::Sweep* spec_;
  SpaceUnit top_;
  std::vector<SweepAxis> axes_;
  std::vector<Expression> constraints_;
  std::vector<std::string> words_;  // of all points, not filled in
  std::vector<Place> points_;
  uint64_t left_out_ = 0;
};

// Names that axes and metrics cannot have: columns that every sweep has.
bool IsReservedName(const std::string& name);
// Letters, digits and _, not beginning with a digit, no word of expressions.
bool IsName(const std::string& name);

}  // namespace chakra::sweep
