#include "replay/energy/row_power.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "replay/compute/device_rates.h"
#include "replay/compute/model/kernel_names.h"
#include "replay/compute/operators/operands.h"
#include "replay/compute/operators/operator_work.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::energy {
namespace {

// Used shares of the peak, of the memory bandwidth and of the multiprocessors.
struct Use {
  double tensor = 0, memory = 0, issue = 1;
};

// At this share of a roof or above, all multiprocessors are busy.
constexpr double kAllIssue = 0.5;
// A GEMM with this many operations per byte keeps the multiprocessors busy. In the product of a matrix and a
// vector each element is used once, so they wait for memory.
constexpr double kReuse = 128;
// A regulator holds the mean over this time at the rated power.
constexpr double kRegulatedPs = 20e9;

// Usual shares for kernels of unknown work: those of such kernels in the measured rows of
// test/validation/kernels.csv, rounded to a tenth.
Use UsualUse(KernelFamily family) {
  switch (family) {
    case KernelFamily::kGemm:
      return {0.6, 0.3};
    case KernelFamily::kAttention:
      return {0.5, 0.2};
    case KernelFamily::kMoe:
      return {0.4, 0.4};
    case KernelFamily::kNone:
      return {0.2, 0.4};
    case KernelFamily::kHostCopy:
      return {0, 0.1, 0};
    default:
      return {0, 0.7};
  }
}

class GraphPowers {
 public:
  GraphPowers(const Graph& graph, const ComputeTimes& times, const proto::Device& device,
              const Constants& constants)
      : graph_(graph), times_(times), device_(device), power_(constants.profile.power()) {}

  std::vector<RowPower> Rows() {
    std::vector<RowPower> rows(graph_.size());
    for (uint32_t row = 0; row < graph_.size(); ++row) rows[row] = PowerOf(row);
    return rows;
  }

 private:
  RowPower PowerOf(uint32_t row) {
    RowPower out;
    switch (graph_.type[row]) {
      case NodeType::kComp:
        if (graph_.is_kept_comm(row)) return Of(Role::kCommunicates, power_.link_watts());
        if (graph_.is_cpu(row)) return out;
        break;
      case NodeType::kMemLoad:
      case NodeType::kMemStore:
        return Of(Role::kCopies, power_.copy_watts());
      case NodeType::kSend:
      case NodeType::kRecv:
      case NodeType::kCollective:
        return Of(Role::kCommunicates, power_.link_watts());
      default:
        return out;
    }
    const Use use = UseOf(row);
    out.role = Role::kComputes;
    out.tensor = ToMilliwatts(use.tensor * power_.tensor_watts().value());
    out.issue = ToMilliwatts(use.issue * power_.issue_watts().value());
    out.other = ToMilliwatts(use.memory * power_.memory_watts().value());
    return out;
  }

  static RowPower Of(Role role, const proto::Figure& figure) {
    RowPower out;
    out.role = role;
    out.other = ToMilliwatts(figure.value());
    return out;
  }

  Use UseOf(uint32_t row) {
    const double us = static_cast<double>(times_.time[row].picos()) / 1e6;
    if (us <= 0) return {};
    const Kernel& kernel = KernelOf(row);
    double operations = kernel.work.operations, bytes = kernel.work.bytes;
    if (graph_.payload[row] != kNoRow) {
      const Work& work = graph_.work[graph_.payload[row]];
      if (work.num_ops > 0) operations = static_cast<double>(work.num_ops);
      if (work.tensor_bytes > 0) bytes = static_cast<double>(work.tensor_bytes);
    }
    if (operations <= 0 && bytes <= 0) return kernel.usual;
    Use use;
    if (kernel.rates.operations_per_us > 0) use.tensor = operations / (kernel.rates.operations_per_us * us);
    if (kernel.rates.bytes_per_us > 0) use.memory = bytes / (kernel.rates.bytes_per_us * us);
    if (bytes <= 0) use.memory = kernel.usual.memory;
    use.tensor = std::min(1.0, use.tensor);
    use.memory = std::min(1.0, use.memory);
    use.issue = std::min(1.0, std::max(use.tensor, use.memory) / kAllIssue);
    if (kernel.product && bytes > 0) use.issue *= std::min(1.0, operations / (kReuse * bytes));
    return use;
  }

  // Properties that rows with the same name, shapes and dtypes share.
  struct Kernel {
    OperatorWork work;
    DeviceRates rates;
    Use usual;
    bool product = false;
  };

