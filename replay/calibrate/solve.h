// The numbers of a fit: least absolute relative errors for given labels.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/calibrate/samples.h"

namespace chakra {

struct LabelFit {
  Constants value{};
  std::array<bool, kConstants> identified{};
  std::array<std::string, kConstants> reason;  // why not; empty: the library has no such constant here
};

struct Solution {
  std::map<std::string, LabelFit> labels;
  double enqueue_us = 0;  // host time for each device of a thread
  bool enqueue_identified = false;
  double cost = 0;              // sum of |log(predicted / measured)|
  std::vector<double> time_us;  // by sample
  std::vector<bool> launches;   // by sample: the host's launches bound it
};

// Fits the constants of every label that `label` (by sample) uses, with the host's
// launches at `enqueue_us` a device: rows that measured no more than them count
// for nothing else.
absl::StatusOr<Solution> SolveAt(Samples& samples, const std::vector<std::string>& label, double enqueue_us,
                                 bool enqueue_identified);

// The same at the enqueue_us that costs least: none of the rows bound by it, or the
// 1, 2, ... smallest of a series.
absl::StatusOr<Solution> Solve(Samples& samples, const std::vector<std::string>& label);

}  // namespace chakra
