// The costs of a message from the memory of one host to that of another: proto::HostMessages. Times are in
// us.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

struct HostMessages {
  double latency_us = 0;
  double spread_us = 0;
  double copy_gbytes_per_s = 0;  // 0: free
  double rendezvous_us = 0;
  double rate_share = 1;
  double rank_gbytes_per_s = 0;  // 0: no limit
  double post_us = 0;

  // The time of a message of `bytes` other than its latency and the time of its bytes at the full rate.
  double OwnUs(double bytes) const;
};

// Errors name the field below `field` ("level[1].transport.host."): a value out of range.
absl::StatusOr<HostMessages> BuildHostMessages(const proto::HostMessages& given, absl::string_view field);

}  // namespace chakra
