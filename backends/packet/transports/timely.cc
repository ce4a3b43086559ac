#include "backends/packet/transports/timely.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {

namespace {

const TransportTable<Timely::Config>& TimelyTable() {
  using C = Timely::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>(true)
          .Word(
              "set", {"paper", "hpcc"},
              [](size_t i, C* c) {
                if (i == 0) return;
                c->any_increase = true;
                c->ai = 0;
                c->ai_share = 10e6 / 10e9;
                c->least = 125e-6;
              },
              "constants: of the paper; or of the HPCC authors' run.py, with an increase of a thousandth of "
              "the NIC's rate, at least 1 Gb/s")
          .Flag("patched", &C::patched, "use the form of CoNEXT 2016, with a unique fixed point")
          .Number("ewma", &C::ewma, 0.001, 1, "weight of the newest difference of round-trip times")
          .Number("beta", &C::beta, 1e-6, 1, "factor of decreases; patched: 0.008")
          .Span("low", &C::low, "round-trip time below which the rate rises")
          .Span("high", &C::high, "round-trip time above which the rate falls; at least low")
          .Span("min_rtt", &C::min_rtt, "unit of the gradient")
          .Rate("ai", &C::ai, "increase")
          .Count("hyper", &C::hyper, 1, 100, "factor of the increase after this many consecutive increases")
          .Rate("min_rate", &C::least, "lowest rate")
          .Span("reference", &C::reference, "patched: round-trip time of the fixed point; default: low")
          .Word(
              "window", {"none", "bdp"}, [](size_t i, C* c) { c->window = i == 1; },
              "bdp: limit of bytes in flight, the bandwidth-delay product x rate / line rate"));
  return *kTable;
}

}  // namespace

TransportKind Timely::Kind() {
  TransportKind k;
  k.name = "timely";
  k.skip_error = 0.13;
  k.summary = "Rate, by the gradient of the round-trip time";
  k.source = "Mittal and others, TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015";
  k.parameters = TimelyTable().declared();
  return k;
}

absl::StatusOr<Timely::Config> Timely::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(TimelyTable().Read(p, &c));
  if (c.patched && !p.Given("beta")) c.beta = 0.008;
  if (p.Given("ai")) c.ai_share = 0;
  if (!c.patched && p.Given("reference")) return p.Bad("reference", "none without patched=yes");
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
