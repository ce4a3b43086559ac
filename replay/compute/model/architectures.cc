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
constexpr SteadyLoad kHopperLoad = {0.172, {700, 132, 1830}, 0.02, {700, 132, 1830}, 0.89};
constexpr SteadyLoad kBlackwellLoad = {0.44, {1000, 148, 1860}, 0.244, {1200, 152, 2010}, 0.99};

// Matrix instructions of a single warp (mma) reach 62.9 % of Hopper's peak on average, which only those of a
// group of warps (wgmma) reach whole (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
// Architecture via Microbenchmarking", arXiv 2402.13499); the kernels of experts (Triton's for few rows,
// Marlin) use the former. Blackwell's and those of other makers are assumed to be as Hopper's.
constexpr double kWarpOfGroup = 0.629;

// Streams: the time of a small elementwise kernel in the captures of data/hta and data/kineto, and the share
// of memory's bandwidth that a copy gets (Azure/AI-benchmarking-guide for A100 and H100; a capture for
// MI300X; the others are assumed). Architectures without measurements take the products of the nearest one
// that has matrix instructions of the same kind (a warp's: A100; a group's: H100). MI300X against H100 is
// from two models captured on both (data/kineto): 1.43 times H100's time for attention, 27 us against 9 for a
// small one. What the other AMD devices and those before A100 are scaled by in attention is assumed.
//
// Shares of the peak, from the best square product of 1,024 to 10,240 rows that PyTorch reaches
// (zzc0721/torch-performance-test-data, database.md and issues 77, 140, 180, 185, 195; TFLOP/s, of the data
// sheet's):
//   Products of all shapes reach 0.89 of the share of the best one: the fits of A100 and H100 in the limit of
//   large products against 265 of 312 and 787 of 989.
//   fp32 without matrix instructions, 0.89 times: P100 9.5 of 10.6, V100 14.5 of 15.7, A100 19.2 of 19.5;
//   where the 128 lanes of a unit leave its schedulers no slot for other instructions: H100 52 of 67, B200 66
//   of 75, A40 23.7 of 37.4, L40S 47 of 92 (L4 and RTX 6000 Ada the like), RTX PRO 6000 79 of 120. Turing as
//   Volta. MI210's is that of matrix instructions, 33.7 of 45.3; MI100's is assumed to be as that. fp16 and
//   bf16, against the share of the device whose fit counts in the same source: V100 97 of 125 (A100), MI210
//   131 of 181 (H100); MI300X 668 of 1307, MI355X 1565 of 2516 (H100 795 of 989: stas00/ml-engineering,
//   compute/accelerator, the best of any shape).
constexpr Architecture kArchitectures[] = {
    {.name = "hopper",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .same = true,
     .libraries = true,
     .vector_share = 0.69,
     .warp_share = kWarpOfGroup,
     .stream = {1.5, 0.88},
     .units = 132,
     .clock_mhz = 1830,
     .l2_mbytes = 50,
     .steady = kHopperLoad,
     .unit_operations = 4096},
    {.name = "blackwell",
     .measured = kB200,
     .name_of_measured = kB200Name,
     .same = true,
     .libraries = true,
     .vector_share = 0.78,
     .warp_share = kWarpOfGroup,
     .unequal_backward = 0.70,
     .stream = {1.7, 0.85},
     .units = 148,
     .clock_mhz = 1860,
     .l2_mbytes = 126,
     .steady = kBlackwellLoad,
     .unit_operations = 8192,
     .any_layout = true},
    {.name = "ampere",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .same = true,
     .libraries = true,
     .vector_share = 0.87,
     .stream = {1.6, 0.82},
     .units = 108,
     .clock_mhz = 1410,
     .l2_mbytes = 40,
     .unit_operations = 2048},
    {.name = "ampere_rtx",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .vector_share = 0.56,
     .stream = {1.6, 0.85},
     .units = 72,
     .clock_mhz = 1695,
     .l2_mbytes = 6},
    {.name = "ada",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .vector_share = 0.47,
     .stream = {1.6, 0.85},
     .units = 142,
     .clock_mhz = 2520,
     .l2_mbytes = 96},
    {.name = "blackwell_rtx",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .vector_share = 0.59,
     .stream = {1.6, 0.85},
     .units = 188,
     .clock_mhz = 2600,
     .l2_mbytes = 128},
    {.name = "turing",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .vector_share = 0.82,
     .attention_scale = 0.9,
     .stream = {2.0, 0.8},
     .units = 40,
     .clock_mhz = 1590,
     .l2_mbytes = 4},
    {.name = "volta",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .peak_scale = 0.92,
     .vector_share = 0.82,
     .attention_scale = 0.9,
     .stream = {2.0, 0.85},
     .units = 80,
     .clock_mhz = 1530,
     .l2_mbytes = 6},
    {.name = "pascal",
     .measured = kA100,
     .name_of_measured = kA100Name,
     .libraries = true,
     .peak_scale = 0.9,
     .vector_share = 0.81,
     .attention_scale = 0.9,
     .stream = {2.5, 0.75},
     .units = 56,
     .clock_mhz = 1480,
     .l2_mbytes = 4},
    {.name = "cdna",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .peak_scale = 0.58,
     .vector_share = 0.66,
     .warp_share = kWarpOfGroup,
     .attention_start = 2.5,
     .attention_scale = 0.4,
     .stream = {3.0, 0.75},
     .units = 120,
     .clock_mhz = 1502,
     .l2_mbytes = 8},
    {.name = "cdna2",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .peak_scale = 0.91,
     .vector_share = 0.66,
     .warp_share = kWarpOfGroup,
     .attention_start = 2.5,
     .attention_scale = 0.4,
     .stream = {3.0, 0.78},
     .units = 110,
     .clock_mhz = 1700,
     .l2_mbytes = 8},
    {.name = "cdna3",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .peak_scale = 0.636,
     .warp_share = kWarpOfGroup,
     .attention_start = 2.5,
     .attention_scale = 0.4,
     .stream = {3.2, 0.76},
     .units = 304,
     .clock_mhz = 2100,
     .l2_mbytes = 256},
    {.name = "cdna4",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .peak_scale = 0.774,
     .warp_share = kWarpOfGroup,
     .attention_start = 2.5,
     .attention_scale = 0.4,
     .stream = {3.2, 0.76},
     .units = 256,
     .clock_mhz = 2400,
     .l2_mbytes = 256},
    {.name = "systolic",
     .measured = kH100,
     .name_of_measured = kH100Name,
     .warp_share = kWarpOfGroup,
     .stream = {2.0, 0.9},
     .units = 8,
     .clock_mhz = 1000,
     .l2_mbytes = 128},
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

double ClockAt(double power, double most) {
  double low = 0, high = most;
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

// Longer than a cool device's time, where the board has the power of the measured one or another. Devices of
// an architecture are of one silicon: a unit draws the same at the same clock in MHz, whatever the clock of
// the data sheet is.
double HotOfPower(double hot, const SteadyLoad::Board& measured, const proto::Device& device,
                  const Unit& unit) {
  if (device.board_watts() <= 0 || measured.watts <= 0) return hot;
  const double power = device.board_watts() / unit.units / (measured.watts / measured.units);
  const double most = unit.cycles_per_us / measured.clock_mhz;
  return most / ClockAt(PowerAt(1 / (1 + hot)) * power, most) - 1;
}

}  // namespace

double SteadyHot(const Architecture& architecture, const proto::Device& device, double bytes,
                 int64_t devices) {
  const bool narrow = bytes <= 1;
  const SteadyLoad& steady = architecture.steady;
  const double hot =
      HotOfPower(narrow ? steady.narrow_hot : steady.hot, narrow ? steady.narrow_board : steady.board, device,
                 UnitOf(device, KernelDtype::kBf16));
  return (1 + hot) * (1 + kDeviation * GreatestOf(devices)) - 1;
}

absl::Span<const Architecture> Architectures() { return kArchitectures; }

const Architecture& ArchitectureOf(const proto::Device& device) {
  static constexpr Architecture kUnnamed = {.name = "",
                                            .measured = kH100,
                                            .name_of_measured = kH100Name,
                                            .peak_scale = 0.9,
                                            .warp_share = kWarpOfGroup,
                                            .attention_scale = 0.9,
                                            .stream = {2.0, 0.82},
                                            .units = 132,
                                            .clock_mhz = 1830,
                                            .l2_mbytes = 50};
  const Architecture* found = FindArchitecture(device.architecture());
  return found == nullptr ? kUnnamed : *found;
}

double UnitRate(const Architecture& architecture, const proto::Device& device) {
  constexpr double kAsMeasured = 0.9;  // clocks of data sheets differ by a few percent
  const Unit unit = UnitOf(device, KernelDtype::kBf16);
  if (architecture.unit_operations <= 0 || unit.peak_per_us <= 0) return 1;
  const double rate = unit.peak_per_us / (unit.units * unit.cycles_per_us * architecture.unit_operations);
  return rate < kAsMeasured ? rate : 1;
}

double WarpShareOf(absl::string_view measured) {
  for (const Architecture& a : kArchitectures) {
    if (a.same && a.measured == measured) return a.warp_share;
  }
  return 1;
}

const Architecture* FindArchitecture(absl::string_view name) {
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace chakra::laws
