// Finds constants that fit, with the simplex method of Nelder and Mead over logarithms, so that constants
// stay positive.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

namespace chakra {

// Returns the minimum of `loss` near `start` (positive numbers), after about `calls` calls of `loss`. Uses
// the coefficients of Gao and Han ("Implementing the Nelder-Mead simplex algorithm with adaptive parameters",
// 2012). Deterministic.
std::vector<double> Minimise(const std::function<double(const std::vector<double>&)>& loss,
                             std::vector<double> start, int calls);

}  // namespace chakra
