// Interpolates between measured kernel times; never extrapolates.
//
// Rows with the same name, dtypes and pattern of shapes form a group. They are points in the space of the
// logarithms of the dimensions in which they differ. A node inside their convex hull is answered from the
// rows of the Delaunay cell that contains the node (convex_weights.h). The interpolated quantity is the
// logarithm of (time / model), where the model start + operations / rate + bytes / bandwidth (work_fit.h) is
// fitted to all rows of the group. Therefore the answer is exact at rows, follows the work between rows, and
// keeps the kernel's local efficiency. For rows without shapes, the dimensions are operations and bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/kernel_table.pb.h"
#include "replay/compute/kernel_table.h"
#include "trace/base/units.h"

namespace chakra {

class KernelInterpolation {
 public:
  enum class Outcome {
    kAnswered,
    kNoRows,   // fewer than two rows have the node's name, dtypes and pattern
    kOutside,  // the node is outside the hull of these rows
  };

  struct Result {
    Outcome outcome = Outcome::kNoRows;
    Time duration;
    // The possible error of the duration, as a share of the duration. It is the larger of two numbers: how
    // much (time / model) differs among the rows used; and the largest error when a row used is left out and
    // found from the others. Only rows inside the hull of the others can be found so; if there are none, the
    // second number is the difference between the answer and a power law between the rows. The rows' own
    // error is added.
    double error = 0;
  };

  // Precondition: KernelTableIndex::Make() accepts `table`. Rows without time, and rows whose shapes do not
  // parse, are skipped. "*" in a name is not a wildcard here.
  explicit KernelInterpolation(const proto::KernelTable& table);
  ~KernelInterpolation();
  KernelInterpolation(KernelInterpolation&&) noexcept;

  // The time of a node that has no row in the table. The node's dtypes must equal those of the rows, unless
  // the rows have none. Cost: one to some tens of passes over the rows of the group.
  Result Find(const KernelQuery& query) const;

  // Finds each row from the other rows of its group. Returns the ratio of found to measured time, by the
  // row's index in the table; nullopt for a row that is in no group or outside the hull of the others. Each
  // row costs a pass over its group. In a group of more than `most` rows only `most` rows, evenly spread, are
  // tried; the others get nullopt.
  std::vector<std::optional<double>> LeaveOneOut(size_t most = SIZE_MAX) const;

  // The number of rows in groups.
  size_t grouped() const;
  size_t groups() const { return groups_.size(); }

 private:
  class Group;
  using Key = std::tuple<std::string, std::string, std::string>;  // name, dtypes, pattern

  std::map<Key, std::unique_ptr<Group>> groups_;
  size_t rows_ = 0;
};

}  // namespace chakra
