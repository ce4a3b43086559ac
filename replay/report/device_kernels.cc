#include "replay/report/device_kernels.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "replay/compute/compute_times.h"
#include "trace/base/utf8.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr size_t kMostKernels = 500;

struct Kernel {
  absl::string_view name;
  uint64_t count = 0;
  double ps = 0;
};

// Kernels by name, the longest first.
std::vector<Kernel> KernelsOf(const RunDescription& run) {
  const DistinctGraphs distinct(*run.traces);
  std::vector<uint64_t> uses(distinct.graphs.size(), 0);
  for (const uint32_t g : distinct.of_rank) ++uses[g];
  absl::flat_hash_map<absl::string_view, size_t> index;
  std::vector<Kernel> kernels;
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    const Graph& graph = *distinct.graphs[g];
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kComp || graph.is_cpu(row) || graph.is_kept_comm(row)) continue;
      const auto [it, fresh] = index.try_emplace(graph.name_of(row), kernels.size());
      if (fresh) kernels.push_back({it->first});
      Kernel& k = kernels[it->second];
      k.count += uses[g];
      k.ps += static_cast<double>((*run.times)[g].time[row].picos()) * static_cast<double>(uses[g]);
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel& a, const Kernel& b) { return a.ps > b.ps; });
  for (size_t i = kMostKernels + 1; i < kernels.size(); ++i) {
    kernels[kMostKernels].count += kernels[i].count;
    kernels[kMostKernels].ps += kernels[i].ps;
  }
  if (kernels.size() > kMostKernels + 1) {
    kernels.resize(kMostKernels + 1);
    kernels.back().name = "(others)";
  }
  return kernels;
}

}  // namespace

void AddDeviceKernels(const RunDescription& run, proto::Report* report) {
  double devices = 0, busy = 0;
  for (const proto::RankReport& r : report->rank()) {
    if (r.compute_busy_ps() == 0) continue;
    ++devices;
    busy += static_cast<double>(r.compute_busy_ps() + r.exposed_comm_ps());
  }
  const double whole = devices * static_cast<double>(report->makespan_ps());
  if (whole == 0) return;
  report->set_device_busy_share(busy / whole);
  const std::vector<Kernel> kernels = KernelsOf(run);
  double all = 0;
  for (const Kernel& k : kernels) all += k.ps;
  for (const Kernel& k : kernels) {
    proto::KernelReport& out = *report->add_kernel();
    out.set_name(ToUtf8(k.name));
    out.set_count(k.count);
    out.set_time_ps(static_cast<int64_t>(std::min(k.ps, 9.2e18)));
    out.set_share(all > 0 ? k.ps / all : 0);
    out.set_of_device(k.ps / whole);
  }
}

}  // namespace chakra
