// Predictions of edited captures against captures after the real change.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::validation {

// The contents of runs.csv of a pair: the median step of each run of both sides, in ms, ascending.
struct Runs {
  std::vector<double> a, b;
};
// Errors name line and column.
absl::StatusOr<Runs> ParseRuns(const std::string& csv);

// How much slower the second fastest run (Noise) and the median run (TypicalDelay) were than the fastest run,
// which was kept; shares of the fastest. Precondition: at least one run.
double Noise(const std::vector<double>& runs);
double TypicalDelay(const std::vector<double>& runs);

// Step times of a capture in ms: the median over its steps, each with the time of its slowest rank.
struct StepTime {
  int ranks = 0;
  size_t steps = 0;
  double measured_ms = 0;
  double replayed_ms = 0;
};
// `script`: edits in text format or JSON (a file), or "". `groups`: a file of process groups, or "".
absl::StatusOr<StepTime> ReplayCapture(const std::string& folder, const std::string& script,
                                       const std::string& groups);

// One prediction: the capture `from`, edited by the script, against the capture `to`.
struct EditPrediction {
  std::string name;  // the script's file without its extension
  std::string says;  // EditScript.name
  int ranks = 0;
  double from_ms = 0;      // measured
  double replayed_ms = 0;  // `from` replayed without an edit
  double to_ms = 0;        // measured
  double predicted_ms = 0;
  double from_noise = 0, to_noise = 0;  // Noise()
  double from_delay = 0, to_delay = 0;  // TypicalDelay()
  double change() const { return to_ms / from_ms - 1; }
  double error() const { return predicted_ms / to_ms - 1; }
};

// Predictions of every script in FOLDER/pairs, by name. "PAIR.txtpb" and "PAIR.VARIANT.txtpb" edit
// FOLDER/captures/PAIR/a into b, "PAIR.back.txtpb" edits b into a. FOLDER/captures/PAIR/groups.json, if
// present, lists the process groups of the edited capture.
absl::StatusOr<std::vector<EditPrediction>> Predict(const std::string& folder);

std::string WhatIfCsv(const std::vector<EditPrediction>& rows);
// The median and the worst absolute error, and the number of rows whose error is at most the typical delay of
// their captures. Precondition: at least one row.
struct ErrorSummary {
  double median = 0, worst = 0;
  std::string worst_name;
  size_t within_noise = 0;  // rows
};
ErrorSummary Summarize(const std::vector<EditPrediction>& rows);

std::string WhatIfMarkdown(const std::vector<EditPrediction>& rows);

}  // namespace chakra::validation
