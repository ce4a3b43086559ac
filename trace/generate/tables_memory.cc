// The peak memory of a rank of a recommendation model.
#include <algorithm>

#include "trace/generate/memory.h"
#include "trace/generate/tables_sizes.h"

namespace chakra::generate {
namespace {

// Features of a sample that the backward pass of the MLPs and the interaction reads: inputs and outputs of
// layers (an activation changes its input in place), the concatenated vectors, and of a cross layer its input
// and the outputs of its two GEMMs.
int64_t KeptFeatures(const TableModel& m) {
  int64_t features = m.dense + m.top_input() + m.crossed();
  for (const int64_t width : m.bottom) features += width;
  for (const int64_t width : m.top) features += width;
  return features + m.cross_layers * (2 * m.crossed() + m.cross_rank);
}

}  // namespace

RankMemory MemoryOfTables(const StepPlan& p, int64_t role) {
  const RoleSizes s(p, role);
  const TrainingPlan& t = p.training;
  const int64_t dense = DenseParameters(p.tables), dim = s.dim;
  RankMemory out;
  const int64_t rows = s.rows();
  // Copied tables are PyTorch's embeddings with gradients, and use the optimizer of the MLPs.
  const int64_t trained = dense + s.copied.rows * dim;
  out.weights = s.row_bytes * (rows - s.copied.rows) * dim + 4 * trained;
  out.gradients = 4 * trained;
  out.optimizer =
      DenseStateBytes(t) * trained + TableStateBytes(t.table_optimizer, rows - s.copied.rows, dim);
  const int64_t lookups = s.own_lookups() + s.row_lookups() + s.copied_lookups();
  // Indices and the offsets of bags, for this batch, and for the next one if its indices are exchanged in
  // advance.
  const int64_t bags = s.samples * (s.own.tables + s.by_rows.tables) + s.own_samples * s.copied.tables;
  out.activations = s.element_bytes * s.own_samples * KeptFeatures(p.tables) +
                    8 * (lookups + bags) * (p.table_plan.overlap_indices ? 2 : 1);
  const int64_t exchanged =
      s.exchanges() ? s.vectors_sent() + s.vectors_got() + s.parts() + s.own_parts() : s.vectors_sent();
  // Keys of 8 bytes and positions of 4 bytes, before and after the sort.
  const int64_t sorted = 2 * (8 + 4) * std::max(s.own_lookups(), s.row_lookups());
  const int64_t buckets = s.ranks > 1 ? 4 * trained : 0;
  const int64_t cast = s.element_bytes < 4 ? s.element_bytes * dense : 0;
  out.working = exchanged + sorted + buckets + cast;
  out.in_flight = 1;
  return out;
}

}  // namespace chakra::generate
