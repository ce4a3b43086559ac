// Fits a kernel's time to its work: a start, a time for each operation and a time for each byte.
#pragma once

#include <cstddef>
#include <vector>

namespace chakra {

struct WorkSample {
  double operations = 0;
  double bytes = 0;
  double time = 0;  // > 0; any unit
};

// time = start + operations * per_operation + bytes * per_byte; none is negative.
struct WorkFit {
  double start = 0;
  double per_operation = 0;
  double per_byte = 0;
  double Time(double operations, double bytes) const {
    return start + operations * per_operation + bytes * per_byte;
  }
};

// The fit with the smallest sum of squared relative errors, sum ((fit - time) / time)^2. `without` is a
// sample to leave out; a number >= the number of samples leaves out none. All terms are zero if there are no
// samples.
WorkFit FitWork(const std::vector<WorkSample>& samples, size_t without);

}  // namespace chakra
