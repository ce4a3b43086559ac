#include "trace/import/timeline/unseen_launches.h"

#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/capture/launch_calls.h"

namespace chakra::pytorch {
namespace {

enum class Launches : uint8_t { kUnread, kNothing, kKernel, kGraph, kBeginsCapture, kEndsCapture };

Launches WhatLaunches(absl::string_view name) {
  if (BeginsCapture(name)) return Launches::kBeginsCapture;
  if (EndsCapture(name)) return Launches::kEndsCapture;
  if (LaunchesGraph(name)) return Launches::kGraph;
  return LaunchesKernel(name) ? Launches::kKernel : Launches::kNothing;
}

}  // namespace

UnseenWork FindUnseenWork(const DeviceTrace& device, const HostThreads& host, const DeviceOrder& order) {
  UnseenWork out;
  std::vector<Launches> of_name(device.strings.size(), Launches::kUnread);
  std::vector<bool> launched(device.events.size());  // the call, or a call inside it, launched an operation
  for (const DeviceOp& op : order.ops) {
    for (uint32_t row = op.launch; row != kNoRow && !launched[row]; row = host.parent[row])
      launched[row] = true;
  }
  for (const HostThread& thread : host.threads) {
    bool capturing = false;
    for (const uint32_t row : thread.events) {
      const Event& e = device.events[row];
      if (!IsCall(e)) continue;
      Launches& what = of_name[e.name];
      if (what == Launches::kUnread) what = WhatLaunches(device.name_of(e));
      if (what == Launches::kBeginsCapture || what == Launches::kEndsCapture)
        capturing = what == Launches::kBeginsCapture;
      if (capturing || e.correlation < 0 || (what != Launches::kKernel && what != Launches::kGraph)) continue;
      const uint32_t around = host.parent[row];
      if (around != kNoRow && IsCall(device.events[around])) continue;
      const uint64_t unseen = launched[row] ? 0 : 1;
      (what == Launches::kKernel ? out.launches : out.graphs) += 1;
      (what == Launches::kKernel ? out.launches_unseen : out.graphs_unseen) += unseen;
    }
  }
  if (order.ops.empty()) out.unknown = device.unknown_events;
  return out;
}

}  // namespace chakra::pytorch
