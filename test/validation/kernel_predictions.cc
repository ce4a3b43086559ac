#include "test/validation/kernel_predictions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/calls.h"
#include "replay/report/run_replay.h"
#include "test/validation/csv_line.h"
#include "test/validation/kernel_figures.h"
#include "test/validation/kernel_models.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

constexpr double kMost = 0.15;
constexpr char kNeusight[] = "NeuSight", kAzure[] = "Azure GEMM", kCaptured[] = "captured on both";

// Kernel models by device, each made once.
class Models {
 public:
  absl::StatusOr<const KernelModel*> Of(const std::string& device) {
    auto at = models_.find(device);
    if (at == models_.end()) {
      const auto found = FindDevice(device);
      if (!found.ok()) return found.status();
      auto model = KernelModel::Create(*found);
      if (!model.ok()) return model.status();
      at = models_.emplace(device, *std::move(model)).first;
    }
    return &at->second;
  }

 private:
  std::map<std::string, KernelModel> models_;
};

struct Pair {
  const char* program;
  const char* files[2];
  const char* presets[2];
};
constexpr Pair kPairs[] = {
    {"Qwen1.5-0.5B",
     {"kineto/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
      "kineto/mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"},
     {"dgx-h100", "mi300x"}},
    {"bert-small",
     {"kineto/h100_gaunernst_bert-small-uncased__1016001.json.gz",
      "kineto/mi300_gaunernst_bert-small-uncased__1016001.json.gz"},
     {"dgx-h100", "mi300x"}},
};

// The time in which the device computes, in us; `cluster` "": as recorded.
absl::StatusOr<double> Busy(const std::string& path, const std::string& cluster) {
  TraceOptions input;
  input.inputs = {path};
  const auto traces = LoadTraces(input);
  if (!traces.ok()) return traces.status();
  RunOptions run;
  run.cluster = cluster;
  const auto report = RunReplay(*traces, run);
  if (!report.ok()) return report.status();
  return static_cast<double>(report->rank(0).compute_busy_ps()) * 1e-6;
}

double Error(const Predicted& p) { return std::abs(p.found_us / p.measured_us - 1); }

std::vector<Predicted> OfSet(const std::vector<Predicted>& rows, const std::string& set,
                             const std::string& where = "") {
  std::vector<Predicted> out;
  for (const Predicted& p : rows) {
    if (p.set == set && (where.empty() || p.where == where)) out.push_back(p);
  }
  return out;
}

double MedianError(const std::vector<Predicted>& rows) {
  std::vector<double> errors;
  for (const Predicted& p : rows) errors.push_back(Error(p));
  return Median(errors);
}

std::string PredictionLine(const std::string& set, const std::string& where,
                           const std::vector<Predicted>& rows) {
  std::vector<double> signs, others;
  double worst = 0;
  int within = 0, ranged = 0;
  for (const Predicted& p : rows) {
    signs.push_back(p.found_us / p.measured_us - 1);
    worst = std::max(worst, Error(p));
    if (p.other_us > 0) others.push_back(std::abs(p.other_us / p.measured_us - 1));
    if (p.high_us > 0) {
      ++ranged;
      if (p.low_us <= p.measured_us && p.measured_us <= p.high_us) ++within;
    }
  }
  return absl::StrFormat("| %s | %s | %d | %s | %+.1f %% | %s | %s | %s |\n", set, where, rows.size(),
                         Percent(MedianError(rows)), 100 * Median(signs), Percent(worst),
                         ranged == 0 ? "-" : absl::StrCat(within, " of ", ranged),
                         others.empty() ? "-" : Percent(Median(others)));
}

}  // namespace

