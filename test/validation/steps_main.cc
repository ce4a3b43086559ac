// Published times of training steps against generated steps: tables, and the figures that must hold.
//
//   steps_validation FOLDER [--every N] [--threads N] [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER is shared/data. --every takes each N-th row of each source. --out writes steps.csv and steps.md; --compare wants
// each row's line in the folder's steps.csv; --check wants the figures of CheckSteps(). Exit status: 0 all holds; 1 a
// figure, a file or the input does not; 2 the command line is wrong; 77 there are no measurements.
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/validation/steps.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

struct Options {
  std::string folder, out, compare;
  int every = 1, threads = 0;
  bool check = false;
};

int Fail(const std::string& what) {
  std::fprintf(stderr, "steps_validation: %s\n", what.c_str());
  return 1;
}

int Compare(const std::vector<MeasuredStep>& steps, const Options& o) {
  const std::string path = absl::StrCat(o.compare, "/steps.csv");
  const absl::StatusOr<std::string> kept = ReadFile(path);
  if (!kept.ok()) return Fail(std::string(kept.status().message()));
  const std::set<std::string> lines = absl::StrSplit(*kept, '\n');
  const std::vector<std::string> now = absl::StrSplit(StepsCsv(steps), '\n');
  for (const std::string& line : now) {
    if (lines.contains(line)) continue;
    return Fail(absl::StrCat(path, " lacks what the code gives now: ", line,
                             "; to write it anew: build/test/steps_validation ", o.folder, " --out ", o.compare));
  }
  return 0;
}

int Check(const std::vector<MeasuredStep>& steps) {
  int status = 0;
  for (const Finding& f : CheckSteps(steps)) {
    std::printf("%s  %s\n", f.ok ? "ok  " : "FAIL", f.text.c_str());
    if (!f.ok) status = 1;
  }
  return status;
}

int Run(const Options& o) {
  if (!std::filesystem::exists(o.folder)) {
    std::fprintf(stderr, "steps_validation: SKIPPED: %s is absent\n", o.folder.c_str());
    return 77;
  }
  auto steps = ReadSteps(absl::StrCat(o.folder, "/validation"), static_cast<size_t>(o.every));
  if (!steps.ok()) return Fail(std::string(steps.status().message()));
  if (absl::Status s = PredictSteps(&*steps, o.threads); !s.ok()) return Fail(std::string(s.message()));
  if (!o.out.empty()) {
    absl::Status s = WriteFile(absl::StrCat(o.out, "/steps.csv"), StepsCsv(*steps));
    s.Update(WriteFile(absl::StrCat(o.out, "/steps.md"), StepsMarkdown(*steps)));
    if (!s.ok()) return Fail(std::string(s.message()));
  }
  int status = o.compare.empty() ? 0 : Compare(*steps, o);
  if (o.check) status = std::max(status, Check(*steps));
  return status;
}

int Main(const std::vector<std::string>& arguments) {
  Options o;
  bool usage = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--check") {
      o.check = true;
    } else if ((a == "--out" || a == "--compare") && i + 1 < arguments.size()) {
      (a == "--out" ? o.out : o.compare) = arguments[++i];
    } else if ((a == "--every" || a == "--threads") && i + 1 < arguments.size()) {
      int& number = a == "--every" ? o.every : o.threads;
      usage |= !absl::SimpleAtoi(arguments[++i], &number) || number < 1;
    } else if (o.folder.empty() && !a.empty() && a[0] != '-') {
      o.folder = a;
    } else {
      usage = true;
    }
  }
  if (usage || o.folder.empty() || !(o.check || !o.out.empty() || !o.compare.empty())) {
    std::fprintf(stderr,
                 "usage: steps_validation FOLDER [--every N] [--threads N] [--out FOLDER] [--check] [--compare FOLDER], "
                 "one of the last three at least\n");
    return 2;
  }
  return Run(o);
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  return chakra::validation::Main(std::vector<std::string>(argv + 1, argv + argc));
}
