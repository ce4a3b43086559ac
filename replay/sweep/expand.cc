// Space::Make(): checks the spec and makes its points.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/sweep/axis.h"
#include "replay/sweep/draw.h"
#include "replay/sweep/metrics.h"
#include "replay/sweep/space.h"
#include "replay/sweep/words.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"

namespace chakra::sweep {
namespace {

constexpr uint64_t kDefaultMostPoints = 100000;
constexpr uint64_t kMostPoints = 10000000;  // maximum of max_points: all points are in memory
// Constraints are evaluated for at most max_points times this number of combinations.
constexpr uint64_t kMostTried = 100;
constexpr int kDeepestGroup = 16;
constexpr uint32_t kMostRepeats = 1000000;

uint64_t Product(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<uint64_t>::max() : out;
}

// Sets the indices of all axes in `unit` to those of point number `index` of the unit.
void Decode(const SpaceUnit& unit, uint64_t index, Place* place) {
  if (unit.single()) {
    (*place)[unit.axis] = static_cast<uint32_t>(index);
    return;
  }
  for (size_t i = unit.parts.size(); i-- > 0;) {
    const SpaceUnit& part = unit.parts[i];
    Decode(part, unit.zip ? index : index % part.count, place);
    if (!unit.zip) index /= part.count;
  }
}

}  // namespace

class SpaceBuilder {
 public:
  explicit SpaceBuilder(const proto::Sweep& spec) : spec_(spec), space_(&spec) {}

  absl::StatusOr<Space> Build() {
    for (const auto& step :
         {&SpaceBuilder::ReadWords, &SpaceBuilder::ReadAxes, &SpaceBuilder::ReadExpressions,
          &SpaceBuilder::CheckTemplates, &SpaceBuilder::CheckSearch, &SpaceBuilder::Expand}) {
      RETURN_IF_ERROR((this->*step)());
    }
    return std::move(space_);
  }

 private:
  bool drawn() const { return spec_.combine() == proto::RANDOM || spec_.combine() == proto::LATIN_HYPERCUBE; }
  uint64_t most_points() const { return spec_.max_points() > 0 ? spec_.max_points() : kDefaultMostPoints; }

  absl::Status ReadWords() {
    space_.words_.assign(spec_.trace().begin(), spec_.trace().end());
    auto words = SplitWords(spec_.replay());
    if (!words.ok()) return SpecError("replay", words.status().message());
    space_.words_.insert(space_.words_.end(), words->begin(), words->end());
    space_.words_.insert(space_.words_.end(), spec_.word().begin(), spec_.word().end());
    return absl::OkStatus();
  }

  template <typename Holder>
  absl::Status AddParts(const Holder& holder, const std::string& where, int depth, SpaceUnit* out) {
    if (depth > kDeepestGroup) return SpecError(where, "groups are nested too deeply");
    for (int i = 0; i < holder.axis_size(); ++i) {
      ASSIGN_OR_RETURN(auto axis, MakeAxis(holder.axis(i), absl::StrCat(where, "axis[", i, "]")));
      if (axis.range != nullptr && (depth > 0 || !drawn())) {
        return SpecError(absl::StrCat(axis.where, ".range"),
                         "it has neither steps nor step; expected one of them, but for axes of the top level "
                         "where combine is "
                         "RANDOM or LATIN_HYPERCUBE");
      }
      SpaceUnit unit;
      unit.axis = space_.axes_.size();
      unit.count = axis.values.size();
      space_.axes_.push_back(std::move(axis));
      out->parts.push_back(std::move(unit));
    }
    for (int i = 0; i < holder.group_size(); ++i) {
      const proto::Group& group = holder.group(i);
      const std::string at = absl::StrCat(where, "group[", i, "].");
      if (group.combine() != proto::GRID && group.combine() != proto::ZIP) {
        return SpecError(absl::StrCat(at, "combine"), "expected GRID or ZIP; only a whole sweep is drawn");
      }
      SpaceUnit unit;
      RETURN_IF_ERROR(AddParts(group, at, depth + 1, &unit));
      if (unit.parts.empty()) return SpecError(absl::StrCat(where, "group[", i, "]"), "it has no axis");
      RETURN_IF_ERROR(Count(group.combine(), at, &unit));
      out->parts.push_back(std::move(unit));
    }
    return absl::OkStatus();
  }

