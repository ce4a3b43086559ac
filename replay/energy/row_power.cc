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

// Of the peak and of the memory bandwidth.
struct Use {
  double tensor = 0, memory = 0;
};

// Of kernels whose work is not told: what such kernels reach in the measured rows of
// test/validation/kernels.csv, to a tenth.
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
      return {0, 0.1};
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
    return {std::min(1.0, use.tensor), std::min(1.0, use.memory)};
  }

  // What rows of one name, shapes and dtypes share.
  struct Kernel {
    OperatorWork work;
    DeviceRates rates;
    Use usual;
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
    // Peaks as the data sheet gives them, whatever power lets the device hold.
    kernel.rates.operations_per_us /= SustainedShare(device_);
    kernel.usual = UsualUse(FamilyOfKernelName(name));
    return kernel;
  }

  const Graph& graph_;
  const ComputeTimes& times_;
  const proto::Device& device_;
  const proto::DevicePower& power_;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, Kernel> kernels_;
};

// Slows computations of one graph so that each is within the cap. Returns how many.
uint64_t Slow(const proto::FrequencyCurve& curve, const DeviceLevels& levels, std::vector<RowPower>* rows,
              ComputeTimes* times) {
  const Milliwatts room = levels.most - levels.resident - levels.busy;
  uint64_t slowed = 0;
  for (size_t row = 0; row < rows->size(); ++row) {
    RowPower& power = (*rows)[row];
    if (power.role != Role::kComputes || power.all() <= room) continue;
    const double share = static_cast<double>(room) / static_cast<double>(power.all());
    const double longer = SlowdownAt(curve, std::max(share, LeastShare(curve)));
    const double ps = longer * static_cast<double>(times->time[row].picos());
    times->time[row] = ps < 9e18 ? Time::Picos(std::llround(ps)) : Time::Never();
    power.tensor = std::min(room, static_cast<Milliwatts>(share * static_cast<double>(power.tensor)));
    power.other = room - power.tensor;
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
    // Alone, no operation draws more than the rated power.
    const Milliwatts room = rated - levels.resident - levels.busy;
    for (RowPower& power : out.rows.back()) {
      if (power.role != Role::kComputes || power.all() <= room) continue;
      power.tensor = static_cast<Milliwatts>(static_cast<double>(power.tensor) * static_cast<double>(room) /
                                             static_cast<double>(power.all()));
      power.other = room - power.tensor;
    }
  }
  if (levels.most >= rated) return out;
  out.times = times;
  for (size_t g = 0; g < out.rows.size(); ++g)
    out.slowed += Slow(constants.profile.frequency(), levels, &out.rows[g], &out.times[g]);
  if (out.slowed == 0) out.times.clear();
  return out;
}

}  // namespace chakra::energy
