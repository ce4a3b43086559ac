#include "replay/nccl/host_messages.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace chakra {

double HostMessages::OwnUs(double bytes) const {
  if (copy_gbytes_per_s <= 0) return rendezvous_us;
  return std::min(rendezvous_us, bytes / (copy_gbytes_per_s * 1e3));
}

absl::StatusOr<HostMessages> BuildHostMessages(const proto::HostMessages& given, absl::string_view field) {
  constexpr double kMostMicros = 1e6, kMostGigabytes = 1e9;
  HostMessages out;
  out.rate_share = given.rate_share() == 0 ? 1 : given.rate_share();
  struct Number {
    const char* name;
    double value;
    double most;
    double* to;
  };
  const Number numbers[] = {
      {"latency_us", given.latency_us(), kMostMicros, &out.latency_us},
      {"spread_us", given.spread_us(), kMostMicros, &out.spread_us},
      {"copy_gbytes_per_s", given.copy_gbytes_per_s(), kMostGigabytes, &out.copy_gbytes_per_s},
      {"rendezvous_us", given.rendezvous_us(), kMostMicros, &out.rendezvous_us},
      {"rate_share", out.rate_share, 1, &out.rate_share},
      {"rank_gbytes_per_s", given.rank_gbytes_per_s(), kMostGigabytes, &out.rank_gbytes_per_s},
      {"post_us", given.post_us(), kMostMicros, &out.post_us}};
  for (const Number& n : numbers) {
    if (!std::isfinite(n.value) || n.value < 0 || n.value > n.most) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: collectives.library.", field, n.name, " is ",
                                                     n.value, "; expected a number >= 0 and <= ", n.most));
    }
    *n.to = n.value;
  }
  return out;
}

}  // namespace chakra
