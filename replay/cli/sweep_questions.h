// The commands that query results of sweeps: `sweep best`, `pareto`, `table`, `page`, `merge` and `export`.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "replay/sweep/query.h"
#include "replay/sweep/results.h"

namespace chakra::cli {

// The names of the formats of results.
const std::vector<std::string>& ResultFormats();

// Writes results.csv, .jsonl, .sqlite and .html to a folder, as `formats` names them; if it is empty, csv.
// Returns the names of the written files, as words for a message.
absl::StatusOr<std::string> ExportResults(const sweep::Results& results,
                                          const std::vector<std::string>& formats, bool timing,
                                          const std::string& folder);

class SweepQuestions {
 public:
  // Adds the subcommands, bound to this object, which must outlive the parsing.
  explicit SweepQuestions(CLI::App* sweep);
  // Whether one of them was chosen.
  bool asked() const { return Asked() != nullptr; }
  // Runs the chosen subcommand and returns its exit status.
  int Run();

 private:
  CLI::App* Add(CLI::App* sweep, const std::string& name, const std::string& about, bool answers);
  void AddWhere(CLI::App* app);
  // The chosen subcommand; null if there is none.
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
