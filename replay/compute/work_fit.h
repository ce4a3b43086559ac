// What a kernel costs by its work: a start, a time for each operation and one for each byte.
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

// The fit of least squared relative errors, sum ((fit - time) / time)^2. Sample `without` is left out; pass
// a number >= their count to leave out none. All zero where there are no samples.
WorkFit FitWork(const std::vector<WorkSample>& samples, size_t without);

}  // namespace chakra
