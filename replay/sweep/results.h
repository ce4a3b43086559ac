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
  uint64_t number = 0;  // its place in the sweep
  std::string id;
  Place place;
  PointMetrics metrics;       // with Sweep.metric
  std::string error;          // not empty: it failed
  proto::PointRecord record;  // as in the journal
};

struct Results {
  std::shared_ptr<const proto::SweepStart> start;  // whose sweep `space` is of
  std::optional<Space> space;
  std::vector<ResultRow> rows;       // by number
  std::vector<std::string> metrics;  // names of columns: Sweep.metric, makespan_ps, the others by name
  uint64_t points = 0;               // of the sweep; of a search those that it asked for so far
  uint64_t failed = 0;
  uint64_t damaged = 0;  // lines of journals
  FilesByInputs files;   // none of journals written before they were kept
  std::vector<std::string> warnings;

  const std::string& Axis(const ResultRow& row, size_t axis) const {
    return space->axes()[axis].values[row.place[axis]].text;
  }
  // Axes by name, for expressions.
  Lookup AxesOf(const ResultRow& row) const;
};

// The axis of repeats, the last; kNotAxis where there are none.
inline constexpr size_t kNotAxis = static_cast<size_t>(-1);
size_t SeedAxis(const Results& results);

// Reads all journals of the folders, which must be of one sweep. A later folder counts where both have a
// point. Errors: folders without results, of several sweeps, a journal whose beginning is damaged.
absl::StatusOr<Results> LoadResults(const std::vector<std::string>& folders);

// All metrics of a point that has ended.
PointMetrics MetricsOf(const Space& space, const Place& place, const proto::PointRecord& record);

// Means of the metrics that all have. Precondition: not empty.
PointMetrics MeanOf(const std::vector<const PointMetrics*>& repeats);

// What the objective says of a point, by the records of its places (several where it was repeated: by the
// means of those that did not fail), turned so that less is better; nothing where all failed or the objective
// has no value there.
std::optional<double> CostOf(const Space& space, const std::vector<Place>& places,
                             const std::vector<const proto::PointRecord*>& records);

}  // namespace chakra::sweep
