#include "backends/loggps/loggps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/registry.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::Status Nanos(const Parameters& p, const char* key, Time* out) {
  ASSIGN_OR_RETURN(const double ns, p.Number(key, 0, 1e12));
  *out = Time::FromNanos(ns);
  return absl::OkStatus();
}

absl::Status PerByteNanos(const Parameters& p, const char* key, double* out) {
  const absl::StatusOr<double> ns = p.Number(key, 0, 1e9);
  if (ns.ok()) *out = *ns;
  return ns.status();
}

absl::Status ReadLogGps(const Parameters& p, FabricOptions* options) {
  LogGpsOptions o;
  o.given = true;
  RETURN_IF_ERROR(Nanos(p, "L", &o.latency));
  RETURN_IF_ERROR(Nanos(p, "o", &o.overhead));
  RETURN_IF_ERROR(Nanos(p, "g", &o.gap));
  RETURN_IF_ERROR(PerByteNanos(p, "G", &o.gap_per_byte_ns));
  RETURN_IF_ERROR(PerByteNanos(p, "O", &o.overhead_per_byte_ns));
  ASSIGN_OR_RETURN(const double most, p.Number("S", 0, 9e15));
  if (most != std::floor(most)) return p.Bad("S", "a whole number of bytes");
  o.rendezvous_bytes = static_cast<uint64_t>(most);
  options->Set(o);
  return absl::OkStatus();
}

}  // namespace

// Computes in whole attoseconds, so that 0.02 ns a byte is exact for any message.
Time LogGpsOptions::PerByte(double ns, uint64_t bytes) {
  const uint64_t n = std::max<uint64_t>(bytes, 1) - 1;
  const __int128 product = static_cast<__int128>(std::llround(ns * 1e9)) * n;
  const __int128 picos = (product + 500000) / 1000000;
  return picos > std::numeric_limits<int64_t>::max() ? Time::Never()
                                                     : Time::Picos(static_cast<int64_t>(picos));
}

FlowCost LogGpsFabric::Cost(int src, int dst, uint64_t bytes) const {
  FlowCost cost;
  if (src == dst) return cost;
  cost.latency = options_.overhead + options_.latency + options_.overhead;
  cost.transfer = std::max(options_.Gap(bytes), options_.Overhead(bytes));
  cost.sent = options_.overhead + options_.Overhead(bytes);
  return cost;
}

FlowId LogGpsFabric::Start(const Flow& flow, Time now) {
  const FlowCost cost = Cost(flow.src, flow.dst, flow.OnLinks()).Limited(flow.OnLinks(), flow.limit);
  const auto push = [this, &flow](Time at, FlowEnd::Kind kind) {
    if (at != Time::Never()) ends_.Push({at, order_++, flow.tag, kind});
  };
  if (flow.want_sent) push(now + cost.sent, FlowEnd::kSent);
  push(now + cost.received() + flow.delay, FlowEnd::kReceived);
  return order_;
}

void LogGpsFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  while (!ends_.empty() && ends_.top().at <= t) {
    ended->push_back({ends_.top().tag, ends_.top().at, ends_.top().kind});
    ends_.Pop();
  }
}

const FabricKind& LogGpsKind() {
  static const FabricKind kind = {
      .name = "loggps",
      .help = "LogGOPS: messages keep CPUs and NICs busy, as in LogGOPSim; the network has no links",
      .make = [](const Topology&, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<LogGpsFabric>(options.Get<LogGpsOptions>());
      },
      .parameters = {{"L", "2500", "latency in ns, 0 to 1e12"},
                     {"o", "1500", "overhead of a message on a CPU in ns, 0 to 1e12"},
                     {"g", "1000", "gap between messages of a NIC in ns, 0 to 1e12"},
                     {"G", "6", "gap per byte in ns, 0 to 1e9"},
                     {"O", "0", "overhead per byte in ns, 0 to 1e9"},
                     {"S", "65535",
                      "largest message in bytes whose send does not wait for its receive, 0 to 9e15"}},
      .read = ReadLogGps,
      .takes = {&LogGpsOptions::kSet}};
  return kind;
}

}  // namespace chakra
