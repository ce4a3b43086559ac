// What a message between two network cards costs beside its bytes: proto::NetworkTransport, with what it
// leaves out. Times are in us.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/nccl/host_messages.h"

namespace chakra {

// From 0 to 1, with the logarithm of `bytes`, from a quarter of `at` to twice as much.
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
  bool has_host = false;   // numbers for libraries of hosts
  bool has_device = true;  // and of devices: a transport that is not known has those that it gives
  HostMessages host;

  // What a message of `bytes` costs more than one of few bytes.
  double LargeUs(double bytes) const { return large_us * RiseTo(large_bytes, bytes); }
  // What an exchange with `peers` on other nodes, `bytes` to each, takes before and between its messages.
  double ExchangeUs(double bytes, int peers) const {
    return (bytes <= small_bytes ? small_exchange_us : exchange_us) + post_us * peers;
  }
  // How much longer than alone a byte takes on so many nodes.
  double Crowding(int nodes) const;
};

// Fills in what a known transport of that name has. Errors name the field below `field`
// ("level[1].transport."): an unknown name without any field of its own, or a value out of range.
absl::StatusOr<Transport> BuildTransport(const proto::NetworkTransport& given, absl::string_view field);

}  // namespace chakra
