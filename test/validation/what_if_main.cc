// Predictions of edited captures against captures after the real change.
//
//   what_if_validation FOLDER [--out FOLDER] [--compare FOLDER]
//
// FOLDER is examples/what_if. Prints the table; --out writes what_if.csv and what_if.md; --compare expects
// the same bytes in a folder.
#include <cstdio>

#include "test/validation/program.h"
#include "test/validation/what_if.h"

namespace chakra::validation {
namespace {

int Run(const Program& program) {
  const auto rows = Predict(program.input());
  if (!rows.ok()) return program.Fail(rows.status());
  const std::string page = WhatIfMarkdown(*rows);
  std::fputs(page.c_str(), stdout);
  return program.Keep({{"what_if.csv", WhatIfCsv(*rows)}, {"what_if.md", page}});
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("what_if_validation", "FOLDER", {}, false);
  const int status = program.Parse(argc, argv, false);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
