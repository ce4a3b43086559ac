#include "replay/compute/model/architectures.h"

#include <algorithm>
#include <cmath>

namespace chakra::laws {
namespace {

constexpr absl::string_view kA100 = "A100-SXM4-80GB", kH100 = "H100 80GB HBM3", kB200 = "B200";
constexpr absl::string_view kA100Name = "A100-SXM4-80GB", kH100Name = "H100-SXM5-80GB",
                            kB200Name = "B200-SXM-180GB";

// Narrow products by cuBLASLt: the best of any shape, cool, against that of bf16 (stas00/ml-engineering,
// compute/accelerator: H100 1403 of 1979 and 795 of 989.5 TFLOP/s, GB200 3616 of 5000 and 1822 of 2500), and
// how much longer those of 16384 x 16384 x 16384 take that follow each other (Azure/AI-benchmarking-guide:
// H100 1377 TFLOP/s, GB200 2907).
constexpr SteadyLoad kHopperLoad = {0.172, 700, 0.02, 700, 0.89};
constexpr SteadyLoad kBlackwellLoad = {0.44, 1000, 0.244, 1200, 0.99};

// Streams: the time of a small elementwise kernel in the captures of data/hta and data/kineto, and the share
// of memory's bandwidth that a copy gets (Azure/AI-benchmarking-guide for A100 and H100; a capture for
// MI300X; the others are assumed). Architectures without measurements take the products of the nearest one
// that has matrix instructions of the same kind (a warp's: A100; a group's: H100). MI300X against H100 is
// from two models captured on both (data/kineto): 1.31 times H100's time for large products, 1.43 times for
// attention, 27 us against 9 for a small one. What the other AMD devices and those before A100 are scaled by
// is assumed.
constexpr Architecture kArchitectures[] = {
    {"hopper", kH100, kH100Name, true, 1, 1, 1, {1.5, 0.88}, 132, 1830, 50, kHopperLoad},
    {"blackwell", kB200, kB200Name, true, 1, 1, 1, {1.7, 0.85}, 148, 1860, 126, kBlackwellLoad},
    {"ampere", kA100, kA100Name, true, 1, 1, 1, {1.6, 0.82}, 108, 1410, 40},
    {"ada", kA100, kA100Name, false, 1, 1, 1, {1.6, 0.85}, 142, 2520, 96},
    {"blackwell_rtx", kA100, kA100Name, false, 1, 1, 1, {1.6, 0.85}, 188, 2600, 128},
    {"turing", kA100, kA100Name, false, 0.9, 1, 0.9, {2.0, 0.8}, 40, 1590, 4},
    {"volta", kA100, kA100Name, false, 0.9, 1, 0.9, {2.0, 0.85}, 80, 1530, 6},
    {"pascal", kA100, kA100Name, false, 0.9, 1, 0.9, {2.5, 0.75}, 56, 1480, 4},
    {"cdna", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.0, 0.75}, 120, 1502, 8},
    {"cdna2", kH100, kH100Name, false, 0.7, 2.5, 0.4, {3.0, 0.78}, 110, 1700, 8},
    {"cdna3", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.2, 0.76}, 304, 2100, 256},
    {"cdna4", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.2, 0.76}, 256, 2400, 256},
    {"systolic", kH100, kH100Name, false, 1, 1, 1, {2.0, 0.9}, 8, 1000, 128},
};

// Power by the clock, both as shares of what the cool device has: the clock times the square of the voltage,
// which is least below the knee and grows in proportion from there (fitted to a V100 at limits of 100 to 250
// W, Zeus, NSDI 2023: replay/energy/README.md).
constexpr double kKnee = 0.75, kLeastVoltage = 0.87;

double PowerAt(double clock) {
  const double above = std::max(0.0, clock - kKnee) / (1 - kKnee);
  const double voltage = kLeastVoltage + (1 - kLeastVoltage) * above;
  return clock * voltage * voltage;
}

double ClockAt(double power) {
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (PowerAt(middle) < power ? low : high) = middle;
  }
  return high;
}

// Devices whose clock power limits hold different clocks: of the 8 of a node the slowest takes 5 % longer
// than the fastest (stas00/ml-engineering, compute/accelerator/benchmarks), which are 2.85 standard
// deviations of a normal distribution apart on average.
constexpr double kDeviation = 0.05 / 2.85;

// The mean of the greatest of `n` draws from the standard normal distribution: the quantile at (n - 3/8) / (n
// + 1/4) (Blom, 1958), by bisection.
double GreatestOf(int64_t n) {
  if (n <= 1) return 0;
  const double share = (static_cast<double>(n) - 0.375) / (static_cast<double>(n) + 0.25);
  double low = 0, high = 10;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return high;
}

// Longer than a cool device's time, where board power is that of the measurement or another.
double HotOfPower(double hot, double watts, double watts_of_measured) {
  if (watts <= 0 || watts_of_measured <= 0) return hot;
  return 1 / ClockAt(PowerAt(1 / (1 + hot)) * watts / watts_of_measured) - 1;
}

}  // namespace

double SteadyHot(const Architecture& architecture, const proto::Device& device, double bytes,
                 int64_t devices) {
  const bool narrow = bytes <= 1;
  const double hot =
      HotOfPower(narrow ? architecture.steady.narrow_hot : architecture.steady.hot, device.board_watts(),
                 narrow ? architecture.steady.narrow_watts : architecture.steady.watts);
  return (1 + hot) * (1 + kDeviation * GreatestOf(devices)) - 1;
}

absl::Span<const Architecture> Architectures() { return kArchitectures; }

const Architecture& ArchitectureOf(const proto::Device& device) {
  static constexpr Architecture kUnnamed = {"",  kH100,       kH100Name, false, 0.9, 1,
                                            0.9, {2.0, 0.82}, 132,       1830,  50};
  const Architecture* found = FindArchitecture(device.architecture());
  return found == nullptr ? kUnnamed : *found;
}

const Architecture* FindArchitecture(absl::string_view name) {
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace chakra::laws
