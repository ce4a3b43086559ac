// Published measurements of kernels against interpolation in their own tables, and against transfer from
// device to device: tables, and checks of figures.
//
//   kernels_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER is shared/data: its validation/ has device_microbench_azure.csv and model_latency_neusight.csv, its
// kineto/ has the captures of PredictCapturedPairs(). --out writes kernels.csv, kernel_transfers.csv,
// kernel_predictions.csv and kernels.md; --compare expects the same bytes in a folder; --check expects a
// median error of at most a tenth for each set of tables, and runs CheckPredictions().
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/kernel_figures.h"
#include "test/validation/kernel_predictions.h"
#include "test/validation/program.h"
#include "trace/base/median.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

constexpr double kMostMedian = 0.10;

absl::Status Read(const std::string& folder, std::vector<MeasuredTable>* tables) {
  const auto add = [&](const std::string& name, const auto& parse) {
    const std::string path = absl::StrCat(folder, "/validation/", name);
    const auto text = ReadFile(path);
    if (!text.ok()) return text.status();
    auto parsed = parse(*text);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ", ", parsed.status().message()));
    }
    for (MeasuredTable& t : *parsed) tables->push_back(std::move(t));
    return absl::OkStatus();
  };
  absl::Status s = add("device_microbench_azure.csv", ParseAzure);
  for (bool with_bytes : {true, false}) {
    s.Update(add("model_latency_neusight.csv",
                 [&](const std::string& text) { return ParseNeusight(text, with_bytes); }));
  }
  return s;
}

absl::StatusOr<std::vector<Predicted>> Predict(const std::string& folder,
                                               const std::vector<MeasuredTable>& tables) {
  std::vector<MeasuredTable> azure;
  for (const MeasuredTable& t : tables) {
    if (t.set == "Azure GEMM") azure.push_back(t);
  }
  const auto text = ReadFile(absl::StrCat(folder, "/validation/model_latency_neusight.csv"));
  if (!text.ok()) return text.status();
  std::vector<Predicted> all;
  for (const auto& some : {PredictNeusight(*text), PredictAzure(azure), PredictCapturedPairs(folder)}) {
    if (!some.ok()) return some.status();
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

std::vector<Finding> Check(const std::vector<LeftOut>& rows) {
  std::vector<Finding> findings;
  std::set<std::string> sets;
  for (const LeftOut& r : rows) {
    if (!sets.insert(r.set).second) continue;
    const std::vector<double> errors = Errors(rows, r.set);
    findings.push_back(
        {absl::StrFormat(
             "%s: %d rows found from the others, off by %.1f %% in the median; expected at most %.0f %%",
             r.set, errors.size(), 100 * Median(errors), 100 * kMostMedian),
         !errors.empty() && Median(errors) <= kMostMedian});
  }
  return findings;
}

int Run(const Program& program) {
  const std::string& folder = program.input();
  std::vector<MeasuredTable> tables;
  if (absl::Status s = Read(folder, &tables); !s.ok()) return program.Fail(s);
  const std::vector<LeftOut> left_out = LeaveOneOut(tables);
  const auto transferred = TransferAll(tables);
  if (!transferred.ok()) return program.Fail(transferred.status());
  const auto predicted = Predict(folder, tables);
  if (!predicted.ok()) return program.Fail(predicted.status());
  const auto dlrm = DlrmMarkdown(folder);
  if (!dlrm.ok()) return program.Fail(dlrm.status());
  const int kept = program.Keep(
      {{"kernels.csv", LeftOutCsv(left_out)},
       {"kernel_transfers.csv", TransferredCsv(*transferred)},
       {"kernel_predictions.csv", PredictionsCsv(*predicted)},
       {"kernels.md", KernelsMarkdown(left_out, *transferred) + PredictionsMarkdown(*predicted) + *dlrm}});
  return program.check() ? std::max({kept, program.Check(Check(left_out)), CheckPredictions(*predicted)})
                         : kept;
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("kernels_validation", "FOLDER");
  const int status = program.Parse(argc, argv, true);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
