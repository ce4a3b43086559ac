// Which of several splits of one model on one cluster is the fastest: what `plan` says against what was
// measured.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::validation {

// One measured split.
struct MeasuredSplit {
  std::string group;                               // the same model, cluster, ranks and, of vTrain, batch
  std::string dataset;                             // "vTrain, one node", ...
  std::string cluster, model, parallel, training;  // as options of `replay`
  std::string split;                               // for people
  double sequences = 0;                            // of a step
  double measured_s = 0;
  double predicted_s = 0;  // of the closed form

  // Steps of a group may differ in size.
  double measured() const { return measured_s / sequences; }
  double predicted() const { return predicted_s / sequences; }
};

// vTrain's and SimuMax's tables, in their order. Errors name the file, line and column.
absl::StatusOr<std::vector<MeasuredSplit>> ReadSplits(const std::string& folder);
// Fills predicted_s.
absl::Status PredictSplits(std::vector<MeasuredSplit>* rows);

// One group of at least three splits.
struct Choice {
  std::string group, dataset;
  size_t splits = 0;
  std::string measured_best, predicted_best;
  double regret = 0;  // the split that is predicted the fastest took so much longer than the fastest: a share
  bool three = false;  // the three fastest measured are predicted in that order, but for pairs within kNoise
  size_t pairs = 0;    // of splits whose measured times are further apart than kNoise
  size_t pairs_right = 0;  // of these, predicted in the measured order
};
// Two measured times that differ by less are taken as equal.
inline constexpr double kNoise = 0.02;

std::vector<Choice> ChoicesOf(const std::vector<MeasuredSplit>& rows);

// Figures of one dataset.
struct ChoiceSummary {
  std::string dataset;
  size_t groups = 0, splits = 0;
  size_t best = 0;         // groups whose predicted best is within kNoise of the fastest
  size_t three = 0;        // groups with the three in order
  double regret = 0;       // mean
  double worst = 0;        // regret
  double pairs_right = 0;  // share of all pairs
};
std::vector<ChoiceSummary> SummarizeChoices(const std::vector<Choice>& choices);

std::string ChoicesCsv(const std::vector<Choice>& choices);
std::string ChoicesMarkdown(const std::vector<Choice>& choices);

}  // namespace chakra::validation
