// Models of tables (DLRM): sizes, which rank holds which rows, counts.
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
  int64_t pooling = 1;  // rows of a sample's bag
};

// proto::Model of a model of tables.
struct TableModel {
  std::vector<Table> tables;
  int64_t dim = 0, dense = 0;        // features of a row; numbers of a sample
  std::vector<int64_t> bottom, top;  // features behind each layer
  int64_t cross_layers = 0, cross_rank = 0;

  bool any() const { return !tables.empty(); }
  int64_t count() const { return static_cast<int64_t>(tables.size()); }
  // Vectors of a sample: one of each table, and that of the bottom MLP.
  int64_t vectors() const { return count() + 1; }
  // Features that the cross layers take.
  int64_t crossed() const { return vectors() * dim; }
  // Dot products of pairs of vectors, each once.
  int64_t pairs() const { return vectors() * (vectors() - 1) / 2; }
  // Features that the top MLP takes: what the cross layers make, or the bottom's vector and the pairs
  // (facebookresearch/dlrm, interact_features).
  int64_t top_input() const { return cross_layers > 0 ? crossed() : dim + pairs(); }
};

enum class TablePlace : uint8_t { kOneRank, kRows, kCopied };

// Which rank of `ranks` holds what of the tables.
struct TablePlan {
  std::vector<TablePlace> place;           // by table
  std::vector<std::vector<int32_t>> held;  // by rank: the tables that it alone holds, ascending
  // By role, the tables of its first rank. Ranks have one role where they hold as many tables of the same
  // sizes.
  std::vector<std::vector<int32_t>> roles;
  std::vector<int32_t> role_of_rank;
  bool overlap_indices = true, overlap_vectors = false;
};

// What a set of tables comes to. Letters: B samples of a step.
struct TableSum {
  int64_t tables = 0, rows = 0, pooling = 0;
  std::vector<Table> each;
};
TableSum SumOf(const TableModel& model, const TablePlan& plan, TablePlace place);
TableSum SumOfRole(const TableModel& model, const TablePlan& plan, int64_t role);

// proto::Model with `tables` or `table_rows`. Errors (InvalidArgument) name the field, its value and what was
// expected: a list of another length, widths that do not fit, a field of transformers.
absl::StatusOr<TableModel> ResolveTables(const proto::Model& model);
bool IsOfTables(const proto::Model& model);
// A transformer's workload without fields of tables. Errors (InvalidArgument) name the field.
absl::Status CheckWithoutTables(const proto::Workload& workload);

// The step of a workload whose model has tables. Ranks are those of parallel.dp. Errors (InvalidArgument):
// those of ResolveTables(); a batch that does not divide; fields of --parallel and --training that are for
// transformers, with what would do.
absl::StatusOr<StepPlan> ResolveTableStep(const proto::Workload& workload);

// Where tables lie. A table that no list of `parallel` names is shared by rows if it has more bytes, its
// optimizer's with them, than a rank's equal share of all tables. The others lie on one rank each: those
// whose lookups move most bytes come first (bags of pooling rows that are read, and a vector that is
// written), each to the rank whose lookups move least so far, then to the one that holds fewest bytes, then
// to the first (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969). Errors name the list.
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
// Operations (a multiplication and an addition are two) of training a sample: each product three times, but
// for that of the first layer, whose input has no gradient, twice; all of a sample's dot products, each pair
// twice and each vector with itself, as the batched product makes them. Without sums of rows, activations and
// optimizer.
double TrainingFlopsPerSample(const TableModel& model);

// Rows of a table that `bags` random rows meet, where each row is as likely as the others: n (1 - (1 -
// 1/n)^bags), rounded. Real data meet fewer.
int64_t RowsMet(int64_t rows, int64_t bags);

// What the ranks of a role do in a step (TorchRec's DistributedModelParallel, DistributedDataParallel for
// MLPs):
// - forward: the bottom MLP; lookups of the rank's tables for all samples; vectors go to the ranks of their
//   samples (all-to-all; of tables that all share by rows, whose sums are of parts, reduce-scatter);
//   interaction; the top MLP; the loss. `overlap_vectors` has the lookups before the bottom MLP.
// - indices go to the ranks of their tables (all-to-alls of sizes, of bags' lengths and of indices, 4 bytes
//   each but for 3 sizes of 8 for each rank): those of the next batch behind the forward pass, or those of
//   this one before it.
// - backward: the vectors' gradients go back (all-to-all, all-gather), and the kernel that makes rows'
//   gradients updates the rows. Gradients of the MLPs are all-reduced in buckets of 25 MiB, the first of 1
//   MiB, those of copied tables apart; then the optimizer runs.
// An all-to-all has the bytes of what the rank sends or of what it gets, whichever is more.
StageGraph BuildTableStage(const StepPlan& plan, int64_t role);

// Of each rank of a role. Rows and states of its tables; the MLPs in fp32 with gradients and states; what the
// backward pass reads; as working memory what exchanges send and get, what a sort of indices takes (keys and
// places, in and out), the buckets, and with autocast the MLPs' weights in the type of products.
RankMemory MemoryOfTables(const StepPlan& plan, int64_t role);

}  // namespace chakra::generate