  const Kernel& KernelOf(uint32_t row) {
    const uint32_t shapes = graph_.shapes.empty() ? 0 : graph_.shapes[row];
    const uint32_t types = graph_.types.empty() ? 0 : graph_.types[row];
    const auto [at, fresh] = kernels_.try_emplace(std::make_tuple(graph_.name[row], shapes, types));
    if (!fresh) return at->second;
    Kernel& kernel = at->second;
    const absl::string_view name = graph_.name_of(row), dtypes = graph_.strings.Get(types);
    const std::string standard = DefaultDtype(device_);
    kernel.work = WorkOfKernel(name, "", graph_.strings.Get(shapes), dtypes, BytesOfDtype(standard))
                      .value_or(OperatorWork());
    const std::string dtype(DtypeOf(dtypes));
    kernel.rates = RatesOf(device_, dtype.empty() ? standard : dtype);
    // The peaks of the data sheet, even if the device's power cannot sustain them.
    kernel.rates.operations_per_us /= SustainedShare(device_);
    const KernelFamily family = FamilyOfKernelName(name);
    kernel.usual = UsualUse(family);
    kernel.product = family == KernelFamily::kGemm || family == KernelFamily::kMoe ||
                     (family == KernelFamily::kNone && kernel.work.operations > 0);
    return kernel;
  }

  const Graph& graph_;
  const ComputeTimes& times_;
  const proto::Device& device_;
  const proto::DevicePower& power_;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, Kernel> kernels_;
};

// Scales the power that a row adds to `room`, with each part in proportion.
void Fit(Milliwatts room, RowPower* power) {
  const double share = static_cast<double>(room) / static_cast<double>(power->all());
  power->tensor = static_cast<Milliwatts>(share * static_cast<double>(power->tensor));
  power->issue = static_cast<Milliwatts>(share * static_cast<double>(power->issue));
  power->other = room - power->tensor - power->issue;
}

// Models a power regulator: over each kRegulatedPs of computation, in the order of the graph, the mean added
// power is at most `room`. GEMMs that would draw more at the highest clock are cut to `room`. The excess
// energy is added to lighter kernels in the same window, as far as they have room. Any excess beyond that is
// lost to a lower clock, which the times of kernels already include. No row adds more than `room`.
class Regulator {
 public:
  Regulator(Milliwatts room, const ComputeTimes& times, std::vector<RowPower>* rows)
      : room_(room), times_(times), rows_(*rows) {}

  void Hold() {
    double span = 0;
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row].role != Role::kComputes) continue;
      window_.push_back(row);
      span += Picos(row);
      if (span < kRegulatedPs) continue;
      Settle();
      span = 0;
    }
    Settle();
  }

 private:
  double Picos(uint32_t row) const { return static_cast<double>(times_.time[row].picos()); }

  void Settle() {
    double above = 0, below = 0;
    for (const uint32_t row : window_) {
      const auto by = static_cast<double>(rows_[row].all() - room_);
      // A kernel longer than the window passes on only the excess of one window.
      (by > 0 ? above : below) += std::fabs(by) * (by > 0 ? std::min(Picos(row), kRegulatedPs) : Picos(row));
    }
    const double filled = below > 0 ? std::min(1.0, above / below) : 0;
    for (const uint32_t row : window_) {
      RowPower& power = rows_[row];
      if (power.all() > room_) {
        Fit(room_, &power);
      } else {
        power.tensor += static_cast<Milliwatts>(filled * static_cast<double>(room_ - power.all()));
      }
    }
    window_.clear();
  }

  const Milliwatts room_;
  const ComputeTimes& times_;
  std::vector<RowPower>& rows_;
  std::vector<uint32_t> window_;
};

// Slows computations of one graph so that each is within the cap. Returns the number of slowed rows.
uint64_t Slow(const proto::FrequencyCurve& curve, const DeviceLevels& levels, std::vector<RowPower>* rows,
              ComputeTimes* times) {
  const Milliwatts room = levels.most - levels.resident - levels.busy;
  uint64_t slowed = 0;
  for (size_t row = 0; row < rows->size(); ++row) {
    RowPower& power = (*rows)[row];
    if (power.role != Role::kComputes || power.all() <= room) continue;
    // The power of clocks and schedulers (`busy`) falls with the clock too.
    const double share =
        static_cast<double>(room + levels.busy) / static_cast<double>(power.all() + levels.busy);
    const double longer = SlowdownAt(curve, std::max(share, LeastShare(curve)));
    const double ps = longer * static_cast<double>(times->time[row].picos());
    times->time[row] = ps < 9e18 ? Time::Picos(std::llround(ps)) : Time::Never();
    Fit(room, &power);
    ++slowed;
  }
  return slowed;
}

}  // namespace

RowPowers PowerOfRows(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                      const proto::Device& device, const Constants& constants) {
  RowPowers out;
  const DistinctGraphs distinct(traces);
  const Milliwatts rated = ToMilliwatts(constants.profile.power().most_watts().value());
  DeviceLevels levels = LevelsOf(constants);
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    out.rows.push_back(GraphPowers(*distinct.graphs[g], times[g], device, constants).Rows());
    Regulator(rated - levels.resident - levels.busy, times[g], &out.rows.back()).Hold();
  }
  if (levels.most >= rated) return out;
  out.times = times;
  for (size_t g = 0; g < out.rows.size(); ++g)
    out.slowed += Slow(constants.profile.frequency(), levels, &out.rows[g], &out.times[g]);
  if (out.slowed == 0) out.times.clear();
  return out;
}

}  // namespace chakra::energy
