// The costs of a message between two NICs other than those of its bytes: proto::NetworkTransport, with its
// defaults filled in. Times are in us.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/nccl/host_messages.h"

namespace chakra {

// Rises from 0 to 1 with the logarithm of `bytes`, from a quarter of `at` to twice `at`.
double RiseTo(double at, double bytes);

struct Transport {
  std::string name;
  double message_us = 0;
  double large_us = 0;
  double large_bytes = 0;
  double rate_share = 1;
  double post_us = 0;
  double exchange_us = 0;
  double small_exchange_us = 0;
  double small_bytes = 0;
  double exchange_share = 1;
  int quiet_nodes = 0;  // 0: no crowding
  double crowding = 0;
  double tuner_latency_us = 0;
  bool has_host = false;   // whether it has numbers for libraries of hosts
  bool has_device = true;  // whether it has numbers for libraries of devices; true also if it has none for
                           // hosts
  HostMessages host;

  // The additional time of a message of `bytes` over that of a message of few bytes.
  double LargeUs(double bytes) const { return large_us * RiseTo(large_bytes, bytes); }
  // The time that an exchange with `peers` on other nodes, with `bytes` to each, takes before and between its
  // messages.
  double ExchangeUs(double bytes, int peers) const {
    return (bytes <= small_bytes ? small_exchange_us : exchange_us) + post_us * peers;
  }
  // The factor by which a byte takes longer on `nodes` nodes than on few.
  double Crowding(int nodes) const;
};

// Fills in the values of a known transport of that name. Errors name the field below `field`
// ("level[1].transport."): an unknown name without any field of its own, or a value out of range.
absl::StatusOr<Transport> BuildTransport(const proto::NetworkTransport& given, absl::string_view field);

}  // namespace chakra
