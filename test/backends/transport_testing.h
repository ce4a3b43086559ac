// A path and acknowledgements for tests of transports.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

using namespace packet;

// 100 Gb/s, 12 us, packets of 1,000 B without headers, for round numbers. The bandwidth-delay product is
// 150,000 B.
inline PathFacts RoundPath() {
  PathFacts path;
  path.rate = path.nic_rate = 0.0125;
  path.base_rtt = Time::Micros(12);
  path.mtu = path.wire = 1000;
  path.hops = 2;
  return path;
}

template <typename T>
absl::StatusOr<typename T::Config> ReadConfig(absl::string_view text) {
  auto spec = ParseNetworkSpec(text);
  if (!spec.ok()) return spec.status();
  auto parameters = Parameters::Make(*spec, T::Kind().parameters);
  if (!parameters.ok()) return parameters.status();
  return T::Read(*parameters);
}

// The error of Read() for a text that it refuses.
template <typename T>
std::string Refusal(absl::string_view text) {
  return std::string(ReadConfig<T>(text).status().message());
}

}  // namespace chakra::packet
