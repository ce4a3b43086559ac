// Kernel times between those that were measured, never beyond.
//
// Rows of one name, dtypes and pattern of shapes that differ in their dimensions are points in the space of
// the logarithms of these. A node inside their convex hull is answered from the Delaunay cell in which it
// lies (convex_weights.h): not the time is interpolated but, in logarithms, what the time is to a model of
// the group, start + operations / rate + bytes / bandwidth (work_fit.h), fitted to all of its rows. So the
// answer is exact where a row is, follows the work between rows, and keeps what the kernel's efficiency does
// around. Rows without shapes that have operations or bytes are points in the logarithms of these, likewise.
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
    kNoRows,   // no two rows of its name, dtypes and pattern
    kOutside,  // there are, but the node lies outside of their hull
  };

  struct Result {
    Outcome outcome = Outcome::kNoRows;
    Time duration;
    // How far off the duration may be, as a share of it: by how much the rows around it differ in what they
    // are to the model, or the largest error with which those of them are found from the others that do not
    // lie at the rim, if that is more; where all lie there, by how far the answer is from a power law between
    // them. The error of the rows themselves is added.
    double error = 0;
  };

  // `table` must be one that KernelTableIndex::Make takes. Left out: rows of no time, shapes that do not
  // parse. A "*" in a name is no wildcard here.
  explicit KernelInterpolation(const proto::KernelTable& table);
  ~KernelInterpolation();
  KernelInterpolation(KernelInterpolation&&) noexcept;

  // Of a node that has no row of its own; the dtypes must be those of the rows, or theirs empty. One call
  // costs a pass or some tens over the rows of the group.
  Result Find(const KernelQuery& query) const;

  // Each row in turn found from the others: the ratio of what is found to what was measured, by the row's
  // place in the table; nullopt where it is in no group, or outside of the others' hull. Of a group with more
  // than `most` rows, so many of them, evenly spread, the others nullopt: each costs a pass over the group.
  std::vector<std::optional<double>> LeaveOneOut(size_t most = SIZE_MAX) const;

  // Rows that are in a group, with others.
  size_t grouped() const;
  size_t groups() const { return groups_.size(); }

 private:
  class Group;
  using Key = std::tuple<std::string, std::string, std::string>;  // name, dtypes, pattern

  std::map<Key, std::unique_ptr<Group>> groups_;
  size_t rows_ = 0;
};

}  // namespace chakra
