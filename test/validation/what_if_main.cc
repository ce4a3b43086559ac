// Edited captures against captures of what was predicted.
//
//   what_if_validation FOLDER [--out FOLDER] [--compare FOLDER]
//
// FOLDER is examples/what_if. Prints the table; --out writes what_if.csv and what_if.md; --compare wants the
// same bytes in a folder. Exit status: 0 all holds; 1 a file or the input does not; 2 the command line is
// wrong.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/validation/what_if.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

int Fail(const std::string& what) {
  std::fprintf(stderr, "what_if_validation: %s\n", what.c_str());
  return 1;
}

int Run(const std::string& folder, const std::string& out, const std::string& compare) {
  const auto rows = Predict(folder);
  if (!rows.ok()) return Fail(std::string(rows.status().message()));
  const std::pair<const char*, std::string> files[] = {{"what_if.csv", WhatIfCsv(*rows)},
                                                       {"what_if.md", WhatIfMarkdown(*rows)}};
  std::fputs(files[1].second.c_str(), stdout);
  int status = 0;
  for (const auto& [name, content] : files) {
    if (!out.empty()) {
      if (const absl::Status s = WriteFile(absl::StrCat(out, "/", name), content); !s.ok())
        return Fail(std::string(s.message()));
    }
    if (compare.empty()) continue;
    const std::string path = absl::StrCat(compare, "/", name);
    const auto kept = ReadFile(path);
    if (kept.ok() && *kept == content) continue;
    status =
        Fail(absl::StrCat(path, kept.ok() ? " is not what the code gives now" : " cannot be read",
                          "; to write it anew: build/test/what_if_validation ", folder, " --out ", compare));
  }
  return status;
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  std::string folder, out, compare;
  const std::vector<std::string> args(argv + 1, argv + argc);
  bool usage = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if ((args[i] == "--out" || args[i] == "--compare") && i + 1 < args.size()) {
      (args[i] == "--out" ? out : compare) = args[i + 1];
      ++i;
    } else if (folder.empty() && !args[i].empty() && args[i][0] != '-') {
      folder = args[i];
    } else {
      usage = true;
    }
  }
  if (usage || folder.empty()) {
    std::fprintf(stderr, "usage: what_if_validation FOLDER [--out FOLDER] [--compare FOLDER]\n");
    return 2;
  }
  return chakra::validation::Run(folder, out, compare);
}
