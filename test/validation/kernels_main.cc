// Published measurements of kernels against interpolation in the tables that they make, and against transfer
// from device to device: tables, and the figures that must hold.
//
//   kernels_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER is shared/data: validation/ there has device_microbench_azure.csv and model_latency_neusight.csv,
// kineto/ the captures of PredictCapturedPairs(). --out writes kernels.csv, kernel_transfers.csv,
// kernel_predictions.csv and kernels.md; --compare wants the same bytes in a folder; --check wants the median
// error of each set of tables to be at most a tenth, and what CheckPredictions() wants. Exit status: 0 all
// holds; 1 a figure, a file or the input does not; 2 the command line is wrong; 77 there are no measurements.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/kernel_figures.h"
#include "test/validation/kernel_predictions.h"
#include "trace/base/median.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

constexpr double kMostMedian = 0.10;

using Files = std::vector<std::pair<std::string, std::string>>;  // name and content

int Fail(const std::string& what) {
  std::fprintf(stderr, "kernels_validation: %s\n", what.c_str());
  return 1;
}

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

int Check(const std::vector<LeftOut>& rows) {
  int status = 0;
  std::vector<std::string> sets;
  for (const LeftOut& r : rows) {
    if (!sets.empty() && sets.back() == r.set) continue;
    sets.push_back(r.set);
    const std::vector<double> errors = Errors(rows, r.set);
    const bool ok = !errors.empty() && Median(errors) <= kMostMedian;
    std::printf(
        "%s  %s: %zu rows found from the others, off by %.1f %% in the median; expected at most %.0f %%\n",
        ok ? "ok  " : "FAIL", r.set.c_str(), errors.size(), 100 * Median(errors), 100 * kMostMedian);
    if (!ok) status = 1;
  }
  return status;
}

int Run(const std::string& folder, const std::string& out, const std::string& compare, bool check) {
  if (!std::filesystem::exists(folder)) {
    std::fprintf(stderr, "kernels_validation: SKIPPED: %s is absent\n", folder.c_str());
    return 77;
  }
  std::vector<MeasuredTable> tables;
  if (absl::Status s = Read(folder, &tables); !s.ok()) return Fail(std::string(s.message()));
  const std::vector<LeftOut> left_out = LeaveOneOut(tables);
  const auto transferred = TransferAll(tables);
  if (!transferred.ok()) return Fail(std::string(transferred.status().message()));
  const auto predicted = Predict(folder, tables);
  if (!predicted.ok()) return Fail(std::string(predicted.status().message()));
  const auto dlrm = DlrmMarkdown(folder);
  if (!dlrm.ok()) return Fail(std::string(dlrm.status().message()));
  const Files files = {
      {"kernels.csv", LeftOutCsv(left_out)},
      {"kernel_transfers.csv", TransferredCsv(*transferred)},
      {"kernel_predictions.csv", PredictionsCsv(*predicted)},
      {"kernels.md", KernelsMarkdown(left_out, *transferred) + PredictionsMarkdown(*predicted) + *dlrm}};
  int status = 0;
  for (const auto& [name, content] : files) {
    if (!out.empty()) {
      const absl::Status s = WriteFile(absl::StrCat(out, "/", name), content);
      if (!s.ok()) return Fail(std::string(s.message()));
    }
    if (compare.empty()) continue;
    const std::string path = absl::StrCat(compare, "/", name);
    const auto kept = ReadFile(path);
    if (kept.ok() && *kept == content) continue;
    status = Fail(absl::StrCat(
        path, " is not what the code gives now; to write it anew: build/test/kernels_validation ", folder,
        " --out ", compare));
  }
  return check ? std::max({status, Check(left_out), CheckPredictions(*predicted)}) : status;
}

int Main(const std::vector<std::string>& arguments) {
  std::string folder, out, compare;
  bool check = false, usage = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--check") {
      check = true;
    } else if ((a == "--out" || a == "--compare") && i + 1 < arguments.size()) {
      (a == "--out" ? out : compare) = arguments[++i];
    } else if (folder.empty() && !a.empty() && a[0] != '-') {
      folder = a;
    } else {
      usage = true;
    }
  }
  if (usage || folder.empty() || !(check || !out.empty() || !compare.empty())) {
    std::fprintf(
        stderr,
        "usage: kernels_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER], one of the three at "
        "least\n");
    return 2;
  }
  return Run(folder, out, compare, check);
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  return chakra::validation::Main(std::vector<std::string>(argv + 1, argv + argc));
}
