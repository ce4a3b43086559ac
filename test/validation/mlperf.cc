#include "test/validation/mlperf.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/csv_line.h"
#include "trace/base/median.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

constexpr char kSplits[] = "405B, splits alone";

// The sets in the order of the page, with the largest median of |error|. The same runs as those of "405B" are
// in kSplits.
struct Set {
  const char* name;
  double most_median;
};
constexpr Set kSets[] = {{"GPT-3", 0.06}, {"405B", 0.06},          {kSplits, 0.02},
                         {"8B", 0.08},    {"70B, adapters", 0.12}, {"70B, adapters, AMD", 0.10}};

std::string Digits(double seconds) { return absl::StrFormat("%.4g", seconds); }

absl::Status ReadRow(const CsvLine& line, MlperfRow* row) {
  MeasuredStep& step = row->step;
  for (const auto& [column, to] : {std::pair("set", &step.set),
                                   {"run", &row->run},
                                   {"cluster", &step.cluster},
                                   {"model", &step.model},
                                   {"parallel", &step.parallel},
                                   {"training", &step.training}}) {
    if (absl::Status s = line.Read(column, to); !s.ok()) return s;
  }
  const bool known =
      std::any_of(std::begin(kSets), std::end(kSets), [&](const Set& s) { return step.set == s.name; });
  if (!known) return line.Error("set", absl::StrCat("is \"", step.set, "\"; expected a set of mlperf.cc"));
  absl::Status s = line.Read("devices", &row->devices);
  if (s.ok()) s = line.Read("measured_s", &step.measured_s);
  if (s.ok()) s = line.Read("predicted_s", &step.predicted_s);
  return s;
}

// All rows of round 5.1 but kSplits; `trained`: only those that train all weights.
std::vector<const MlperfRow*> OfLastRound(const std::vector<MlperfRow>& rows, bool trained) {
  std::vector<const MlperfRow*> out;
  for (const MlperfRow& row : rows) {
    const bool adapters = absl::StrContains(row.step.set, "adapters");
    if (absl::StrContains(row.run, "5.1 ") && row.step.set != kSplits && !(trained && adapters))
      out.push_back(&row);
  }
  return out;
}

std::vector<const MlperfRow*> Of(const std::vector<MlperfRow>& rows, const std::string& set) {
  std::vector<const MlperfRow*> out;
  for (const MlperfRow& row : rows) {
    if (set.empty() ? row.step.set != kSplits : row.step.set == set) out.push_back(&row);
  }
  return out;
}

double MedianError(const std::vector<const MlperfRow*>& rows) {
  std::vector<double> sizes;
  for (const MlperfRow* row : rows) sizes.push_back(std::abs(row->step.error()));
  return sizes.empty() ? HUGE_VAL : Median(sizes);
}

void AppendSummary(const std::string& title, const std::vector<const MlperfRow*>& rows, std::string* out) {
  if (rows.empty()) return;
  double sum = 0, sizes = 0, worst = 0;
  for (const MlperfRow* row : rows) {
    sum += row->step.error();
    sizes += std::abs(row->step.error());
    worst = std::max(worst, std::abs(row->step.error()));
  }
  const auto n = static_cast<double>(rows.size());
  absl::StrAppendFormat(out, "| %s | %d | %.1f %% | %.1f %% | %+.1f %% | %.1f %% |\n", title, rows.size(),
                        100 * sizes / n, 100 * MedianError(rows), 100 * sum / n, 100 * worst);
}

}  // namespace

std::string MlperfRow::Line() const {
  return absl::StrFormat("\"%s\",\"%s\",%s,%d,%s,\"%s\",\"%s\",%.6g,%.4g,%+.1f\n", step.set, run,
                         step.cluster, devices, step.model, step.parallel, step.training, step.measured_s,
                         step.predicted_s, 100 * step.error());
}

absl::StatusOr<std::vector<MlperfRow>> ReadMlperf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  std::vector<MlperfRow> rows;
  const absl::Status s =
      ForEachLine(*text, [&](const CsvLine& line) { return ReadRow(line, &rows.emplace_back()); });
  if (!s.ok()) return absl::Status(s.code(), absl::StrCat(path, ": ", s.message()));
  return rows;
}

std::string MlperfCsv(const std::vector<MlperfRow>& rows) {
  std::string out = "set,run,cluster,devices,model,parallel,training,measured_s,predicted_s,error_percent\n";
  for (const MlperfRow& row : rows) absl::StrAppend(&out, row.Line());
  return out;
}

absl::Status PredictMlperf(size_t every, std::vector<MlperfRow>* rows) {
  std::vector<MeasuredStep> steps;
  for (size_t i = every / 2; i < rows->size(); i += every) steps.push_back((*rows)[i].step);
  if (absl::Status s = PredictSteps(&steps, 2); !s.ok()) return s;
  for (size_t i = every / 2, k = 0; i < rows->size(); i += every, ++k) {
    // The digits of the file, so that errors are the same whether a prediction is new or kept.
    if (!absl::SimpleAtod(Digits(steps[k].predicted_s), &(*rows)[i].step.predicted_s))
      return absl::InternalError("a prediction is not a number");
  }
  return absl::OkStatus();
}

std::string MlperfTables(const std::vector<MlperfRow>& rows) {
  std::string out =
      "| rows | number | mean of errors' sizes | median | mean error | worst |\n|---|---|---|---|---|---|\n";
  for (const Set& set : kSets) AppendSummary(set.name, Of(rows, set.name), &out);
  AppendSummary("round 5.1", OfLastRound(rows, false), &out);
  AppendSummary("round 5.1 without adapters", OfLastRound(rows, true), &out);
  AppendSummary("all", Of(rows, ""), &out);
  for (const Set& set : kSets) {
    absl::StrAppend(&out, "\n### ", set.name,
                    "\n\n| run | cluster | devices | step, s | predicted, s | error |\n",
                    "|---|---|---|---|---|---|\n");
    for (const MlperfRow* row : Of(rows, set.name)) {
      absl::StrAppendFormat(&out, "| %s | %s | %d | %.4g | %.4g | %+.1f %% |\n", row->run, row->step.cluster,
                            row->devices, row->step.measured_s, row->step.predicted_s,
                            100 * row->step.error());
    }
  }
  return out;
}

std::vector<Finding> CheckMlperf(const std::vector<MlperfRow>& rows) {
  std::vector<Finding> findings;
  for (const Set& set : kSets) {
    const std::vector<const MlperfRow*> of_set = Of(rows, set.name);
    const double median = MedianError(of_set);
    findings.push_back(
        {absl::StrFormat("%s: %d steps are off by %.1f %% in the median; expected at most %.1f %%", set.name,
                         of_set.size(), 100 * median, 100 * set.most_median),
         median <= set.most_median});
  }
  return findings;
}

}  // namespace chakra::validation
