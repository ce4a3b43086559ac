#include "trace/import/pytorch/timeline/unseen_launches.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace chakra::pytorch {
namespace {

bool IsCall(const Event& e) { return e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver; }

enum class Launches : uint8_t { kUnread, kNothing, kKernel, kGraph, kBeginsCapture, kEndsCapture };

Launches WhatLaunches(absl::string_view name) {
  if (absl::StrContains(name, "StreamBeginCapture")) return Launches::kBeginsCapture;
  if (absl::StrContains(name, "StreamEndCapture")) return Launches::kEndsCapture;
  if (absl::EndsWith(name, "GraphLaunch")) return Launches::kGraph;
  for (const absl::string_view word : {"LaunchKernel", "LaunchCooperativeKernel", "EnqueueKernelLaunch"}) {
    if (absl::StrContains(name, word)) return Launches::kKernel;
  }
  return Launches::kNothing;
}

}  // namespace

UnseenWork FindUnseenWork(const DeviceTrace& device, const HostThreads& host, const DeviceOrder& order) {
  UnseenWork out;
  std::vector<Launches> of_name(device.strings.size(), Launches::kUnread);
  std::vector<bool> launched(device.events.size());  // the call, or one inside it
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
