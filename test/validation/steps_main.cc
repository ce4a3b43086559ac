// Published times of training steps against generated steps: tables, and checks of figures.
//
//   steps_validation FOLDER [--every N] [--threads N] [--out FOLDER] [--check] [--compare FOLDER]
//
// FOLDER is shared/data. --every takes each N-th row of each source. --out writes steps.csv and steps.md;
// --compare expects each row's line in the folder's steps.csv; --check runs CheckSteps().
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/validation/program.h"
#include "test/validation/steps.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

// Compares line by line, because the rows may be a sample.
int Compare(const std::vector<MeasuredStep>& steps, const Program& program) {
  const std::string path = absl::StrCat(program.compare(), "/steps.csv");
  const absl::StatusOr<std::string> kept = ReadFile(path);
  if (!kept.ok()) return program.Fail(kept.status());
  const std::set<std::string> lines = absl::StrSplit(*kept, '\n');
  const std::vector<std::string> now = absl::StrSplit(StepsCsv(steps), '\n');
  for (const std::string& line : now) {
    if (lines.contains(line)) continue;
    return program.Fail(absl::StrCat(path, " lacks what the code gives now: ", line,
                                     "; to write it anew: ", program.Again()));
  }
  return 0;
}

int Write(const std::vector<MeasuredStep>& steps, const Program& program) {
  std::error_code error;
  std::filesystem::create_directories(program.out(), error);
  absl::Status s = WriteFile(absl::StrCat(program.out(), "/steps.csv"), StepsCsv(steps));
  s.Update(WriteFile(absl::StrCat(program.out(), "/steps.md"), StepsMarkdown(steps)));
  return s.ok() ? 0 : program.Fail(s);
}

int Run(const Program& program) {
  int every = 1, threads = 0;
  for (const auto& [name, number] : {std::pair("--every", &every), std::pair("--threads", &threads)}) {
    const std::string& given = program.Option(name);
    if (!given.empty() && (!absl::SimpleAtoi(given, number) || *number < 1)) return program.Usage();
  }
  auto steps = ReadSteps(absl::StrCat(program.input(), "/validation"), static_cast<size_t>(every));
  if (!steps.ok()) return program.Fail(steps.status());
  if (absl::Status s = PredictSteps(&*steps, threads); !s.ok()) return program.Fail(s);
  int status = program.out().empty() ? 0 : Write(*steps, program);
  if (!program.compare().empty()) status |= Compare(*steps, program);
  return status | program.Check(CheckSteps(*steps));
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("steps_validation", "FOLDER", {"--every N", "--threads N"});
  const int status = program.Parse(argc, argv, true);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
