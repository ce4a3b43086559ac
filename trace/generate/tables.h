// Recommendation models (DLRM): sizes, counts, and the placement of tables on ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

struct StepPlan;
struct RankMemory;
class StageGraph;

struct Table {
  int64_t rows = 0;
  int64_t pooling = 1;  // rows in a sample's bag
};

// proto::Model of a recommendation model.
struct TableModel {
  std::vector<Table> tables;
  int64_t dim = 0, dense = 0;        // features of a row; numbers of a sample
  std::vector<int64_t> bottom, top;  // features after each layer
  int64_t cross_layers = 0, cross_rank = 0;

  bool any() const { return !tables.empty(); }
  int64_t count() const { return static_cast<int64_t>(tables.size()); }
  // Vectors of a sample: one for each table, and that of the bottom MLP.
  int64_t vectors() const { return count() + 1; }
  // Features of the input of the cross layers.
  int64_t crossed() const { return vectors() * dim; }
  // Number of dot products of pairs of vectors; each pair counts once.
  int64_t pairs() const { return vectors() * (vectors() - 1) / 2; }
  // Features of the input of the top MLP: the output of the cross layers, or the bottom's vector and the
  // pairs (facebookresearch/dlrm, interact_features).
  int64_t top_input() const { return cross_layers > 0 ? crossed() : dim + pairs(); }
};

enum class TablePlace : uint8_t { kOneRank, kRows, kCopied };
inline constexpr int kTablePlaces = 3;

// The sums over a set of tables.
struct TableSum {
  int64_t tables = 0, rows = 0, pooling = 0;
  int64_t most_rows = 0;  // of one table
  std::vector<Table> each;
};

// The placement of tables on ranks.
struct TablePlan {
  std::vector<TablePlace> place;           // by table
  std::vector<std::vector<int32_t>> held;  // by rank: the tables that only this rank holds, ascending
  // By role: the tables of its first rank. Ranks have one role if they hold equal numbers of tables of the
  // same sizes.
  std::vector<std::vector<int32_t>> roles;
  std::vector<int32_t> role_of_rank;
  bool overlap_indices = true, overlap_vectors = false;
  TableSum sums[kTablePlaces];  // by TablePlace

  const TableSum& Sum(TablePlace place) const { return sums[static_cast<size_t>(place)]; }
};

TableSum SumOfRole(const TableModel& model, const TablePlan& plan, int64_t role);

// Reads a proto::Model with `tables` or `table_rows`. Errors (InvalidArgument) name the field, its value and
// what was expected: a list of another length, widths that do not match, a field of transformers.
absl::StatusOr<TableModel> ResolveTables(const proto::Model& model);
bool IsOfTables(const proto::Model& model);
// Checks that a transformer's workload has no fields of recommendation models. Errors (InvalidArgument) name
// the field.
absl::Status CheckWithoutTables(const proto::Workload& workload);

// The step of a workload with a recommendation model. Its ranks are those of parallel.dp. Errors
// (InvalidArgument): those of ResolveTables(); a batch that does not divide; fields of --parallel and
// --training that are for transformers, with an alternative.
absl::StatusOr<StepPlan> ResolveTableStep(const proto::Workload& workload);

// The placement of tables. A table that no list of `parallel` names is shared by rows if its bytes and its
// optimizer's exceed a rank's equal share of all tables. Each other table is on one rank. They are placed in
// the order of the bytes that their lookups move (the rows of a bag that are read, and a vector that is
// written), the largest first: each on the rank whose lookups so far move the fewest bytes, then on the one
// with the fewest bytes of tables, then on the first (Graham, "Bounds on Multiprocessing Timing Anomalies",
// 1969). Errors name the list.
absl::StatusOr<TablePlan> PlaceTables(const TableModel& model, const proto::Workload& workload,
                                      int64_t ranks);

// Bytes of the states that a table's optimizer keeps.
int64_t TableStateBytes(proto::Training::TableOptimizer optimizer, int64_t rows, int64_t dim);
// Bytes of an element of a table's rows.
inline int64_t TableBytes(proto::Training::Dtype dtype) { return dtype == proto::Training::FP32 ? 4 : 2; }

struct TableParameters {
  int64_t tables = 0, bottom = 0, cross = 0, top = 0;
  int64_t dense() const { return bottom + cross + top; }
  int64_t total() const { return tables + dense(); }
};
TableParameters CountParameters(const TableModel& model);
// TableParameters::dense(), without a look at each table.
int64_t DenseParameters(const TableModel& model);
// Operations (a multiplication and an addition are two) of training a sample: each GEMM three times, except
// that of the first layer, whose input has no gradient, twice; all dot products of a sample, where each pair
// counts twice and each vector with itself, as in the batched GEMM. Sums of rows, activations and the
// optimizer do not count.
double TrainingFlopsPerSample(const TableModel& model);

// The expected number of distinct rows of a table in `bags` lookups, if all rows are equally likely: n (1 -
// (1 - 1/n)^bags), rounded. Real data have fewer.
int64_t RowsMet(int64_t rows, int64_t bags);

// The graph of the ranks of a role in a step (TorchRec's DistributedModelParallel, DistributedDataParallel
// for MLPs):
// - forward: the bottom MLP; lookups of the rank's tables for all samples; vectors go to the ranks of their
//   samples (all-to-all; for tables that all ranks share by rows, whose sums are partial, reduce-scatter);
//   interaction; the top MLP; the loss. With `overlap_vectors` the lookups come before the bottom MLP.
// - indices go to the ranks of their tables (all-to-alls of sizes, of bags' lengths and of indices; 4 bytes
// each,
//   except 3 sizes of 8 bytes for each rank): those of the next batch after the forward pass, or those of
//   this batch before it.
// - backward: the vectors' gradients go back (all-to-all, all-gather), and the kernel that computes the
// gradients
//   of rows updates the rows. Gradients of the MLPs are all-reduced in buckets of 25 MiB, the first of 1 MiB;
//   gradients of copied tables are reduced separately; then the optimizer runs.
// The bytes of an all-to-all are what the rank sends or what it receives, whichever is more.
StageGraph BuildTableStage(const StepPlan& plan, int64_t role);

// The memory of each rank of a role: rows and states of its tables; the MLPs in fp32 with gradients and
// states; what the backward pass reads. Working memory: buffers of exchanges, buffers of a sort of indices
// (keys and positions, in and out), the buckets, and with autocast the MLPs' weights in the dtype of GEMMs.
RankMemory MemoryOfTables(const StepPlan& plan, int64_t role);

}  // namespace chakra::generate
