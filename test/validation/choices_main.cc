// What `plan` calls the fastest split against measured steps of several splits of one model on one cluster.
//
//   choices_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER has training_iterations_vtrain.csv and training_simumax_b200.csv. Prints the table; --out writes
// choices.csv and choices.md; --compare wants the same bytes in a folder; --check wants the shares of
// kBounds. Exit status: 0 all holds; 1 a figure, a file or the input does not; 2 the command line is wrong;
// 77 there are no measurements.
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/validation/choices.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

// At least so many of a hundred pairs of splits in order, and at most so much lost by the split that is
// chosen, in percent, in the mean over groups.
struct ChoiceBounds {
  const char* dataset;
  double pairs_right;
  double regret;
};
constexpr ChoiceBounds kBounds[] = {
    {"vTrain, one node", 70, 15}, {"vTrain, several nodes", 70, 10}, {"SimuMax, B200", 75, 10}};

int FailChoices(const std::string& what) {
  std::fprintf(stderr, "choices_validation: %s\n", what.c_str());
  return 1;
}

int CheckChoices(const std::vector<Choice>& choices) {
  int status = 0;
  for (const ChoiceBounds& bound : kBounds) {
    bool found = false;
    for (const ChoiceSummary& s : SummarizeChoices(choices)) {
      if (s.dataset != bound.dataset) continue;
      found = true;
      const bool ok = 100 * s.pairs_right >= bound.pairs_right && 100 * s.regret <= bound.regret;
      std::printf(
          "%s  %s: %.1f %% of pairs in order, expected at least %.0f %%; the choice loses %.1f %% in the "
          "mean, expected "
          "at most %.0f %%\n",
          ok ? "ok  " : "FAIL", s.dataset.c_str(), 100 * s.pairs_right, bound.pairs_right, 100 * s.regret,
          bound.regret);
      if (!ok) status = 1;
    }
    if (!found) status = FailChoices(absl::StrCat("no rows of ", bound.dataset));
  }
  return status;
}

int CompareChoices(const std::string& folder, const std::string& compare, const std::string& name,
                   const std::string& content) {
  const std::string path = absl::StrCat(compare, "/", name);
  const auto kept = ReadFile(path);
  if (kept.ok() && *kept == content) return 0;
  return FailChoices(absl::StrCat(path, kept.ok() ? " is not what the code gives now" : " cannot be read",
                                  "; to write it anew: build/test/choices_validation ", folder, " --out ",
                                  compare));
}

int RunChoices(const std::string& folder, const std::string& out, const std::string& compare, bool check) {
  if (!std::filesystem::exists(folder)) {
    std::fprintf(stderr, "choices_validation: %s is not there: skipped\n", folder.c_str());
    return 77;
  }
  auto rows = ReadSplits(folder);
  if (!rows.ok()) return FailChoices(std::string(rows.status().message()));
  if (const absl::Status s = PredictSplits(&*rows); !s.ok()) return FailChoices(std::string(s.message()));
  const std::vector<Choice> choices = ChoicesOf(*rows);
  const std::pair<std::string, std::string> files[] = {{"choices.csv", ChoicesCsv(choices)},
                                                       {"choices.md", ChoicesMarkdown(choices)}};
  std::fputs(files[1].second.c_str(), stdout);
  int status = 0;
  for (const auto& [name, content] : files) {
    if (!out.empty()) {
      if (const absl::Status s = WriteFile(absl::StrCat(out, "/", name), content); !s.ok())
        return FailChoices(std::string(s.message()));
    }
    if (!compare.empty()) status |= CompareChoices(folder, compare, name, content);
  }
  if (check) status |= CheckChoices(choices);
  return status;
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  std::string folder, out, compare;
  bool check = false, usage = false;
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    if ((args[i] == "--out" || args[i] == "--compare") && i + 1 < args.size()) {
      (args[i] == "--out" ? out : compare) = args[i + 1];
      ++i;
    } else if (args[i] == "--check") {
      check = true;
    } else if (folder.empty() && !args[i].empty() && args[i][0] != '-') {
      folder = args[i];
    } else {
      usage = true;
    }
  }
  if (usage || folder.empty()) {
    std::fprintf(stderr, "usage: choices_validation FOLDER [--out FOLDER] [--check] [--compare FOLDER]\n");
    return 2;
  }
  return chakra::validation::RunChoices(folder, out, compare, check);
}