absl::StatusOr<std::vector<Predicted>> PredictNeusight(const std::string& text) {
  Models models;
  std::vector<Predicted> out;
  const absl::Status status = ForEachLine(text, [&](const CsvLine& line) {
    std::string model, device, mode;
    int sequence = 0, batch = 0;
    double ms = 0;
    absl::Status s;
    s.Update(line.Read("model", &model));
    s.Update(line.Read("device", &device));
    s.Update(line.Read("mode", &mode));
    s.Update(line.Read("seq_len", &sequence));
    s.Update(line.Read("batch", &batch));
    s.Update(line.Read("measured_e2e_ms", &ms));
    const auto option = line.Text("option(dp4/tp4/pp4=4 GPUs; fusion)");
    const auto theirs = line.Text("neusight_pred_ms");
    s.Update(option.status());
    s.Update(theirs.status());
    if (!s.ok()) return s;
    const std::vector<OperatorCalls> operators = ModelOperators(model, sequence, batch, mode == "train");
    if (operators.empty() || !option->empty()) return absl::OkStatus();
    const auto of = models.Of(device);
    if (!of.ok()) return of.status();
    const auto time = PassTime(**of, operators);
    if (!time.ok()) return time.status();
    double other = 0;
    if (!absl::SimpleAtod(*theirs, &other)) other = 0;
    out.push_back({kNeusight, absl::StrCat(device, " ", mode), absl::StrCat(model, " batch ", batch),
                   ms * 1e3, time->us, time->low_us, time->high_us, other * 1e3});
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<std::vector<Predicted>> PredictAzure(const std::vector<MeasuredTable>& tables) {
  Models models;
  std::vector<Predicted> out;
  for (const MeasuredTable& t : tables) {
    const auto of = models.Of(t.device);
    if (!of.ok()) return of.status();
    for (int i = 0; i < t.table.row_size(); ++i) {
      const proto::KernelRow& row = t.table.row(i);
      const FamilyCalls calls = CallsOfKernel({row.name(), "mm", row.shapes(), row.dtypes()}, 2);
      const auto time = PredictAll(**of, calls.calls);
      if (!time.ok()) return time.status();
      out.push_back({t.set, t.label, t.row[i], row.duration_us(), time->us, time->low_us, time->high_us});
    }
  }
  return out;
}

absl::StatusOr<std::vector<Predicted>> PredictCapturedPairs(const std::string& folder) {
  std::vector<Predicted> out;
  for (const Pair& pair : kPairs) {
    double recorded[2];
    for (int i : {0, 1}) {
      const auto busy = Busy(absl::StrCat(folder, "/", pair.files[i]), "");
      if (!busy.ok()) return busy.status();
      recorded[i] = *busy;
    }
    for (int from : {0, 1}) {
      const int to = 1 - from;
      const auto busy = Busy(absl::StrCat(folder, "/", pair.files[from]), pair.presets[to]);
      if (!busy.ok()) return busy.status();
      out.push_back({kCaptured, absl::StrCat(pair.presets[from], " to ", pair.presets[to]), pair.program,
                     recorded[to], *busy, 0, 0, recorded[from]});
    }
  }
  return out;
}

absl::StatusOr<std::string> DlrmMarkdown(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/param/dlrm/kineto");
  if (!std::filesystem::exists(path)) return std::string();
  const auto v100 = Busy(path, ""), a100 = Busy(path, "dgx-a100");
  if (!v100.ok()) return v100.status();
  if (!a100.ok()) return a100.status();
  return absl::StrFormat(R"(
## DLRM from V100 to A100

No step was captured on both. Published: NVIDIA/DeepLearningExamples, README.md of PyTorch/Recommendation/DLRM and of
TensorFlow2's DLRM, V100 32 GB against A100 80 GB.

| what | times as fast |
|---|---|
| the captured step of 8 V100 (`param/dlrm`), time in which a device computes, by the model | %.2f |
| inference, 2,048 samples, mixed precision, TensorFlow 2 | 1.47 |
| training, 1 GPU, 65,536 samples, mixed precision, PyTorch | 1.92 |
| training, 8 GPUs, 8,192 samples each, mixed precision, PyTorch, DGX-2 to DGX A100 | 2.08 |
| the same, DGX-1 to DGX A100 | 2.38 |
| bandwidth of memory, data sheets | 2.27 |

The captured kernels take 4 us in the median, and their start counts on both devices; its gathers are carried by 1.73. The
smaller the work of a kernel, the smaller are the published ratios, too. From FP32 to TF32 training gains 4.3, which
no kernel recorded in FP32 is carried to.
)",
                         *v100 / *a100);
}

std::string PredictionsCsv(const std::vector<Predicted>& rows) {
  std::string out = "set,where,row,measured_us,found_us,low_us,high_us,error_percent,other_us\n";
  for (const Predicted& p : rows) {
    absl::StrAppend(&out, p.set, ",", p.where, ",", p.row,
                    absl::StrFormat(",%.6g,%.4g,%.4g,%.4g,%+.1f,%.4g\n", p.measured_us, p.found_us, p.low_us,
                                    p.high_us, 100 * (p.found_us / p.measured_us - 1), p.other_us));
  }
  return out;
}

std::string PredictionsMarkdown(const std::vector<Predicted>& rows) {
  std::string out = R"(
## Prediction: the kernel model on what it was not fitted to

`kernel_predictions.csv` has every row. "In range": measurements within the range in which 90 of 100 are to lie. "Other":
the median error of NeuSight's own predictor, whose authors trained it on such kernels; for captures, the error of taking
the first device's time.

- NeuSight: passes of whole models in fp32, every operator on its own, priced operator by operator. One list of operators
  serves all devices (`kernel_models.cc`).
- Azure: products of cuBLASLt, asked as such (`kernel` is `cublas`).
- Captured on both: a capture of one device replayed on the preset of the other.

| set | where | rows | median | signed | largest | in range | other |
|---|---|---|---|---|---|---|---|
)";
  std::vector<std::pair<std::string, std::string>> groups;
  for (const Predicted& p : rows) groups.emplace_back(p.set, p.where);
  std::stable_sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto& [set, where] = groups[i];
    absl::StrAppend(&out, PredictionLine(set, where, OfSet(rows, set, where)));
    if (i + 1 == groups.size() || groups[i + 1].first != set)
      absl::StrAppend(&out, PredictionLine(set, "**all**", OfSet(rows, set)));
  }
  return out;
}

int CheckPredictions(const std::vector<Predicted>& rows) {
  int status = 0;
  const auto check = [&](const std::string& what, double error) {
    const bool ok = error <= kMost;
    std::printf("%s  %s: off by %s; expected at most %s\n", ok ? "ok  " : "FAIL", what.c_str(),
                Percent(error).c_str(), Percent(kMost).c_str());
    if (!ok) status = 1;
  };
  for (const char* set : {kNeusight, kAzure}) {
    const std::vector<Predicted> of_set = OfSet(rows, set);
    check(absl::StrCat(set, ", the median of ", of_set.size()), of_set.empty() ? 1 : MedianError(of_set));
  }
  for (const Predicted& p : OfSet(rows, kCaptured)) check(absl::StrCat(p.row, ", ", p.where), Error(p));
  return status;
}

}  // namespace chakra::validation
