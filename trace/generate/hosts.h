// Hosts: the times of their threads, by framework and year (hosts.txtpb).
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// The host whose times apply. Errors: Training.host is not in hosts.txtpb, with the nearest name.
absl::StatusOr<proto::HostTimes> HostOf(const proto::Training& training);
// The time to launch a kernel in a loop of PyTorch's operators that has no modules between them, as that of
// an optimizer over its matrices: HostCosts::eager_kernel_ns, but at most that of eager PyTorch, 10 us
// (hosts.cc has the source), since the hosts of frameworks include the time of modules.
int64_t LoopKernelNs(const HostCosts& host);
// The times of the host: those that the training gives, or those of `host`.
HostCosts HostCostsOf(const proto::Training& training, const proto::HostTimes& host);

}  // namespace chakra::generate
