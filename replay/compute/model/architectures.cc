#include "replay/compute/model/architectures.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/device.pb.h"
#include "trace/base/embedded.h"
#include "trace/io/proto_io.h"

namespace chakra::laws {
namespace architectures {
absl::Span<const EmbeddedFile> Embedded();  // ../architectures/
}  // namespace architectures

namespace {

constexpr absl::string_view kUnnamed = "unnamed";

SteadyLoad::Board BoardOf(const proto::KernelArchitecture::Board& board) {
  return {board.watts(), board.units(), board.clock_mhz()};
}

// The result's strings point into `a`.
Architecture Read(const proto::KernelArchitecture& a) {
  Architecture out;
  out.name = a.name();
  out.measured = a.measured();
  out.name_of_measured = a.name_of_measured();
  out.same = a.same();
  out.libraries = a.libraries();
  if (a.has_peak_scale()) out.peak_scale = a.peak_scale();
  out.vector_share = a.vector_share();
  if (a.has_warp_share()) out.warp_share = a.warp_share();
  if (a.has_attention_start()) out.attention_start = a.attention_start();
  if (a.has_attention_scale()) out.attention_scale = a.attention_scale();
  if (a.has_unequal_backward()) out.unequal_backward = a.unequal_backward();
  out.stream = {a.stream_start_us(), a.stream_memory_share()};
  out.units = a.units();
  out.clock_mhz = a.clock_mhz();
  out.l2_mbytes = a.l2_mbytes();
  out.steady = {a.steady_hot(), BoardOf(a.steady_board()), a.steady_narrow_hot(),
                BoardOf(a.steady_narrow_board()), a.narrow_share()};
  out.unit_operations = a.unit_operations();
  out.any_layout = a.any_layout();
  if (a.has_all_shapes()) out.all_shapes = a.all_shapes();
  return out;
}

// A file, parsed when its architecture is first asked for.
struct Entry {
  absl::string_view name;
  absl::string_view text;
  std::once_flag once;
  proto::KernelArchitecture message;
  Architecture architecture;

  const Architecture& Get() {
    std::call_once(once, [this] {
      // Cannot fail: a test reads all files.
      (void)ParseTextMessage(text, absl::StrCat("architecture ", name), &message);
      architecture = Read(message);
    });
    return architecture;
  }
};

// By name.
std::deque<Entry>& Entries() {
  static auto* const kEntries = [] {
    auto* entries = new std::deque<Entry>;
    for (const EmbeddedFile& file : architectures::Embedded()) {
      Entry& entry = entries->emplace_back();
      entry.name = absl::StripSuffix(file.name, ".txtpb");
      entry.text = file.text;
    }
    return entries;
  }();
  return *kEntries;
}

Entry* FindEntry(absl::string_view name) {
  for (Entry& e : Entries()) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

// Power by clock, both as shares of those of a cool device: the clock times the square of the voltage. The
// voltage is constant below the knee and grows linearly above it (fitted to a V100 at limits of 100 to 250 W,
// Zeus, NSDI 2023: replay/energy/README.md).
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

// Standard deviation of the speeds of devices whose clock power limits. The slowest of the 8 devices of a
// node takes 5 % longer than the fastest (stas00/ml-engineering, compute/accelerator/benchmarks). The mean
// distance of the extremes of 8 normal draws is 2.85 standard deviations.
constexpr double kDeviation = 0.05 / 2.85;

// The mean of the maximum of `n` draws from the standard normal distribution: the quantile at (n - 3/8) / (n
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

// How much longer than on a cool device a GEMM takes, as a share, on a board whose power may differ from that
// of the measured board. Devices of an architecture have the same silicon: a unit draws the same power at the
// same clock in MHz, whatever clock the data sheet gives.
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

std::vector<absl::string_view> ArchitectureNames() {
  std::vector<absl::string_view> names;
  for (const Entry& e : Entries()) {
    if (e.name != kUnnamed) names.push_back(e.name);
  }
  return names;
}

const Architecture& ArchitectureOf(const proto::Device& device) {
  const Architecture* found = FindArchitecture(device.architecture());
  return found == nullptr ? FindEntry(kUnnamed)->Get() : *found;
}

double UnitRate(const Architecture& architecture, const proto::Device& device) {
  constexpr double kAsMeasured = 0.9;  // clocks of data sheets differ by a few percent
  const Unit unit = UnitOf(device, KernelDtype::kBf16);
  if (architecture.unit_operations <= 0 || unit.peak_per_us <= 0) return 1;
  const double rate = unit.peak_per_us / (unit.units * unit.cycles_per_us * architecture.unit_operations);
  return rate < kAsMeasured ? rate : 1;
}

double WarpShareOf(absl::string_view measured) {
  for (Entry& e : Entries()) {
    const Architecture& a = e.Get();
    if (a.same && a.measured == measured) return a.warp_share;
  }
  return 1;
}

const Architecture* FindArchitecture(absl::string_view name) {
  Entry* const found = name == kUnnamed ? nullptr : FindEntry(name);
  return found == nullptr ? nullptr : &found->Get();
}

}  // namespace chakra::laws
