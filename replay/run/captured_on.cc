#include "replay/run/captured_on.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/cluster/devices.h"
#include "replay/compute/device_rates.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr char kKept[] = "; recorded times of computation are kept, whatever device the cluster has";

double DefaultPeak(const proto::Device& device) {
  const auto it = device.peak_tflops().find(DefaultDtype(device));
  return it == device.peak_tflops().end() ? 0 : it->second;
}

// Whether the traces have computation on a device.
bool HasDeviceOperations(const TraceSet& traces) {
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    for (uint32_t row = 0; row < graph->size(); ++row) {
      if (graph->type[row] == NodeType::kComp && !graph->is_cpu(row) && !graph->is_kept_comm(row))
        return true;
    }
  }
  return false;
}

bool SameRates(const proto::Device& a, const proto::Device& b) {
  if (a.memory_gbytes_per_s() != b.memory_gbytes_per_s()) return false;
  for (const auto& [dtype, peak] : a.peak_tflops()) {
    const auto it = b.peak_tflops().find(dtype);
    if (it != b.peak_tflops().end() && it->second != peak) return false;
  }
  return DefaultPeak(a) == DefaultPeak(b);
}

}  // namespace

std::optional<CapturedOn> FindCapturedOn(const LoadedTraces& traces, const proto::Device& device,
                                         std::vector<std::string>* notes) {
  const bool rates = device.memory_gbytes_per_s() > 0 && DefaultPeak(device) > 0;
  if (!traces.HasTimes() || (!rates && device.name().empty())) return std::nullopt;
  if (!HasDeviceOperations(traces.set)) return std::nullopt;
  std::set<std::string> names;
  for (const auto& capture : traces.captures) names.insert(capture->device);
  if (names.size() > 1) {
    notes->push_back(
        absl::StrCat("the captures are of several devices (", absl::StrJoin(names, ", "), ")", kKept));
    return std::nullopt;
  }
  const std::string& name = *names.begin();
  if (name.empty()) {
    notes->push_back(absl::StrCat("the capture does not name its device", kKept));
    return std::nullopt;
  }
  auto from = FindDevice(name);
  if (!from.ok()) {
    notes->push_back(absl::StrCat("the capture's device, \"", name, "\", is not known", kKept));
    return std::nullopt;
  }
  if (!rates) {
    notes->push_back(absl::StrCat("the cluster gives no peak or memory bandwidth of its device", kKept));
    return std::nullopt;
  }
  if (SameRates(*from, device)) return std::nullopt;
  return CapturedOn{name, *std::move(from)};
}

}  // namespace chakra
