#include "backends/packet/transports/dcqcn.h"

#include <algorithm>

#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

// kNic: the first check for a cut comes after the update of alpha that is due at the same instant.
constexpr int64_t kAfterAlpha = 1000;
// A rate this near to the line rate counts as the line rate; the clocks of two ports differ by more (Ethernet
// allows 100 parts in a million).
constexpr double kNearLine = 1e-6;

// x to the n-th power by squaring, which gives the same bits on all machines with IEEE 754 doubles.
double Power(double x, int64_t n) {
  double y = 1;
  for (; n > 0; n >>= 1, x *= x) {
    if (n & 1) y *= x;
  }
  return y;
}

// Rates of the HPCC authors' run.py: 5 and 50 Mb/s for each 25 Gb/s of the NIC; minimum rate 1 Gb/s.
Dcqcn::Config HpccRuns(int64_t alpha_timer, int64_t cut_timer, int64_t increase_timer) {
  Dcqcn::Config c;
  c.rules = Dcqcn::Rules::kNic;
  c.alpha_timer = alpha_timer;
  c.cut_timer = cut_timer;
  c.increase_timer = increase_timer;
  c.byte_counter = 0;
  c.stages = 1;
  c.ai = c.hai = 0;
  c.ai_share = 5e6 / 25e9;
  c.hai_share = 50e6 / 25e9;
  c.least = 125e-6;
  return c;
}

// The constants of a set, by its index among the words of `set`.
Dcqcn::Config SetOf(size_t set) {
  if (set == 1) return HpccRuns(1'000'000, 4'000'000, 300'000'000);
  if (set == 2) return HpccRuns(50'000'000, 50'000'000, 55'000'000);
  if (set == 3) {  // SimAI.conf: 50 and 100 Mb/s for any NIC; minimum rate 100 Mb/s
    Dcqcn::Config c = HpccRuns(1'000'000, 4'000'000, 900'000'000);
    c.ai_share = c.hai_share = 0;
    c.ai = 6.25e-6;
    c.hai = 12.5e-6;
    c.least = 12.5e-6;
    return c;
  }
  return Dcqcn::Config();
}

}  // namespace

namespace {

const TransportTable<Dcqcn::Config>& DcqcnTable() {
  using C = Dcqcn::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>(true)
          .Word(
              "set", {"paper", "nic", "hpcc_paper", "simai"}, [](size_t i, C* c) { *c = SetOf(i); },
              "constants and rules: of the paper; of HPCC's run.py (nic, hpcc_paper); of SimAI.conf")
          .Number("g", &C::g, 1e-6, 1, "weight of the newest sample in alpha")
          .Span("alpha_timer", &C::alpha_timer, "interval of the decay of alpha")
          .Span("cut_timer", &C::cut_timer, "least time between two cuts; not in set=paper (nic: 4us)")
          .Span("increase_timer", &C::increase_timer, "interval of the increases of the rate")
          .Bytes("byte_counter", &C::byte_counter, 0, 100'000'000'000,
                 "payload between increases; 0: no byte counter, else at least 1KB; only in set=paper")
          .Count("stages", &C::stages, 1, 100, "stages of fast recovery")
          .Rate("ai", &C::ai, "additive increase")
          .Rate("hai", &C::hai, "hyper increase")
          .Rate("min_rate", &C::least, "lowest rate")
          .Word(
              "window", {"none", "bdp"}, [](size_t i, C* c) { c->window = i == 1; },
              "bdp: limit of bytes in flight, the bandwidth-delay product x rate / line rate"));
  return *kTable;
}

}  // namespace

TransportKind Dcqcn::Kind() {
  TransportKind k;
  k.name = "dcqcn";
  k.skip_error = 0.03;
  k.summary = "Rate, cut by congestion notifications";
  k.source = "Zhu and others, Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5";
  k.parameters = DcqcnTable().declared();
  k.ecn = true;
  k.cnp_gap = Time::Micros(50);  // N, SIGCOMM 2015
  return k;
}

absl::StatusOr<Dcqcn::Config> Dcqcn::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(DcqcnTable().Read(p, &c));
  if (p.Given("ai")) c.ai_share = 0;
  if (p.Given("hai")) c.hai_share = 0;
  if (c.rules == Rules::kPaper) {
    if (p.Given("cut_timer"))
      return p.Bad("cut_timer", "none with set=paper, which cuts at each notification; set=nic has one");
    if (c.byte_counter > 0 && c.byte_counter < 1000)
      return p.Bad("byte_counter", "0 for no byte counter, or at least 1000B, the nearest");
  } else if (p.Given("byte_counter")) {
    return p.Bad("byte_counter", "none: only set=paper has one");
  }
  return c;
}

