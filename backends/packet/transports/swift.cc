#include "backends/packet/transports/swift.h"

#include <algorithm>
#include <cmath>

#include "backends/packet/transports/overrides.h"

namespace chakra::packet {
namespace {

absl::Status ReadTime(const Parameters& p, const char* key, std::optional<Time>* out) {
  if (p.Empty(key)) return absl::OkStatus();
  const auto t = p.Latency(key);
  if (t.ok()) *out = *t;
  return t.status();
}

}  // namespace

TransportKind Swift::Kind() {
  TransportKind k;
  k.name = "swift";
  k.skip_error = 0.05;
  k.summary = "Swift: a window that keeps the round-trip time at a target";
  k.source = "Kumar and others, SIGCOMM 2020, algorithm 1; constants of uet-htsim's model";
  k.parameters = {
      {"base", "", "target round-trip time without switches, as 20us; else the path's own, idle"},
      {"hop", "", "what each switch adds to the target, as 3us; else base / 6.55"},
      {"fs", "", "most that a small window adds to the target, as 100us; else 5 * base"},
      {"fs_min", "0.1", "packets: windows up to it add all of fs, 0.001 to 10000"},
      {"fs_max", "100", "packets: windows from it on add nothing, 0.01 to 100000"},
      {"ai", "1", "packets that the window grows by in a round trip, 0.001 to 1000"},
      {"beta", "0.8", "decrease for a delay above the target, 0.01 to 1"},
      {"max_mdf", "0.5", "most that one decrease takes, 0.01 to 0.99"},
      {"least", "0.001", "packets, smallest window, 0.00001 to 1"},
      {"most", "0", "packets, largest window, to 1000000; 0: what the card sends in the highest target"},
      {"start", "0", "packets, first window, to 1000000; 0: what the path holds"},
      {"reset_after", "5", "timeouts in a row that take the window to `least`, 1 to 1000"}};
  return k;
}

absl::StatusOr<Swift::Config> Swift::Read(const Parameters& p) {
  Config c;
  for (const absl::Status& s :
       {ReadTime(p, "base", &c.base), ReadTime(p, "hop", &c.hop), ReadTime(p, "fs", &c.fs)}) {
    if (!s.ok()) return s;
  }
  Overrides o(p);
  o.Number("fs_min", 0.001, 10000, &c.fs_min);
  o.Number("fs_max", 0.01, 100000, &c.fs_max);
  o.Number("ai", 0.001, 1000, &c.ai);
  o.Number("beta", 0.01, 1, &c.beta);
  o.Number("max_mdf", 0.01, 0.99, &c.max_mdf);
  o.Number("least", 0.00001, 1, &c.least);
  o.Number("most", 0, 1000000, &c.most);
  o.Number("start", 0, 1000000, &c.start);
  o.Count("reset_after", 1, 1000, &c.reset_after);
  if (!o.status().ok()) return o.status();
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
  const int switches = std::max(path.hops - 1, 0);  // what a TTL counts
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
  // Less than a packet: one at a time, so slowly that it is cwnd packets a round trip.
  control->window = std::max(cwnd_, 1.0) * mtu_;
  control->pace = cwnd_ < 1 ? cwnd_ * wire_ / static_cast<double>(rtt_.picos()) : Control::kNone;
}

}  // namespace chakra::packet
