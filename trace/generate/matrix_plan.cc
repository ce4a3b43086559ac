#include "trace/generate/matrix_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/generate/block.h"
#include "trace/generate/not_yet.h"

namespace chakra::generate {
namespace {

using proto::Training;

std::string NameOfOptimizer(const StepPlan& p) {
  return absl::AsciiStrToLower(Training::Optimizer_Name(p.training.optimizer));
}

std::string NameOfSharding(Training::MatrixSharding sharding) {
  return absl::AsciiStrToLower(Training::MatrixSharding_Name(sharding));
}

absl::Status RefuseValue(absl::string_view field, absl::string_view found, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", found, "; expected ", expected));
}

// Each way to share has one place in the frameworks, since elsewhere shares cut matrices.
absl::Status CheckMatrixSharding(const StepPlan& p) {
  const Split& s = p.split;
  const bool megatron = p.training.framework == Training::MEGATRON;
  const std::string with =
      absl::StrCat("with training.optimizer=", NameOfOptimizer(p),
                   " and matrix_sharding=", NameOfSharding(p.training.matrix.sharding), " expected ");
  const auto zero = [&](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.zero is ", s.zero, "; ", with, expected));
  };
  const auto framework = [&](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "training.framework is ", absl::AsciiStrToLower(Training::Framework_Name(p.training.framework)), "; ",
        with, expected));
  };
  switch (p.training.matrix.sharding) {
    case Training::LAYERWISE:
      if (!megatron) return framework("megatron");
      if (s.zero != 1)
        return zero("1, as in Megatron-LM: ranks own whole weights and have all gradients; the nearest is 1");
      return absl::OkStatus();
    case Training::ALL_TO_ALL:
      return p.training.framework == Training::FSDP ? absl::OkStatus() : framework("fsdp");
    case Training::GATHERED:
      if (!megatron) return framework("megatron, whose states DeepSpeed has");
      if (s.zero == 0) return zero("1 to 3; the nearest is 1");
      return absl::OkStatus();
    default:
      if (s.zero == 0) return absl::OkStatus();
      return zero(absl::StrCat("0, since the shares of ranks cut matrices; or matrix_sharding=",
                               p.training.framework == Training::FSDP ? "all_to_all"
                               : s.zero == 1                          ? "layerwise"
                                                                      : "gathered, or parallel.zero=1"));
  }
}

absl::Status CheckMatrixTp(const StepPlan& p) {
  const Training::MatrixTp tp = p.training.matrix.tp;
  if (p.split.tp > 1 && p.training.framework != Training::MEGATRON) {
    return RefuseValue("parallel.tp", absl::StrCat(p.split.tp),
                       absl::StrCat("1 with training.optimizer=", NameOfOptimizer(p),
                                    ", since ranks of tp cut matrices; or framework=megatron, where "
                                    "matrix_tp=duplicated gathers their parts"));
  }
  if (tp != Training::BLOCKWISE && p.training.optimizer == Training::SOAP)
    return NotYet("training.matrix_tp with optimizer=soap", "matrix_tp=blockwise");
  return absl::OkStatus();
}

// The update of a rank's matrices must fit into 64-bit integers, and its nodes into memory. Ranks that share
// the work have fewer nodes.
absl::Status CheckMatrixWork(const StepPlan& p) {
  constexpr double kMostOperations = 1e18;
  constexpr int64_t kMostUpdates = 1 << 18;
  const Blocks blocks(p);
  std::vector<int64_t> copies(blocks.kinds().size());
  for (int64_t layer = 0; layer < p.model.layers + p.model.mtp; ++layer) ++copies[blocks.KindOf(layer)];
  double operations = 0;
  int64_t updates = 0;
  for (size_t kind = 0; kind < copies.size(); ++kind) {
    for (const Operation& op : blocks.kinds()[kind].operations) {
      const int64_t ranks = op.expert ? p.split.etp : p.split.tp;
      WeightMatrix joined;
      for (const WeightMatrix& m : op.matrices) {
        const int64_t rows = joined.rows + m.rows;
        joined = m;
        joined.rows = rows;
      }
      if (joined.cut == WeightMatrix::kRows) joined.rows *= ranks;
      if (joined.cut == WeightMatrix::kColumns) joined.columns *= ranks;
      const int64_t all = copies[kind] * (op.matrices.empty() ? 0 : joined.count);
      operations += static_cast<double>(all) * MatrixOperations(p.training, joined);
      const bool shared = p.training.matrix.sharding != Training::REPEATED;
      updates += all / (shared ? p.split.holders(op.expert) : 1);
    }
  }
  if (operations >= kMostOperations) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.hidden is ", p.model.hidden, "; with training.optimizer=", NameOfOptimizer(p),
                     " expected matrices whose updates have less than 1e18 operations, found ", operations));
  }
  if (updates > kMostUpdates) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.dp is ", p.split.dp, " and parallel.ep ",
                                                   p.split.ep, ": a rank updates ", updates,
                                                   " matrices; expected at most ", kMostUpdates));
  }
  return absl::OkStatus();
}

}  // namespace

