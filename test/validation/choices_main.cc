// The fastest split by `plan`, against measured steps of several splits of one model on one cluster.
//
//   choices_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER has training_iterations_vtrain.csv and training_simumax_b200.csv. Prints the table; --out writes
// choices.csv and choices.md; --compare expects the same bytes in a folder; --check checks the bounds of
// kBounds.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/choices.h"
#include "test/validation/program.h"

namespace chakra::validation {
namespace {

// In percent: the least share of pairs of splits in order, and the most that the chosen split loses, in the
// mean over groups.
struct ChoiceBounds {
  const char* dataset;
  double pairs_right;
  double regret;
};
constexpr ChoiceBounds kBounds[] = {
    {"vTrain, one node", 70, 15}, {"vTrain, several nodes", 70, 10}, {"SimuMax, B200", 75, 10}};

std::vector<Finding> CheckChoices(const std::vector<Choice>& choices) {
  std::vector<Finding> findings;
  const std::vector<ChoiceSummary> summaries = SummarizeChoices(choices);
  for (const ChoiceBounds& bound : kBounds) {
    Finding finding{absl::StrCat("no rows of ", bound.dataset)};
    for (const ChoiceSummary& s : summaries) {
      if (s.dataset != bound.dataset) continue;
      finding.ok = 100 * s.pairs_right >= bound.pairs_right && 100 * s.regret <= bound.regret;
      finding.text = absl::StrFormat(
          "%s: %.1f %% of pairs in order, expected at least %.0f %%; the choice loses %.1f %% in the mean, "
          "expected at most %.0f %%",
          s.dataset, 100 * s.pairs_right, bound.pairs_right, 100 * s.regret, bound.regret);
    }
    findings.push_back(finding);
  }
  return findings;
}

int Run(const Program& program) {
  auto rows = ReadSplits(program.input());
  if (!rows.ok()) return program.Fail(rows.status());
  if (const absl::Status s = PredictSplits(&*rows); !s.ok()) return program.Fail(s);
  const std::vector<Choice> choices = ChoicesOf(*rows);
  const std::string page = ChoicesMarkdown(choices);
  std::fputs(page.c_str(), stdout);
  return program.Keep({{"choices.csv", ChoicesCsv(choices)}, {"choices.md", page}}) |
         program.Check(CheckChoices(choices));
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("choices_validation", "FOLDER");
  const int status = program.Parse(argc, argv, false);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
