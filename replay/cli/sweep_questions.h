// `sweep best`, `pareto`, `table`, `page`, `merge` and `export`: what is asked of results.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "replay/sweep/query.h"
#include "replay/sweep/results.h"

namespace chakra::cli {

// What results are written as.
const std::vector<std::string>& ResultFormats();

// Writes results.csv, .jsonl, .sqlite and .html, as named, to a folder; csv where none is. What was written,
// in words.
absl::StatusOr<std::string> ExportResults(const sweep::Results& results,
                                          const std::vector<std::string>& formats, bool timing,
                                          const std::string& folder);

class SweepQuestions {
 public:
  // The subcommands, bound to this, which must outlive the parsing.
  explicit SweepQuestions(CLI::App* sweep);
  // Whether one of them was chosen.
  bool asked() const { return Asked() != nullptr; }
  // Its exit status.
  int Run();

 private:
  CLI::App* Add(CLI::App* sweep, const std::string& name, const std::string& about, bool answers);
  void AddWhere(CLI::App* app);
  // The subcommand that was chosen; null where none was.
  const CLI::App* Asked() const;
  absl::Status Answer();
  absl::Status Write(const sweep::Results& results) const;
  absl::Status WritePage(const sweep::Results& results) const;
  int Misuse(const std::string& message) const;

  CLI::App *best_, *pareto_, *table_, *page_, *merge_, *export_;
  std::vector<std::string> folders_, formats_, aims_;
  std::string by_, where_, rows_, columns_, show_, format_ = "text", take_ = "best", output_;
  size_t top_ = 10;
  bool timing_ = false;
};

}  // namespace chakra::cli