Training::MatrixSharding DefaultMatrixSharding(Training::Framework framework, int zero) {
  return framework == Training::FSDP ? Training::ALL_TO_ALL
         : zero == 1                 ? Training::LAYERWISE
                                     : Training::REPEATED;
}

absl::Status TakeMatrixPlan(const proto::Training& t, const Split& split, TrainingPlan* out) {
  const bool muon = out->optimizer == Training::MUON;
  const struct {
    const char* field;
    bool given, applies;
  } fields[] = {{"matrix_sharding", t.has_matrix_sharding(), out->by_matrix()},
                {"matrix_tp", t.has_matrix_tp(), out->by_matrix()},
                {"muon_steps", t.has_muon_steps(), muon},
                {"muon_coefficients", t.has_muon_coefficients(), muon},
                {"muon_split_qkv", t.has_muon_split_qkv(), muon},
                {"muon_nesterov", t.has_muon_nesterov(), muon},
                {"muon_moment", t.has_muon_moment(), muon}};
  for (const auto& f : fields) {
    if (f.given && !f.applies)
      return absl::InvalidArgumentError(
          absl::StrCat("training.", f.field, " is for Muon; expected training.optimizer=muon too",
                       absl::string_view(f.field).substr(0, 6) == "matrix" ? ", or soap" : ""));
  }
  if (!out->by_matrix()) return absl::OkStatus();
  MatrixPlan& m = out->matrix;
  m.sharding =
      t.has_matrix_sharding() ? t.matrix_sharding() : DefaultMatrixSharding(out->framework, split.zero);
  m.tp = t.matrix_tp();
  if (t.has_muon_steps()) m.steps = t.muon_steps();
  if (t.has_muon_coefficients()) m.coefficients = t.muon_coefficients();
  m.split_qkv = !t.has_muon_split_qkv() || t.muon_split_qkv();
  m.nesterov = t.muon_nesterov();
  m.moment = t.muon_moment();
  return absl::OkStatus();
}

double MatrixOperations(const TrainingPlan& training, const WeightMatrix& matrix) {
  const auto n = static_cast<double>(std::min(matrix.rows, matrix.columns)),
             m = static_cast<double>(std::max(matrix.rows, matrix.columns));
  // SOAP: four products with the bases, and the products of both factors.
  if (training.optimizer == Training::SOAP) return 6 * n * m * (n + m);
  const double cube = training.matrix.coefficients == 3 ? 2 * n * n * n : 0;
  return static_cast<double>(training.matrix.steps) * (4 * n * n * m + cube);
}

absl::Status CheckMatrixPlan(const StepPlan& p) {
  if (!p.training.by_matrix()) return absl::OkStatus();
  if (p.training.dtype == Training::FP16)
    return RefuseValue("training.dtype", "fp16",
                       absl::StrCat("bf16, fp8 or fp32 with training.optimizer=", NameOfOptimizer(p),
                                    ", as in Megatron-LM; the nearest is bf16"));
  if (p.training.frozen())
    return NotYet(absl::StrCat("training.lora with optimizer=", NameOfOptimizer(p)),
                  "lora=0, optimizer=adamw");
  if (p.split.copies > 1)
    return NotYet(absl::StrCat("parallel.copies with training.optimizer=", NameOfOptimizer(p)),
                  "copies=1, optimizer=adamw");
  RETURN_IF_ERROR(CheckMatrixSharding(p));
  const auto sharding = p.training.matrix.sharding;
  if (p.training.optimizer == Training::SOAP && sharding != Training::REPEATED &&
      sharding != Training::LAYERWISE)
    return NotYet(absl::StrCat("training.matrix_sharding=", NameOfSharding(sharding), " with optimizer=soap"),
                  "layerwise, repeated");
  RETURN_IF_ERROR(CheckMatrixTp(p));
  return CheckMatrixWork(p);
}

}  // namespace chakra::generate