  absl::Status Count(proto::Combine combine, const std::string& where, SpaceUnit* unit) const {
    unit->zip = combine == proto::ZIP;
    unit->count = unit->zip ? unit->parts[0].count : 1;
    for (const SpaceUnit& part : unit->parts) {
      if (!unit->zip) unit->count = Product(unit->count, part.count);
      if (!unit->zip || part.count == unit->count) continue;
      return SpecError(
          absl::StrCat(where, "combine"),
          absl::StrCat("ZIP takes values together, but ", Describe(unit->parts[0]), " has ", unit->count,
                       " and ", Describe(part), " has ", part.count, "; expected as many of each"));
    }
    return absl::OkStatus();
  }

  std::string Describe(const SpaceUnit& unit) const {
    return unit.single() ? absl::StrCat("axis ", space_.axes_[unit.axis].name) : "a group";
  }

  absl::Status ReadAxes() {
    RETURN_IF_ERROR(AddParts(spec_, "", 0, &space_.top_));
    std::set<std::string> seen;
    for (const SweepAxis& axis : space_.axes_) {
      if (!seen.insert(axis.name).second) {
        return SpecError(absl::StrCat(axis.where, ".name"),
                         absl::StrCat("\"", axis.name, "\" is the name of another axis too"));
      }
    }
    if (drawn() && spec_.points() == 0)
      return SpecError("points", "it is missing; expected how many are to be drawn");
    if (!drawn() && spec_.points() > 0)
      return SpecError("points", "expected only where combine is RANDOM or LATIN_HYPERCUBE");
    if (drawn() && space_.top_.parts.empty())
      return SpecError("axis", "it is missing; there is nothing to draw");
    if (space_.top_.parts.empty()) space_.top_.count = 1;
    return space_.top_.parts.empty() ? absl::OkStatus()
                                     : Count(drawn() ? proto::GRID : spec_.combine(), "", &space_.top_);
  }

