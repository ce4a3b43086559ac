#include "backends/packet/transports/hpcc.h"

#include <algorithm>

#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {

namespace {

const TransportTable<Hpcc::Config>& HpccTable() {
  using C = Hpcc::Config;
  static const auto* const kTable =
      new TransportTable<C>(TransportTable<C>()
                                .Number("eta", &C::eta, 0.1, 1.5, "target utilisation")
                                .Count("max_stage", &C::max_stage, 0, 100,
                                       "round trips of pure increase in a row; the published runs use 0")
                                .Bytes("w_ai", &C::w_ai, 0, 1000000000, "increase of the window in each step")
                                .Count("flows", &C::flows, 0, 1000000,
                                       "N: w_ai is (1 - eta) / N of the first window; 0: w_ai is given")
                                .Rate("least", &C::least, "lowest rate of a connection"));
  return *kTable;
}

}  // namespace

TransportKind Hpcc::Kind() {
  TransportKind k;
  k.name = "hpcc";
  k.skip_error = 0.05;
  k.summary = "HPCC: window and pace from the queues and rates that each hop reports";
  k.source = "Li and others, SIGCOMM 2019, algorithm 1; draft-miao-tsv-hpcc-01";
  k.parameters = HpccTable().declared();
  k.telemetry = true;
  return k;
}

absl::StatusOr<Hpcc::Config> Hpcc::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(HpccTable().Read(p, &c));
  if (c.flows > 0 && p.Given("w_ai")) return p.Bad("flows", "0 where w_ai is given, because flows sets w_ai");
  if (c.flows > 0 && c.eta >= 1) return p.Bad("flows", "0 where eta is 1 or more: w_ai is (1 - eta) / flows");
  return c;
}

Hpcc::Hpcc(const Config& config, const PathFacts& path, Control* control)
    : eta_(config.eta),
      t_(static_cast<double>(path.base_rtt.picos())),
      mtu_(path.mtu),
      wire_(path.wire),
      max_stage_(config.max_stage) {
  most_ = path.nic_rate * t_;
  least_ = std::min(config.least * t_, most_);
  w_ai_ = config.flows > 0 ? most_ * (1 - eta_) / config.flows : config.w_ai;
  w_ = reference_ = most_;
  Steer(control);
}

void Hpcc::OnAck(const Ack& ack, Control* control) {
  if (ack.telemetry == nullptr || ack.telemetry->hops == 0) return;
  if (SamePath(ack)) {
    Measure(*ack.telemetry);
    const bool update = ack.packet > last_update_;
    Adjust(update);
    if (update) last_update_ = ack.next;
    Steer(control);
  } else {  // the first acknowledgement of a path is the base of the next comparison
    u_ = 1;
    last_update_ = ack.next;
    path_ = ack.path;
  }
  last_.hops = ack.telemetry->hops;
  std::copy_n(ack.telemetry->hop, last_.hops, last_.hop);
}

// A record does not name its port. Another rate, or a counter that went back, means another port.
bool Hpcc::SamePath(const Ack& ack) const {
  const Telemetry& now = *ack.telemetry;
  if (now.hops != last_.hops || ack.path != path_) return false;
  for (int i = 0; i < now.hops; ++i) {
    const HopRecord &a = last_.hop[i], &b = now.hop[i];
    if (b.at <= a.at || b.sent < a.sent || b.rate != a.rate) return false;
  }
  return true;
}

void Hpcc::Measure(const Telemetry& now) {
  double most = 0, tau = 0;
  for (int i = 0; i < now.hops; ++i) {
    const HopRecord &a = last_.hop[i], &b = now.hop[i];
    const double dt = static_cast<double>(b.at - a.at);
    const double queue = static_cast<double>(std::min(a.queued, b.queued)) / (b.rate * t_);
    const double u = queue + static_cast<double>(b.sent - a.sent) / (dt * b.rate);
    if (u < most || (u == most && i > 0)) continue;
    most = u;
    tau = dt;
  }
  const double share = std::min(tau / t_, 1.0);
  u_ = (1 - share) * u_ + share * most;
}

void Hpcc::Adjust(bool update) {
  const bool compare = u_ >= eta_ || stage_ >= max_stage_;
  w_ = compare ? reference_ * eta_ / u_ + w_ai_ : reference_ + w_ai_;
  w_ = std::clamp(w_, least_, most_);
  if (!update) return;
  reference_ = w_;
  stage_ = compare ? 0 : stage_ + 1;
}

void Hpcc::Steer(Control* control) const {
  control->window = w_ * mtu_ / wire_;
  control->pace = w_ / t_;
}

}  // namespace chakra::packet
