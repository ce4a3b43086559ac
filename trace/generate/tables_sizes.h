// What a role of a step of tables moves and holds.
#pragma once

#include <cstdint>

#include "trace/generate/sizes.h"
#include "trace/generate/tables.h"

namespace chakra::generate {

struct RoleSizes {
  RoleSizes(const StepPlan& plan, int64_t role);

  int64_t ranks = 1, samples = 0, own_samples = 0;  // of the step, of a rank
  int64_t dim = 0, element_bytes = 2, row_bytes = 4;
  int64_t index_bytes = 4;        // of an index on its way: 8 where a table has more rows than 31 bits count
  TableSum alone;                 // tables of one rank each, all of them
  TableSum own, by_rows, copied;  // those of this role; those of all ranks

  // Rows that a rank holds: of its own tables, of its share of those that all share, of copied ones.
  int64_t rows() const;
  bool exchanges() const { return ranks > 1 && alone.tables + by_rows.tables > 0; }
  // Indices that a rank looks up: in its own tables, in its share of those that all share (as each row is as
  // likely as the others), in copied ones.
  int64_t own_lookups() const { return samples * own.pooling; }
  int64_t row_lookups() const { return ShareOf(samples * by_rows.pooling, ranks); }
  int64_t copied_lookups() const { return own_samples * copied.pooling; }

  // Bytes of collectives: of an all-to-all what a rank sends or what it gets.
  int64_t sizes_sent() const { return 3 * 8 * ranks; }
  int64_t lengths_sent() const { return 4 * own_samples * (alone.tables + ranks * by_rows.tables); }
  int64_t lengths_got() const { return 4 * samples * (own.tables + by_rows.tables); }
  int64_t indices_sent() const { return index_bytes * own_samples * (alone.pooling + by_rows.pooling); }
  int64_t indices_got() const { return index_bytes * (own_lookups() + row_lookups()); }
  int64_t vectors_sent() const { return element_bytes * samples * own.tables * dim; }
  int64_t vectors_got() const { return element_bytes * own_samples * alone.tables * dim; }
  // Sums of parts, of all samples; and those of a rank's samples.
  int64_t parts() const { return element_bytes * samples * by_rows.tables * dim; }
  int64_t own_parts() const { return element_bytes * own_samples * by_rows.tables * dim; }

  // Bytes that the update of rows reads and writes, with their states: of each row that the step meets once.
  int64_t own_update_bytes(const TrainingPlan& training) const;
  int64_t row_update_bytes(const TrainingPlan& training) const;
};

// Elements of the MLPs and cross layers on each rank, and what the optimizer keeps for each, in bytes.
int64_t DenseStateBytes(const TrainingPlan& training);

}  // namespace chakra::generate
