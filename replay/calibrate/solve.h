// Solves for the constants with the minimum absolute relative errors, for given labels.
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
  std::array<bool, kConstants> bounded{};      // identified, but held at LabelStart's bound
  std::array<std::string, kConstants> reason;  // why the constant is not identified; empty: the library has
                                               // no such constant here
};

struct Solution {
  std::map<std::string, LabelFit> labels;
  double enqueue_us = 0;  // host time of a launch, for each device of a thread
  bool enqueue_identified = false;
  double cost = 0;  // sum of |log(predicted / measured)|
};

// Fits the constants of every label in `label` (by sample). The host's launches take `enqueue_us` for each
// device. Rows that took no longer than their launches are not used for any constant.
absl::StatusOr<Solution> SolveAt(Samples& samples, const std::vector<std::string>& label, double enqueue_us,
                                 bool enqueue_identified);

// SolveAt() with the enqueue_us of minimum cost. The trials are the library's value, lowered so that it
// bounds no row, and, for each series with several sizes about as fast as its fastest row, the median of
// these.
absl::StatusOr<Solution> Solve(Samples& samples, const std::vector<std::string>& label);

}  // namespace chakra
