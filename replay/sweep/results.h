// The results of a sweep as a table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/journal.h"
#include "replay/sweep/metrics.h"
#include "replay/sweep/space.h"

namespace chakra::sweep {

struct ResultRow {
  uint64_t number = 0;  // number of the point in the sweep
  std::string id;
  Place place;
  PointMetrics metrics;       // including those of Sweep.metric
  std::string error;          // not empty if the point failed
  proto::PointRecord record;  // as in the journal
};

struct Results {
  std::shared_ptr<const proto::SweepStart> start;  // owns the spec of `space`
  std::optional<Space> space;
  std::vector<ResultRow> rows;  // by number
  // Names of columns: Sweep.metric, then makespan_ps, then the others by name.
  std::vector<std::string> metrics;
  uint64_t points = 0;  // points of the sweep; for a search, the points that it has asked for so far
  uint64_t failed = 0;
  uint64_t damaged = 0;  // damaged lines of journals
  FilesByInputs files;   // empty for journals of versions that did not record files
  std::vector<std::string> warnings;

  const std::string& Axis(const ResultRow& row, size_t axis) const {
    return space->axes()[axis].values[row.place[axis]].text;
  }
  // Axes by name, for expressions.
  Lookup AxesOf(const ResultRow& row) const;
};

// The axis of repeats, which is the last axis; kNotAxis: the sweep has no repeats.
inline constexpr size_t kNotAxis = static_cast<size_t>(-1);
size_t SeedAxis(const Results& results);

// Reads all journals of the folders, which must belong to one sweep. If several folders have a point, the
// last folder's record is used. Errors: folders without results, folders of several sweeps, a journal whose
// start is damaged.
absl::StatusOr<Results> LoadResults(const std::vector<std::string>& folders);

// All metrics of a point that has ended.
PointMetrics MetricsOf(const Space& space, const Place& place, const proto::PointRecord& record);

// The means of the metrics that all repeats have. Precondition: not empty.
PointMetrics MeanOf(const std::vector<const PointMetrics*>& repeats);

// The cost of a point: the value of the objective from the records of its places, negated if more is better.
// For a repeated point, the objective uses the means over the repeats that did not fail. nullopt if all
// repeats failed or the objective has no value.
std::optional<double> CostOf(const Space& space, const std::vector<Place>& places,
                             const std::vector<const proto::PointRecord*>& records);

}  // namespace chakra::sweep
