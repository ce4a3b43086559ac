// The fastest of several splits of one model on one cluster: the choice of `plan` against measurements.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::validation {

// One measured split.
struct MeasuredSplit {
  std::string group;  // of the same model, cluster and ranks; in vTrain's rows, also of the same batch
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
  double regret = 0;   // how much longer the predicted fastest split took than the measured fastest; a share
  bool three = false;  // the three measured fastest are predicted in that order, except pairs within kNoise
  size_t pairs = 0;    // pairs of splits whose measured times differ by more than kNoise
  size_t pairs_right = 0;  // those of these pairs that are predicted in the measured order
};
// Two measured times that differ by less count as equal.
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
