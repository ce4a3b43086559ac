#include "backends/packet/transports/timely.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/packet/transports/overrides.h"

namespace chakra::packet {

TransportKind Timely::Kind() {
  TransportKind k;
  k.name = "timely";
  k.skip_error = 0.13;
  k.summary = "Rate, by the gradient of the round-trip time";
  k.source = "Mittal and others, TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015";
  k.parameters = {
      {"set", "paper",
       "paper; or hpcc, as its authors' run.py: increase by the card's rate, at least 1 Gb/s"},
      {"patched", "no", "the form of CoNEXT 2016, with a unique fixed point; yes or no"},
      {"ewma", "", "weight of the newest difference of round-trip times, 0.001 to 1; from the set (0.875)"},
      {"beta", "", "of decreases, 0.000001 to 1; from the set (0.8; patched: 0.008)"},
      {"low", "", "round-trip time below which the rate rises, 100ns to 1s; from the set (50us)"},
      {"high", "", "round-trip time above which it falls, from low to 1s; from the set (500us)"},
      {"min_rtt", "", "unit of the gradient, 100ns to 1s; from the set (20us)"},
      {"ai", "", "increase, as 10Mb/s; from the set (paper: 10Mb/s; hpcc: a thousandth of the card's rate)"},
      {"hyper", "", "increases at once after as many in a row, 1 to 100; from the set (5)"},
      {"min_rate", "", "no rate below, as 10Mb/s; from the set (paper: 10Mb/s)"},
      {"reference", "", "patched: round-trip time of the fixed point, 100ns to 1s; low if not given"},
      {"window", "none", "none, or bdp: in flight at most the bandwidth-delay product x rate / line rate"}};
  return k;
}

absl::StatusOr<Timely::Config> Timely::Read(const Parameters& p) {
  const auto set = p.Choice("set", {"paper", "hpcc"});
  if (!set.ok()) return set.status();
  const auto window = p.Choice("window", {"none", "bdp"});
  if (!window.ok()) return window.status();
  const auto patched = p.Flag("patched");
  if (!patched.ok()) return patched.status();
  Config c;
  c.window = *window == "bdp";
  c.patched = *patched;
  if (c.patched) c.beta = 0.008;
  if (*set == "hpcc") {
    c.any_increase = true;
    c.ai = 0;
    c.ai_share = 10e6 / 10e9;
    c.least = 125e-6;
  }
  if (p.Given("ai")) c.ai_share = 0;

  Overrides given(p);
  given.Number("ewma", 0.001, 1, &c.ewma);
  given.Number("beta", 1e-6, 1, &c.beta);
  given.Span("low", &c.low);
  given.Span("high", &c.high);
  given.Span("min_rtt", &c.min_rtt);
  given.Rate("ai", &c.ai);
  given.Count("hyper", 1, 100, &c.hyper);
  given.Rate("min_rate", &c.least);
  if (!c.patched) given.Refuse("reference", "none without patched=yes");
  given.Span("reference", &c.reference);
  if (!given.status().ok()) return given.status();
  if (c.high < c.low) {
    const char* const key = p.Given("high") ? "high" : "low";
    const double bound = static_cast<double>(p.Given("high") ? c.low : c.high) * 1e-6;
    return p.Bad(key, absl::StrCat("high at least low: the nearest is ", bound, "us"));
  }
  return c;
}

Timely::Timely(const Config& config, const PathFacts& path, Control* control)
    : c_(config), line_(path.nic_rate), mtu_(path.mtu), rate_(line_) {
  c_.ai += c_.ai_share * line_;
  c_.least = std::min(c_.least, line_);
  if (c_.reference == 0) c_.reference = c_.low;
  if (c_.window) window_ = path.Bdp() * path.mtu / path.wire;
  Steer(control);
}

void Timely::OnAck(const Ack& ack, Control* control) {
  if (last_ >= 0 && ack.packet < round_ends_) return;
  const int64_t rtt = ack.rtt.picos();
  if (last_ >= 0) {
    difference_ += c_.ewma * (static_cast<double>(rtt - last_) - difference_);
    Adjust(static_cast<double>(rtt));
    rate_ = std::clamp(rate_, c_.least, line_);
    Steer(control);
  }
  last_ = rtt;
  round_ends_ = ack.next;
}

void Timely::Adjust(double rtt) {
  const double g = gradient();
  const bool low = rtt<static_cast<double>(c_.low), high = rtt> static_cast<double>(c_.high);
  const bool rises = low || (!high && g <= 0);
  const bool hyper = !c_.patched && increases_ >= c_.hyper && (c_.any_increase || !low);
  increases_ = rises && (c_.any_increase || !low) ? std::min(increases_ + 1, c_.hyper) : 0;
  if (high) {
    rate_ *= 1 - c_.beta * (1 - static_cast<double>(c_.high) / rtt);
  } else if (c_.patched && !low) {
    const double reference = static_cast<double>(c_.reference);
    const double weight = std::clamp(2 * g + 0.5, 0.0, 1.0);
    rate_ = c_.ai * (1 - weight) + rate_ * (1 - c_.beta * weight * (rtt - reference) / reference);
  } else if (rises) {
    rate_ += c_.ai * (hyper ? c_.hyper : 1);
  } else {
    rate_ *= std::max(0.0, 1 - c_.beta * g);
  }
}

void Timely::Steer(Control* control) const {
  control->pace = rate_;
  if (window_ > 0) control->window = std::max(mtu_, window_ * rate_ / line_);
}

}  // namespace chakra::packet
