// Where the work of nodes is after an edit took them apart, joined or replaced them.
//
// A dependency may release a row part of the way through a node (Dep::release). The part counts from the
// begin of that node, so it has to be worked out again when the node's work becomes that of other nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/edit/draft.h"

namespace chakra::edit {

// Old rows and the new rows that stand in their place, each in the order in which they run. A point of the
// old rows' work is at the same part of the whole of the new rows' work.
class WorkPlaces {
 public:
  // Weighs rows by their recorded durations, else operations, else bytes, whatever first is not 0 for all of
  // them; else all rows weigh the same. Preconditions: neither list is empty; the old rows have the values
  // that they had before the edit, the new rows those that they have after it.
  WorkPlaces(const std::vector<Row>& old_rows, const std::vector<Row>& new_rows);

  // Of a dependency on old row `i`, by its number: the number of the new row that does what is waited for,
  // and when in that row's work it is done. The end of an old row is the end of the last new row, for what
  // the rows make is there when all of them are done.
  struct Place {
    size_t row = 0;
    int64_t release = kReleaseAtEnd;
  };
  Place Of(size_t i, int64_t release) const;

 private:
  std::vector<int64_t> old_ends_, new_ends_;  // sums of weights
};

// Makes the rows that depend on old_rows[i], row `from`, depend on where its work is in `chain`.
void MoveChildrenTo(Draft* draft, const WorkPlaces& places, size_t i, uint32_t from,
                    const std::vector<uint32_t>& chain);

}  // namespace chakra::edit
