// Settings of optimizers of whole matrices (Muon, SOAP).
#pragma once

#include "absl/status/status.h"
#include "proto/workload.pb.h"
#include "trace/generate/block.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// How the ranks of dp get whole matrices if a training does not say so.
proto::Training::MatrixSharding DefaultMatrixSharding(proto::Training::Framework framework, int zero);
// Fills in TrainingPlan::matrix. Precondition: `split`, and the optimizer and framework of `out`, are known.
// Errors: settings of these optimizers with another one.
absl::Status TakeMatrixPlan(const proto::Training& t, const Split& split, TrainingPlan* out);
// Operations of a matrix's update on one rank, if the rank has it whole (a GEMM of m, n, k has 2 m n k): of
// Muon with n <= m, 4 n^2 m + 2 n^3 for each step of three coefficients (Jordan, 2024).
double MatrixOperations(const TrainingPlan& training, const WeightMatrix& matrix);
// Errors: a sharding that cuts matrices, with one that does not; combinations that are not generated.
absl::Status CheckMatrixPlan(const StepPlan& plan);

}  // namespace chakra::generate
