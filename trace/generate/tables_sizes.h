// The bytes that a role of a recommendation model's step moves and holds.
#pragma once

#include <cstdint>

#include "trace/generate/sizes.h"
#include "trace/generate/tables.h"

namespace chakra::generate {

// Refers to the plan, which must outlive it.
struct RoleSizes {
  RoleSizes(const StepPlan& plan, int64_t role);

  int64_t ranks = 1, samples = 0, own_samples = 0;  // samples of the step; own_samples: of a rank
  int64_t dim = 0, element_bytes = 2, row_bytes = 4;
  // bytes of an index in exchanges: 8 if a table has more rows than 31 bits can count
  int64_t index_bytes = 4;
  const TableSum& alone;             // all tables that are each on a single rank
  TableSum own;                      // the tables of `alone` on this role's rank
  const TableSum &by_rows, &copied;  // tables of all ranks

  // Rows on a rank: of its own tables, of its share of tables that are shared by rows, and of copied tables.
  int64_t rows() const;
  bool exchanges() const { return ranks > 1 && alone.tables + by_rows.tables > 0; }
  // Indices that a rank looks up: in its own tables, in its share of tables that are shared by rows (all rows
  // are equally likely), and in copied tables.
  int64_t own_lookups() const { return samples * own.pooling; }
  int64_t row_lookups() const { return ShareOf(samples * by_rows.pooling, ranks); }
  int64_t copied_lookups() const { return own_samples * copied.pooling; }

  // Bytes of collectives: what a rank sends to or gets from an all-to-all.
  int64_t sizes_sent() const { return 3 * 8 * ranks; }
  int64_t lengths_sent() const { return 4 * own_samples * (alone.tables + ranks * by_rows.tables); }
  int64_t lengths_got() const { return 4 * samples * (own.tables + by_rows.tables); }
  int64_t indices_sent() const { return index_bytes * own_samples * (alone.pooling + by_rows.pooling); }
  int64_t indices_got() const { return index_bytes * (own_lookups() + row_lookups()); }
  int64_t vectors_sent() const { return element_bytes * samples * own.tables * dim; }
  int64_t vectors_got() const { return element_bytes * own_samples * alone.tables * dim; }
  // Bytes of the partial sums of tables that are shared by rows: for all samples, and for a rank's own
  // samples.
  int64_t parts() const { return element_bytes * samples * by_rows.tables * dim; }
  int64_t own_parts() const { return element_bytes * own_samples * by_rows.tables * dim; }

  // Bytes that the update of rows reads and writes, including their states. Each row that the step uses
  // counts once.
  int64_t own_update_bytes(const TrainingPlan& training) const;
  int64_t row_update_bytes(const TrainingPlan& training) const;
};

// Bytes that the optimizer keeps for each element of the MLPs and cross layers.
int64_t DenseStateBytes(const TrainingPlan& training);

}  // namespace chakra::generate
