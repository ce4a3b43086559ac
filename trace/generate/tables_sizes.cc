#include "trace/generate/tables_sizes.h"

#include <algorithm>
#include <limits>

namespace chakra::generate {
namespace {

// Bytes of the update of `rows` rows: all are read and written.
int64_t UpdateBytes(const TrainingPlan& t, int64_t rows, int64_t dim) {
  return 2 * (rows * dim * TableBytes(t.table_dtype) + TableStateBytes(t.table_optimizer, rows, dim));
}

}  // namespace

RoleSizes::RoleSizes(const StepPlan& plan, int64_t role)
    : ranks(plan.split.dp),
      samples(plan.training.global_batch),
      own_samples(plan.training.micro_batch),
      dim(plan.tables.dim),
      element_bytes(plan.element_bytes()),
      row_bytes(TableBytes(plan.training.table_dtype)),
      alone(plan.table_plan.Sum(TablePlace::kOneRank)),
      own(SumOfRole(plan.tables, plan.table_plan, role)),
      by_rows(plan.table_plan.Sum(TablePlace::kRows)),
      copied(plan.table_plan.Sum(TablePlace::kCopied)) {
  if (std::max({alone.most_rows, by_rows.most_rows, copied.most_rows}) > std::numeric_limits<int32_t>::max())
    index_bytes = 8;
}

int64_t RoleSizes::rows() const {
  int64_t rows = own.rows + copied.rows;
  for (const Table& table : by_rows.each) rows += ShareOf(table.rows, ranks);
  return rows;
}

int64_t RoleSizes::own_update_bytes(const TrainingPlan& t) const {
  int64_t rows = 0;
  for (const Table& table : own.each) rows += RowsMet(table.rows, samples * table.pooling);
  return UpdateBytes(t, rows, dim);
}

int64_t RoleSizes::row_update_bytes(const TrainingPlan& t) const {
  int64_t rows = 0;
  for (const Table& table : by_rows.each)
    rows += ShareOf(RowsMet(table.rows, samples * table.pooling), ranks);
  return UpdateBytes(t, rows, dim);
}

int64_t DenseStateBytes(const TrainingPlan& t) {
  return t.optimizer == proto::Training::ADAM || t.optimizer == proto::Training::ADAMW ? 8 : 4;
}

}  // namespace chakra::generate
