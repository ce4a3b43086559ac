// Where the work of nodes is after an edit split, fused or replaced them.
//
// A dependency may release a row part of the way through a node (Dep::release). This part counts from the
// start of the node, so it must be recomputed if the node's work becomes that of other nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/edit/draft.h"

namespace chakra::edit {

// Old rows and the new rows that replace them, each in the order in which they run. A point in the work of
// the old rows corresponds to the point at the same fraction of the work of the new rows.
class WorkPlaces {
 public:
  // Weights rows by recorded duration, operations or bytes: the first of these whose sum over the rows is not
  // 0. If all are 0, all rows weigh the same. Preconditions: neither list is empty; the old rows have their
  // values from before the edit, the new rows their values from after it.
  WorkPlaces(const std::vector<Row>& old_rows, const std::vector<Row>& new_rows);

  // For a dependency on old row `i`: the number of the new row that does the required work, and the part of
  // this row at which the work is done. The end of an old row is the end of the last new row, because the
  // results of the rows are complete only then.
  struct Place {
    size_t row = 0;
    int64_t release = kReleaseAtEnd;
  };
  Place Of(size_t i, int64_t release) const;

 private:
  std::vector<int64_t> old_ends_, new_ends_;  // sums of weights
};

// Makes the rows that depend on old_rows[i], which is row `from`, depend on the row in `chain` that has its
// work.
void MoveChildrenTo(Draft* draft, const WorkPlaces& places, size_t i, uint32_t from,
                    const std::vector<uint32_t>& chain);

}  // namespace chakra::edit
