#include "replay/nccl/transport.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/transports/transports.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

constexpr double kMostMicros = 1e6;
constexpr double kMostMessageBytes = 1e15;
constexpr int kMostNodes = 1 << 22;

// Whether any field other than the name, the source and the host numbers is set.
bool HasFields(const proto::NetworkTransport& t) {
  return t.has_message_us() || t.has_large_us() || t.has_rate_share() || t.has_post_us() ||
         t.has_exchange_us() || t.has_small_exchange_us() || t.has_exchange_share() || t.has_crowding() ||
         t.has_tuner_latency_us();
}

}  // namespace

double RiseTo(double at, double bytes) {
  if (at <= 0) return 1;
  return bytes <= at / 4 ? 0 : std::min(1.0, std::log2(bytes / (at / 4)) / 3);
}

double Transport::Crowding(int nodes) const {
  if (quiet_nodes <= 0 || nodes <= quiet_nodes) return 1;
  return 1 + crowding * std::log2(static_cast<double>(nodes) / quiet_nodes);
}

absl::StatusOr<Transport> BuildTransport(const proto::NetworkTransport& given, absl::string_view field) {
  proto::NetworkTransport t;
  const absl::string_view known = TransportText(given.name());
  if (!known.empty()) {
    RETURN_IF_ERROR(ParseMessage(known, absl::StrCat("transport ", given.name()), &t));
  } else if (!given.name().empty() && !HasFields(given) && !given.has_host()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cluster: collectives.library.", field, "name is \"", given.name(), "\"",
        SuggestName(given.name(), TransportNames()),
        "; expected one of: ", absl::StrJoin(TransportNames(), ", "), "; or another name with its fields"));
  }
  t.MergeFrom(given);
  Transport out;
  out.has_host = t.has_host();
  out.has_device = HasFields(t) || !t.has_host();
  ASSIGN_OR_RETURN(out.host, BuildHostMessages(t.host(), absl::StrCat(field, "host.")));
  out.name = t.name();
  struct Number {
    const char* name;
    bool has;
    double value;
    double most;
    double* to;
    bool share = false;
  };
  const Number numbers[] = {
      {"message_us", t.has_message_us(), t.message_us(), kMostMicros, &out.message_us},
      {"large_us", t.has_large_us(), t.large_us(), kMostMicros, &out.large_us},
      {"large_bytes", t.has_large_bytes(), t.large_bytes(), kMostMessageBytes, &out.large_bytes},
      {"rate_share", t.has_rate_share(), t.rate_share(), 1, &out.rate_share, true},
      {"post_us", t.has_post_us(), t.post_us(), kMostMicros, &out.post_us},
      {"exchange_us", t.has_exchange_us(), t.exchange_us(), kMostMicros, &out.exchange_us},
      {"small_exchange_us", t.has_small_exchange_us(), t.small_exchange_us(), kMostMicros,
       &out.small_exchange_us},
      {"small_bytes", t.has_small_bytes(), t.small_bytes(), kMostMessageBytes, &out.small_bytes},
      {"exchange_share", t.has_exchange_share(), t.exchange_share(), 1, &out.exchange_share, true},
      {"quiet_nodes", t.has_quiet_nodes(), static_cast<double>(t.quiet_nodes()), kMostNodes, nullptr},
      {"crowding", t.has_crowding(), t.crowding(), 1000, &out.crowding},
      {"tuner_latency_us", t.has_tuner_latency_us(), t.tuner_latency_us(), kMostMicros,
       &out.tuner_latency_us}};
  for (const Number& n : numbers) {
    if (!n.has) continue;
    if (!std::isfinite(n.value) || n.value > n.most || n.value < 0 || (n.share && n.value == 0)) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: collectives.library.", field, n.name, " is ",
                                                     n.value, "; expected a number ",
                                                     n.share ? "> 0" : ">= 0", " and <= ", n.most));
    }
    if (n.to != nullptr) *n.to = n.value;
  }
  out.quiet_nodes = t.quiet_nodes();
  if (!t.has_small_exchange_us()) out.small_exchange_us = out.exchange_us;
  return out;
}

}  // namespace chakra
