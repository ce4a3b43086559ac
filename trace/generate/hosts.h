// Hosts: the times of their threads, by framework and year (hosts.txtpb).
#pragma once

#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// The host whose times apply. Errors: Training.host is not in hosts.txtpb, with the nearest name.
absl::StatusOr<proto::HostTimes> HostOf(const proto::Training& training);
// The times of the host: those that the training gives, or those of `host`.
HostCosts HostCostsOf(const proto::Training& training, const proto::HostTimes& host);

}  // namespace chakra::generate
