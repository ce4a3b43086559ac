#include "backends/packet/transports/dctcp.h"

#include <algorithm>

#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {

namespace {

const TransportTable<Dctcp::Config>& DctcpTable() {
  using C = Dctcp::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>(true)
          .Word(
              "set", {"paper", "hpcc"},
              [](size_t i, C* c) {
                if (i == 0) return;
                c->ai_rate = 615e6 / 8 * 1e-12;
                c->most = 1;
                c->least_rate = 125e-6;
                c->pace = true;
              },
              "constants: of the paper; or of the HPCC authors' run.py, 615 Mb/s per round trip, paced, at "
              "most one BDP")
          .Number("g", &C::g, 1e-6, 1, "weight of the newest sample in alpha")
          .Bytes("initial", &C::initial, 0, 1'000'000'000'000,
                 "payload of the first window; 0: the bandwidth-delay product")
          .Flag("slow_start", &C::slow_start,
                "double the window each round trip until the first mark or loss")
          .Bytes("ai", &C::ai, 1, 1'000'000'000,
                 "payload by which the window grows in a round trip; 0 in the paper's set: one packet")
          .Rate("ai_rate", &C::ai_rate, "ai as a rate")
          .Number("most", &C::most, 0.01, 1000, "limit of the window, in bandwidth-delay products")
          .Rate("min_rate", &C::least_rate, "the window allows at least this rate; default: one packet")
          .Flag("pace", &C::pace, "spread the window over the round trip"));
  return *kTable;
}

}  // namespace

TransportKind Dctcp::Kind() {
  TransportKind k;
  k.name = "dctcp";
  k.skip_error = 0.01;
  k.summary = "Window, cut by the share of marked packets";
  k.source = "Alizadeh and others, Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257";
  k.parameters = DctcpTable().declared();
  k.ecn = true;
  return k;
}

absl::StatusOr<Dctcp::Config> Dctcp::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(DctcpTable().Read(p, &c));
  if (p.Given("ai") && p.Given("ai_rate")) return p.Bad("ai_rate", "either ai or ai_rate, not both");
  if (p.Given("ai")) c.ai_rate = 0;
  return c;
}

Dctcp::Dctcp(const Config& config, const PathFacts& path, Control* control)
    : g_(config.g), mtu_(path.mtu), fastest_(path.nic_rate) {
  // Share of payload in the bytes on the wire.
  const double share = static_cast<double>(path.mtu) / path.wire;
  const double rtt = static_cast<double>(path.base_rtt.picos());
  const double bdp = path.Bdp() * share;
  ai_ = config.ai_rate > 0 ? config.ai_rate * rtt * share : config.ai > 0 ? config.ai : mtu_;
  most_ = std::max({config.most * bdp, config.initial, mtu_});
  least_ = std::clamp(config.least_rate * rtt * share, mtu_, most_);
  window_ = config.initial > 0 ? config.initial : bdp;
  slow_until_ = config.slow_start ? std::numeric_limits<double>::infinity() : 0;
  pace_ = config.pace && rtt > 0 ? 1 / (share * rtt) : 0;
  Steer(control);
}

void Dctcp::OnAck(const Ack& ack, Control* control) {
  acked_ += static_cast<double>(ack.acked);
  if (ack.marked) marked_ += static_cast<double>(ack.acked);
  bool round = false;
  if (!begun_) {
    begun_ = true;
    round_ends_ = ack.next;
  } else if (ack.packet >= round_ends_) {
    round = true;
    EndRound(ack.next);
  }
  if (ack.packet < cut_ends_) return;
  if (ack.marked) {
    window_ *= 1 - alpha_ / 2;
    slow_until_ = window_;
    cut_ends_ = ack.next;
  } else {
    Grow(ack, round);
  }
  Steer(control);
}

void Dctcp::EndRound(uint64_t next) {
  if (acked_ > 0) alpha_ += g_ * (marked_ / acked_ - alpha_);
  acked_ = marked_ = 0;
  round_ends_ = next;
}

// Does not grow if less than half of the window is in use, as in RFC 7661 for TCP.
void Dctcp::Grow(const Ack& ack, bool round) {
  if (2 * static_cast<double>(ack.in_flight + ack.acked) < window_) return;
  if (window_ < slow_until_) {
    window_ = std::min(window_ + static_cast<double>(ack.acked), slow_until_);
  } else if (round) {
    window_ += ai_;
  }
}

// RFC 5681, sections 3.1 and 3.2: half the window once a window; after a timeout one packet, then slow start
// up to half.
void Dctcp::OnLoss(const Loss& loss, Control* control) {
  if (loss.kind == Loss::kTimeout) {
    slow_until_ = std::max(window_ / 2, 2 * mtu_);
    window_ = mtu_;
    cut_ends_ = loss.packet;
  } else if (loss.packet >= cut_ends_) {
    window_ /= 2;
    slow_until_ = window_;
    cut_ends_ = loss.next;
  }
  Steer(control);
}

void Dctcp::Steer(Control* control) {
  window_ = std::clamp(window_, least_, most_);
  control->window = window_;
  if (pace_ > 0) control->pace = std::min(window_ * pace_, fastest_);
}

}  // namespace chakra::packet
