// Helpers of the builders.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/network.h"

namespace chakra {

constexpr int kMaxNetworkDevices = 1 << 22;

// The number of devices of a network that has room for `room` devices: `asked`, or `room` if `asked` is 0.
// `fits` names parameters with more room, for the error text.
inline absl::StatusOr<int> DevicesOf(const Parameters& p, int asked, int64_t room, absl::string_view fits) {
  if (asked > room) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", asked, " devices, but room for ", room,
                                                   " only", fits.empty() ? "" : "; expected ", fits));
  }
  if (asked == 0 && room > kMaxNetworkDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat(p.network(), ": room for ", room, " devices; expected at most ", kMaxNetworkDevices));
  }
  return asked == 0 ? static_cast<int>(room) : asked;
}

// Reads a class of links from two parameters.
inline absl::StatusOr<LinkClass> ClassOf(const Parameters& p, absl::string_view name,
                                         absl::string_view rate_key, absl::string_view latency_key,
                                         bool any_rate = false) {
  auto rate = p.Rate(rate_key, any_rate);
  if (!rate.ok()) return rate.status();
  auto latency = p.Latency(latency_key);
  if (!latency.ok()) return latency.status();
  return LinkClass{std::string(name), *rate, *latency};
}

inline absl::StatusOr<Network> Finish(GraphBuilder* builder, std::shared_ptr<const Guide> guide,
                                      std::string note) {
  auto graph = builder->Build();
  if (!graph.ok()) return graph.status();
  return Network{*std::move(graph), std::move(guide), std::move(note)};
}

}  // namespace chakra
