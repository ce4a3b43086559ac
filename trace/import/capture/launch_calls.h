// Classifies runtime and driver calls of CUDA, HIP and others by their names: what they do with kernels and
// graphs.
#pragma once

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

inline bool IsCall(const Event& e) { return e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver; }
inline bool BeginsCapture(absl::string_view name) { return absl::StrContains(name, "StreamBeginCapture"); }
inline bool EndsCapture(absl::string_view name) { return absl::StrContains(name, "StreamEndCapture"); }
inline bool LaunchesGraph(absl::string_view name) { return absl::StrContains(name, "GraphLaunch"); }
inline bool LaunchesKernel(absl::string_view name) {
  return absl::StrContains(name, "LaunchKernel") || absl::StrContains(name, "LaunchCooperativeKernel") ||
         absl::StrContains(name, "EnqueueKernelLaunch");
}

}  // namespace chakra::pytorch
