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
  std::array<bool, kConstants> bounded{};      // identified, but at LabelStart's bound
  std::array<std::string, kConstants> reason;  // why not; empty: the library has no such constant here
};

struct Solution {
  std::map<std::string, LabelFit> labels;
  double enqueue_us = 0;  // host time for each device of a thread
  bool enqueue_identified = false;
  double cost = 0;  // sum of |log(predicted / measured)|
};

// Fits the constants of every label that `label` (by sample) uses, with the host's
// launches at `enqueue_us` a device: rows that measured no more than them count
// for nothing else.
absl::StatusOr<Solution> SolveAt(Samples& samples, const std::vector<std::string>& label, double enqueue_us,
                                 bool enqueue_identified);

// The same at the enqueue_us that costs least: the library's, which binds none of the rows, or, of each
// series with several sizes about as fast as its fastest row, the median of those.
absl::StatusOr<Solution> Solve(Samples& samples, const std::vector<std::string>& label);

}  // namespace chakra