  absl::Status CheckNames(const Expression& e, const std::string& where) const {
    std::vector<std::string> known;
    for (const SweepAxis& axis : space_.axes_) known.push_back(axis.name);
    for (const std::string& name : e.names()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return SpecError(where, absl::StrCat("there is no axis \"", name, "\"", SuggestName(name, known)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadExpressions() {
    for (int i = 0; i < spec_.constraint_size(); ++i) {
      const std::string where = absl::StrCat("constraint[", i, "]");
      auto e = Expression::Parse(spec_.constraint(i));
      if (!e.ok()) return SpecError(where, e.status().message());
      RETURN_IF_ERROR(CheckNames(*e, where));
      space_.constraints_.push_back(*std::move(e));
    }
    std::vector<std::string> axes;
    for (const SweepAxis& axis : space_.axes_) axes.push_back(axis.name);
    return CheckMetrics(spec_, axes);
  }

  // Also checks {...} in words that no point uses.
  absl::Status CheckTemplates() {
    const auto check = [&](const std::vector<std::string>& words, const std::string& where) -> absl::Status {
      for (const std::string& word : words) {
        auto expressions = ParseTemplate(word);
        if (!expressions.ok()) return SpecError(where, expressions.status().message());
        for (const Expression& e : *expressions) {
          RETURN_IF_ERROR(CheckNames(e, where));
        }
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(check(space_.words_, "replay"));
    for (const SweepAxis& axis : space_.axes_) {
      for (size_t i = 0; i < axis.values.size(); ++i) {
        RETURN_IF_ERROR(check(axis.values[i].words, absl::StrCat(axis.where, ".choice[", i, "].words")));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckSearch() {
    if (spec_.max_points() > kMostPoints)
      return SpecError("max_points", absl::StrCat(spec_.max_points(), ", expected at most ", kMostPoints));
    if (spec_.repeats() > kMostRepeats)
      return SpecError("repeats", absl::StrCat(spec_.repeats(), ", expected at most ", kMostRepeats));
    if (!spec_.has_search()) return absl::OkStatus();
    if (spec_.search().evaluations() == 0)
      return SpecError("search.evaluations", "it is missing; expected how many points may be run");
    const uint64_t repeats = std::max<uint64_t>(1, spec_.repeats());
    if (Product(spec_.search().evaluations(), repeats) > most_points()) {
      return SpecError(
          "search.evaluations",
          absl::StrCat(spec_.search().evaluations(), ", expected at most ", most_points() / repeats,
                       repeats > 1 ? " (max_points / repeats)" : " (max_points)"));
    }
    if (drawn()) return SpecError("search", "it needs a grid; expected combine: GRID");
    if (spec_.combine() == proto::ZIP)
      return SpecError("search", "it needs a grid; expected a group of the axes that are zipped");
    if (space_.top_.parts.empty()) return SpecError("search", "there is no axis to search along");
    for (const SpaceUnit& unit : space_.top_.parts) {
      if (unit.count <= most_points()) continue;
      return SpecError(
          "search", absl::StrCat(Describe(unit), " has ", FormatCount(unit.count),
                                 " values; expected at most ", FormatCount(most_points()), " (max_points)"));
    }
    if (space_.top_.count == std::numeric_limits<uint64_t>::max())
      return SpecError("search", "the grid has more than 2^64 points");
    return absl::OkStatus();
  }

  absl::Status TooMany(uint64_t count, const char* why) const {
    const bool more = count == std::numeric_limits<uint64_t>::max();
    return absl::InvalidArgumentError(absl::StrCat(
        "the sweep has ", more ? "more than 18,446,744,073,709,551,614" : FormatCount(count), " points", why,
        "; expected at most ", FormatCount(most_points()), " (max_points), or combine: RANDOM, or a search"));
  }

  absl::Status Expand() {
    const uint64_t repeats = std::max<uint64_t>(1, spec_.repeats());
    if (spec_.has_search()) return Repeat(repeats);
    const uint64_t total = Product(drawn() ? spec_.points() : space_.top_.count, repeats);
    const bool filtered = !space_.constraints_.empty() && !drawn();
    if (total > Product(most_points(), filtered ? kMostTried : 1)) {
      return TooMany(total, filtered ? " before its constraints" : "");
    }
    RETURN_IF_ERROR(!drawn()                           ? ExpandGrid()
                    : spec_.combine() == proto::RANDOM ? DrawRandom()
                                                       : DrawHypercube());
    if (space_.points_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sweep has no point: constraints exclude ",
          space_.left_out_ == 1 ? "its only point"
                                : absl::StrCat("all ", FormatCount(space_.left_out_), " points")));
    }
    return Repeat(repeats);
  }

  // Keeps a point if the constraints allow it.
  absl::StatusOr<bool> Keep(const Place& place) {
    ASSIGN_OR_RETURN(auto allowed, space_.Allowed(place));
    if (allowed) {
      space_.points_.push_back(place);
    } else {
      ++space_.left_out_;
    }
    return allowed;
  }

  absl::Status ExpandGrid() {
    Place place(space_.axes_.size());
    for (uint64_t i = 0; i < space_.top_.count; ++i) {
      if (!place.empty()) Decode(space_.top_, i, &place);
      RETURN_IF_ERROR(Keep(place).status());
      const uint64_t repeats = std::max<uint64_t>(1, spec_.repeats());
      if (Product(space_.points_.size(), repeats) > most_points())
        return TooMany(Product(space_.points_.size(), repeats), " or more");
    }
    return absl::OkStatus();
  }

  // Sets a unit to the point at `share` (in [0, 1)) of its range.
  void PlaceAt(const SpaceUnit& unit, double share, Place* place) {
    if (unit.count > 0) {
      const auto index = static_cast<uint64_t>(share * static_cast<double>(unit.count));
      Decode(unit, std::min(index, unit.count - 1), place);
      return;
    }
    SweepAxis& axis = space_.axes_[unit.axis];
    (*place)[unit.axis] = static_cast<uint32_t>(axis.values.size());
    axis.values.push_back(ValueInRange(*axis.range, share));
  }

  absl::Status DrawRandom() {
    const uint64_t wanted = spec_.points();
    const bool finite = space_.top_.count > 0;
    if (finite && wanted > space_.top_.count) {
      return SpecError("points", absl::StrCat(wanted, ", but the grid has only ", space_.top_.count));
    }
    Draw draw(spec_.seed() > 0 ? spec_.seed() : 1);
    std::set<Place> seen;
    Place place(space_.axes_.size());
    const uint64_t most = Product(wanted, 1000) + 1000;
    for (uint64_t tried = 0; space_.points_.size() < wanted; ++tried) {
      if (tried == most) {
        return SpecError(
            "points",
            absl::StrCat(wanted, ", but only ", space_.points_.size(), " were found in ", FormatCount(most),
                         " draws: too few combinations, or the constraints leave out too many"));
      }
      for (const SpaceUnit& unit : space_.top_.parts) PlaceAt(unit, draw.Share(), &place);
      if (finite && !seen.insert(place).second) continue;
      ASSIGN_OR_RETURN(auto kept, Keep(place));
      if (kept) continue;
      for (SweepAxis& axis : space_.axes_) {
        if (axis.range != nullptr) axis.values.pop_back();
      }
    }
    return absl::OkStatus();
  }

  absl::Status DrawHypercube() {
    const uint64_t n = spec_.points();
    Draw draw(spec_.seed() > 0 ? spec_.seed() : 1);
    std::vector<Place> places(n, Place(space_.axes_.size()));
    std::vector<uint64_t> order(n);
    for (const SpaceUnit& unit : space_.top_.parts) {
      for (uint64_t i = 0; i < n; ++i) order[i] = i;
      for (uint64_t i = n; i > 1; --i) std::swap(order[i - 1], order[draw.Below(i)]);
      for (uint64_t i = 0; i < n; ++i) {
        PlaceAt(unit, (static_cast<double>(order[i]) + draw.Share()) / static_cast<double>(n), &places[i]);
      }
    }
    for (const Place& place : places) {
      RETURN_IF_ERROR(Keep(place).status());
    }
    return absl::OkStatus();
  }

  // Adds the axis of repeats, which changes fastest.
  absl::Status Repeat(uint64_t repeats) {
    if (spec_.repeats() == 0) {
      if (spec_.first_seed() > 0) return SpecError("first_seed", "expected with repeats only");
      return absl::OkStatus();
    }
    SweepAxis seeds;
    seeds.name = "seed";
    seeds.option = "--seed";
    seeds.where = "repeats";
    for (const SweepAxis& axis : space_.axes_) {
      if (axis.name == seeds.name)
        return SpecError(axis.where, "with repeats, seed is the name of another axis");
    }
    const uint64_t first = spec_.first_seed() > 0 ? spec_.first_seed() : 1;
    if (first > (uint64_t{1} << 53))
      return SpecError("first_seed", absl::StrCat(first, ", expected at most 2^53"));
    for (uint64_t r = 0; r < repeats; ++r)
      seeds.values.push_back({absl::StrCat(first + r), static_cast<double>(first + r), {}});
    space_.axes_.push_back(std::move(seeds));
    std::vector<Place> all;
    all.reserve(space_.points_.size() * repeats);
    for (const Place& place : space_.points_) {
      for (uint64_t r = 0; r < repeats; ++r) {
        all.push_back(place);
        all.back().push_back(static_cast<uint32_t>(r));
      }
    }
    space_.points_ = std::move(all);
    return absl::OkStatus();
  }

  const proto::Sweep& spec_;
  Space space_;
};

absl::StatusOr<Space> Space::Make(const proto::Sweep& spec) { return SpaceBuilder(spec).Build(); }

Place Space::PlaceOf(const std::vector<uint64_t>& indices) const {
  Place place(axes_.size());
  for (size_t i = 0; i < indices.size(); ++i) Decode(top_.parts[i], indices[i], &place);
  return place;
}

std::vector<Place> Space::PlacesOf(const std::vector<uint64_t>& indices) const {
  const size_t repeats = spec_->repeats() > 0 ? axes_.back().values.size() : 1;
  std::vector<Place> places(repeats, PlaceOf(indices));
  for (size_t r = 1; r < repeats; ++r) places[r].back() = static_cast<uint32_t>(r);
  return places;
}

}  // namespace chakra::sweep
