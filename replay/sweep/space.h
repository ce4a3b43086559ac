// The points of a sweep: axes, combinations of their values, and the command line of each point.
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
  std::string text;                // as written; used in columns and words
  Value value;                     // in expressions: a number if the text is one
  std::vector<std::string> words;  // words of a choice, with {...} not filled in
};

struct SweepAxis {
  std::string name;
  std::string option;  // the option before the value, or ""
  std::string field;   // a field of proto::Cluster, or ""
  std::string where;   // path in the spec, for messages: "axis[1]", "group[0].axis[2]"
  std::vector<AxisValue> values;
  const proto::ValueRange* range = nullptr;  // a range without steps; its values are drawn with the points
};

// The place of a point: for each axis the index of the point's value.
using Place = std::vector<uint32_t>;

// An error of a spec: "WHERE: WHAT" (InvalidArgument).
absl::Status SpecError(absl::string_view where, absl::string_view what);

// A unit of combination: an axis, or a group of units.
struct SpaceUnit {
  size_t axis = 0;  // valid if `parts` is empty
  std::vector<SpaceUnit> parts;
  bool zip = false;
  // Number of its points, at most 2^64 - 1; 0: a range without steps, whose values are not drawn yet.
  uint64_t count = 0;

  bool single() const { return parts.empty(); }
};

class Space {
 public:
  // Checks everything in the spec that needs no trace, and expands the spec, which must outlive the space.
  // Errors (InvalidArgument) begin with the field's path ("axis[1].range.step: ..."): invalid or duplicate
  // names, axes with no or two kinds of values, unknown fields of Cluster (the error suggests the nearest),
  // zips of unequal length, expressions, no point, more than max_points points (the error has their number).
  static absl::StatusOr<Space> Make(const proto::Sweep& spec);

  const proto::Sweep& spec() const { return *spec_; }
  const std::vector<SweepAxis>& axes() const { return axes_; }
  // The points, in order. Empty for a search, for which only the grid is checked.
  const std::vector<Place>& points() const { return points_; }
  // For searches: the axes and groups of the top level, and the place of their indices.
  const std::vector<SpaceUnit>& units() const { return top_.parts; }
  Place PlaceOf(const std::vector<uint64_t>& indices) const;
  // PlaceOf() with each seed of the repeats; without repeats only one place.
  std::vector<Place> PlacesOf(const std::vector<uint64_t>& indices) const;
  // The number of points that constraints excluded.
  uint64_t left_out() const { return left_out_; }

  // The arguments of `replay` for a point: TRACE... and options. Errors: expressions in {...}.
  absl::StatusOr<std::vector<std::string>> Words(const Place& place) const;
  // The value of an axis at a point; nullopt for other names.
  std::optional<Value> ValueAt(const Place& place, const std::string& name) const;
  // Whether all constraints hold.
  absl::StatusOr<bool> Allowed(const Place& place) const;
  // The first 16 hexadecimal digits of the SHA-256 of the words; equal for equal commands.
  static std::string Id(const std::vector<std::string>& words);

 private:
  friend class SpaceBuilder;
  explicit Space(const proto::Sweep* spec) : spec_(spec) {}

  const proto::Sweep* spec_;
  SpaceUnit top_;
  std::vector<SweepAxis> axes_;
  std::vector<Expression> constraints_;
  std::vector<std::string> words_;  // words of all points, with {...} not filled in
  std::vector<Place> points_;
  uint64_t left_out_ = 0;
};

// Whether axes and metrics cannot have this name, since every sweep has a column with this name.
bool IsReservedName(const std::string& name);
// Whether `name` consists of letters, digits and _, does not begin with a digit, and is not a word of
// expressions.
bool IsName(const std::string& name);

}  // namespace chakra::sweep
