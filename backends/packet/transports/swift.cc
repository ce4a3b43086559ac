#include "backends/packet/transports/swift.h"

#include <algorithm>
#include <cmath>

#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

const TransportTable<Swift::Config>& SwiftTable() {
  using C = Swift::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>()
          .Duration("base", &C::base,
                    "target round-trip time without switches; default: that of the idle path")
          .Duration("hop", &C::hop, "addition to the target for each switch; default: base / 6.55")
          .Duration("fs", &C::fs, "largest addition to the target for a small window; default: 5 * base")
          .Number("fs_min", &C::fs_min, 0.001, 10000, "window in packets up to which all of fs is added")
          .Number("fs_max", &C::fs_max, 0.01, 100000, "window in packets from which nothing is added")
          .Number("ai", &C::ai, 0.001, 1000, "growth of the window in a round trip, in packets")
          .Number("beta", &C::beta, 0.01, 1, "decrease for a delay above the target")
          .Number("max_mdf", &C::max_mdf, 0.01, 0.99, "limit of one decrease")
          .Number("least", &C::least, 0.00001, 1, "smallest window, in packets")
          .Number("most", &C::most, 0, 1000000,
                  "largest window, in packets; 0: what the NIC sends in the highest target")
          .Number("start", &C::start, 0, 1000000, "first window, in packets; 0: the bandwidth-delay product")
          .Count("reset_after", &C::reset_after, 1, 1000,
                 "timeouts in a row after which the window is `least`"));
  return *kTable;
}

}  // namespace

TransportKind Swift::Kind() {
  TransportKind k;
  k.name = "swift";
  k.skip_error = 0.05;
  k.summary = "Swift: a window that keeps the round-trip time at a target";
  k.source = "Kumar and others, SIGCOMM 2020, algorithm 1; constants of uet-htsim's model";
  k.parameters = SwiftTable().declared();
  return k;
}

absl::StatusOr<Swift::Config> Swift::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(SwiftTable().Read(p, &c));
  if (c.base && *c.base == Time::Zero()) return p.Bad("base", "more than 0, 20us for instance");
  if (c.fs_min >= c.fs_max) return p.Bad("fs_min", "less than fs_max, 0.1 for instance");
  if (c.most > 0 && c.most < 1) return p.Bad("most", "0 or at least 1; the nearest is 1");
  return c;
}

Swift::Swift(const Config& config, const PathFacts& path, Control* control)
    : mtu_(path.mtu),
      wire_(path.wire),
      ai_(config.ai),
      beta_(config.beta),
      max_mdf_(config.max_mdf),
      least_(config.least),
      rtt_(path.base_rtt),
      reset_after_(config.reset_after) {
  const double base = static_cast<double>(config.base.value_or(path.base_rtt).picos());
  const double hop = config.hop ? static_cast<double>(config.hop->picos()) : base / 6.55;
  const int switches = std::max(path.hops - 1, 0);  // the number that a TTL counts
  fixed_ = base + switches * hop;
  fs_ = config.fs ? static_cast<double>(config.fs->picos()) : 5 * base;
  alpha_ = fs_ / (1 / std::sqrt(config.fs_min) - 1 / std::sqrt(config.fs_max));
  shift_ = alpha_ / std::sqrt(config.fs_max);
  most_ = config.most > 0 ? config.most : std::max(1.0, path.nic_rate * (fixed_ + fs_) / wire_);
  cwnd_ = std::clamp(config.start > 0 ? config.start : path.Bdp() / wire_, least_, most_);
  Set(cwnd_, Time::Zero(), control);
  decreased_ = false;
}

double Swift::Target() const { return fixed_ + std::clamp(alpha_ / std::sqrt(cwnd_) - shift_, 0.0, fs_); }

void Swift::OnAck(const Ack& ack, Control* control) {
  timeouts_ = 0;
  rtt_ = ack.rtt;
  const double delay = static_cast<double>(ack.rtt.picos());
  const double target = Target();
  double cwnd = cwnd_;
  if (delay < target) {
    const double packets = static_cast<double>(ack.acked) / mtu_;
    cwnd += ai_ * packets / std::max(cwnd_, 1.0);
  } else if (MayDecrease(ack.now)) {
    cwnd *= std::max(1 - beta_ * (delay - target) / delay, 1 - max_mdf_);
  }
  Set(cwnd, ack.now, control);
}

void Swift::OnLoss(const Loss& loss, Control* control) {
  double cwnd = cwnd_;
  timeouts_ = loss.kind == Loss::kTimeout ? timeouts_ + 1 : 0;
  if (timeouts_ >= reset_after_) {
    cwnd = least_;
  } else if (MayDecrease(loss.now)) {
    cwnd *= 1 - max_mdf_;
  }
  Set(cwnd, loss.now, control);
}

void Swift::Set(double cwnd, Time now, Control* control) {
  cwnd = std::clamp(cwnd, least_, most_);
  if (cwnd < cwnd_) {
    decreased_ = true;
    last_decrease_ = now;
  }
  cwnd_ = cwnd;
  // Window below one packet: one packet in flight, paced so that cwnd packets are sent each round trip.
  control->window = std::max(cwnd_, 1.0) * mtu_;
  control->pace = cwnd_ < 1 ? cwnd_ * wire_ / static_cast<double>(rtt_.picos()) : Control::kNone;
}

}  // namespace chakra::packet