Dcqcn::Dcqcn(const Config& config, const PathFacts& path, Control* control)
    : c_(config), line_(path.nic_rate), mtu_(path.mtu), rate_(line_), target_(line_) {
  c_.ai += c_.ai_share * line_;
  c_.hai += c_.hai_share * line_;
  c_.least = std::min(c_.least, line_);
  if (c_.window) window_ = path.Bdp() * path.mtu / path.wire;
  Steer(control);
}

void Dcqcn::OnAck(const Ack& ack, Control* control) {
  const bool notified = c_.rules == Rules::kPaper ? ack.cnp : ack.marked;
  if (!notified && (Full() || c_.byte_counter == 0)) return;
  if (c_.byte_counter > 0 && !Full()) CountBytes(ack.acked);
  if (notified) Mark(ack.now.picos());
  Steer(control);
}

void Dcqcn::OnTimer(Time at, Control* control) {
  const int64_t now = at.picos();
  if (now >= cut_at_) {
    Cut(now);
  } else if (now >= increase_at_) {
    increase_at_ += c_.increase_timer;
    ++time_stage_;
    Raise();
  }
  Steer(control);
}

void Dcqcn::Mark(int64_t now) {
  const bool first = alpha_at_ < 0;
  if (c_.rules == Rules::kPaper) {
    if (!first) AgeAlpha(now);
    alpha_at_ = now;
    Cut(now);
    alpha_ = (1 - c_.g) * alpha_ + c_.g;
    return;
  }
  if (first) {
    alpha_at_ = now;
    first_ = now + kAfterAlpha;
    cut_at_ = first_ + c_.cut_timer;
    return;
  }
  AgeAlpha(now);
  noticed_ = true;
  if (cut_at_ == kNever) cut_at_ = first_ + ((now - first_) / c_.cut_timer + 1) * c_.cut_timer;
}

// Applies all periods of alpha's timer since the last call at once.
void Dcqcn::AgeAlpha(int64_t now) {
  const int64_t periods = (now - alpha_at_) / c_.alpha_timer;
  if (periods == 0) return;
  alpha_ = (1 - c_.g) * alpha_ + (noticed_ ? c_.g : 0);
  alpha_ *= Power(1 - c_.g, periods - 1);
  noticed_ = false;
  alpha_at_ += periods * c_.alpha_timer;
}

void Dcqcn::Cut(int64_t now) {
  if (c_.rules == Rules::kNic) AgeAlpha(now);
  if (c_.rules == Rules::kPaper || time_stage_ > 0) target_ = rate_;
  rate_ = std::max(c_.least, rate_ * (1 - alpha_ / 2));
  time_stage_ = byte_stage_ = 0;
  bytes_ = 0;
  cut_at_ = kNever;
  increase_at_ = now + c_.increase_timer;
}

void Dcqcn::CountBytes(uint64_t bytes) {
  bytes_ += static_cast<double>(bytes);
  while (bytes_ >= c_.byte_counter && !Full()) {
    bytes_ -= c_.byte_counter;
    ++byte_stage_;
    Raise();
  }
}

void Dcqcn::Raise() {
  const int higher = std::max(time_stage_, byte_stage_), lower = std::min(time_stage_, byte_stage_);
  if (c_.rules == Rules::kPaper) {
    if (lower > c_.stages) {
      target_ += (lower - c_.stages) * c_.hai;
    } else if (higher > c_.stages) {
      target_ += c_.ai;
    }
  } else if (time_stage_ > c_.stages) {
    target_ += time_stage_ == c_.stages + 1 ? c_.ai : c_.hai;
  }
  target_ = std::min(target_, line_);
  rate_ = (rate_ + target_) / 2;
  if (target_ == line_ && rate_ >= line_ * (1 - kNearLine)) {
    rate_ = line_;
    increase_at_ = kNever;
  }
}

void Dcqcn::Steer(Control* control) const {
  control->pace = rate_;
  if (window_ > 0) control->window = std::max(mtu_, window_ * rate_ / line_);
  control->timer = Time::Picos(std::min(cut_at_, increase_at_));
}

}  // namespace chakra::packet
