// Steps in the logs of MLPerf Training against generated steps: tables, and checks of figures.
//
//   mlperf_validation mlperf.csv [--every N] [--out FOLDER] [--check] [--compare FOLDER]
//
// --every predicts only each N-th row anew; the others keep the file's prediction. --out writes mlperf.csv,
// and the tables of mlperf.md, below its heading "## Rows". --compare expects both as they are in the folder.
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "test/validation/mlperf.h"
#include "test/validation/program.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

constexpr char kHeading[] = "\n## Rows\n\n";

int Run(const Program& program) {
  int every = 1;
  const std::string& given = program.Option("--every");
  if (!given.empty() && (!absl::SimpleAtoi(given, &every) || every < 1)) return program.Usage();
  auto rows = ReadMlperf(program.input());
  if (!rows.ok()) return program.Fail(rows.status());
  if (absl::Status s = PredictMlperf(static_cast<size_t>(every), &*rows); !s.ok()) return program.Fail(s);
  const std::string folder = program.out().empty() ? program.compare() : program.out();
  Files files;
  if (!folder.empty()) {
    const std::string path = absl::StrCat(folder, "/mlperf.md");
    const absl::StatusOr<std::string> page = ReadFile(path);
    if (!page.ok()) return program.Fail(page.status());
    const size_t at = page->find(kHeading);
    if (at == page->npos)
      return program.Fail(absl::StrCat(path, ": no heading \"## Rows\"; expected it above the tables"));
    files = {{"mlperf.csv", MlperfCsv(*rows)},
             {"mlperf.md", absl::StrCat(page->substr(0, at), kHeading, MlperfTables(*rows))}};
  }
  return program.Keep(files) | program.Check(CheckMlperf(*rows));
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("mlperf_validation", "mlperf.csv", {"--every N"});
  const int status = program.Parse(argc, argv, true);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
