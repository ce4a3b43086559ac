// What `replay` says of its traces and its machine, and whoever else takes the same words.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/cli/edit_options.h"
#include "replay/run/options.h"
#include "trace/generate/workload.h"

namespace chakra::cli {

// The options of one run, bound to this, which must outlive the parsing and what traces() gives.
class RunArguments {
 public:
  // TRACE and all options but those of reports and logs.
  void AddTo(CLI::App* app);
  // Faults of the command line alone, each with what was expected: no trace, a fabric or rungs that there are
  // not, values without the right form.
  absl::Status Check() const;
  // After Check(). Reads scripts of edits. Errors name the file and the line.
  absl::StatusOr<TraceOptions> traces();
  // Whether a workload is told or changed by options. Call it before traces().
  bool has_workload() const;
  const RunOptions& run() const { return run_; }
  RunOptions& run() { return run_; }

 private:
  void AddMachine(CLI::App* app);
  void AddTrace(CLI::App* app);
  void AddRanks(CLI::App* app);
  void AddEnergy(CLI::App* app);
  // Of --strict-causes, once it was given. Error: no percentage.
  absl::StatusOr<double> StrictCauses() const;

  TraceOptions traces_;
  generate::WorkloadOptions workload_;
  EditOptions edits_;
  RunOptions run_;
  std::string strict_causes_text_, energy_text_;
  CLI::Option* fabric_ = nullptr;  // of the parser, as the next
  CLI::Option* compute_ = nullptr;
  CLI::Option* strict_causes_ = nullptr;
  CLI::Option* energy_ = nullptr;
};

}  // namespace chakra::cli
