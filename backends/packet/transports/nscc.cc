#include "backends/packet/transports/nscc.h"

#include <algorithm>
#include <bit>

#include "backends/packet/transports/table.h"
#include "trace/base/splitmix.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

constexpr double kReferenceBytes = 150000;  // 100 Gb/s for 12 us
constexpr double kReferencePicos = 12e6;
constexpr double kIdlePicos = 1e6;  // a smaller delay counts as none
constexpr double kForgiven = 0.25;  // an unmarked delay above the target counts as this many base round trips
constexpr double kAdjustPackets = 8;  // acknowledged packets between two adjustments
constexpr double kLargestCut = 0.5;

}  // namespace

namespace {

const TransportTable<Nscc::Config>& NsccTable() {
  using C = Nscc::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>()
          .Flag("trimming", &C::trimming, "switches trim")
          .Word(
              "lb", {"mixed", "reps", "bitmap", "oblivious"},
              [](size_t i, C* c) { c->balance = static_cast<Nscc::Balance>(i); },
              "choice of the path of a packet: reps and bitmap together, recycled paths, penalties, or a "
              "sweep")
          .Duration(
              "target", &C::target,
              "target queueing delay; default: 3/4 of the idle round trip, or all of it without trimming")
          .Number("alpha", &C::alpha, 0.01, 1000, "proportional increase, in payloads")
          .Number("fi", &C::fi, 0, 1000, "fair increase, in payloads")
          .Number("eta", &C::eta, 0, 100, "increase in each round trip, in payloads")
          .Number("fast", &C::fast, 0, 10, "fast increase, as a share of the acknowledged bytes")
          .Number("gamma", &C::gamma, 0.01, 1, "decrease")
          .Number("smoothing", &C::smoothing, 0.0001, 1, "weight of the newest sample in the mean delay")
          .Number("most", &C::most, 0.01, 1000, "largest and first window, in bandwidth-delay products")
          .Number("qa_delay", &C::qa_delay, 0.1, 1000, "quick adaptation above this many target delays")
          .Count("qa_gate", &C::qa_gate, 0, 20,
                 "quick adaptation only if less than 2^-qa_gate of the largest window arrived"));
  return *kTable;
}

}  // namespace

TransportKind Nscc::Kind() {
  TransportKind k;
  k.name = "nscc";
  k.summary = "Ultra Ethernet's sender congestion control, each packet on its own path";
  k.source = "Ultra Ethernet Specification 1.0, congestion management; constants of uet-htsim's model";
  k.parameters = NsccTable().declared();
  k.ecn = true;
  k.sprays = true;
  k.trims = true;
  return k;
}

absl::StatusOr<Nscc::Config> Nscc::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(NsccTable().Read(p, &c));
  if (c.target && *c.target == Time::Zero()) return p.Bad("target", "more than 0, 9us for instance");
  return c;
}

Nscc::Nscc(const Config& config, const PathFacts& path, Control* control)
    : gamma_(config.gamma),
      smoothing_(config.smoothing),
      base_(static_cast<double>(path.base_rtt.picos())),
      mtu_(path.mtu),
      wire_(path.wire),
      balance_(config.balance),
      seed_(path.seed) {
  const double bytes = path.Bdp() / kReferenceBytes;
  d_.target =
      config.target ? static_cast<double>(config.target->picos()) : base_ * (config.trimming ? 0.75 : 1.0);
  const double picos = d_.target / kReferencePicos;
  d_.alpha = config.alpha * path.mtu * bytes * picos / d_.target;
  d_.fi = config.fi * path.mtu * bytes;
  d_.eta = config.eta * path.mtu * bytes;
  d_.fast = config.fast * bytes;
  d_.most = std::max(config.most * path.Bdp(), wire_);
  qa_delay_ = config.qa_delay * d_.target;
  qa_most_ = d_.most / static_cast<double>(1 << config.qa_gate);
  cwnd_ = d_.most;
  Steer(control);
}

void Nscc::OnAck(const Ack& ack, Control* control) {
  const double acked = Wire(ack.acked);
  const double delay = std::max(static_cast<double>(ack.rtt.picos()) - base_, 0.0);
  if (!started_) {
    started_ = true;
    last_adjust_ = ack.now;
    last_decrease_ = ack.now - ack.rtt;
  }
  achieved_ += acked;
  received_ += acked;
  ignored_ += acked;
  Average(delay, ack.marked);
  if (!QuickAdapt(ack.now, false, ack.marked, delay, Wire(ack.in_flight))) {
    Cases(ack, delay, acked);
    Bound();
    Fulfil(ack.now);
    Bound();
  }
  Steer(control);

  if (Sweeps()) return;
  if (ack.marked) {
    Punish(ack.path, kPenaltyMark);
  } else if (ack.path < kMostPaths && balance_ != Balance::kBitmap) {
    if (recycled_ == kRecycled) {  // the oldest makes room
      head_ = static_cast<uint8_t>((head_ + 1) % kRecycled);
      --recycled_;
    }
    ring_[(head_ + recycled_++) % kRecycled] = static_cast<uint8_t>(ack.path);
  }
}

void Nscc::Average(double delay, bool marked) {
  if (!marked && delay > d_.target) delay = kForgiven * base_;
  mean_delay_ += smoothing_ * (delay - mean_delay_);
}

void Nscc::Cases(const Ack& ack, double delay, double acked) {
  if (ack.marked) {
    if (delay < d_.target) return;
    growing_ = false;
    idle_ = 0;
    if (mean_delay_ <= d_.target) return;
    if (static_cast<double>((ack.now - last_decrease_).picos()) <= base_) return;
    cwnd_ *= std::max(1 - gamma_ * (mean_delay_ - d_.target) / mean_delay_, kLargestCut);
    last_decrease_ = ack.now;
    return;
  }
  if (delay >= d_.target) {
    inc_ += d_.fi * acked;
    return;
  }
  if (delay < kIdlePicos) {
    idle_ += acked;
    growing_ = growing_ || idle_ > cwnd_;
  } else {
    idle_ = 0;
    growing_ = false;
  }
  if (growing_) {
    cwnd_ += d_.fast * acked;
  } else {
    inc_ += d_.alpha * acked * (d_.target - delay);
  }
}

// Returns true if the window was cut to the bytes that arrived, or if a mark belongs to packets sent before
// such a cut.
bool Nscc::QuickAdapt(Time now, bool lost, bool marked, double delay, double in_flight) {
  bool done = marked && ignored_ < to_ignore_;
  if (!done && now > qa_end_) {
    if (qa_end_ != Time::Zero() && (armed_ || lost || delay > qa_delay_) && achieved_ < qa_most_) {
      cwnd_ = std::min(cwnd_, std::max(achieved_, wire_));
      to_ignore_ = in_flight;
      ignored_ = 0;
      armed_ = false;
      done = true;
    }
    achieved_ = 0;
    qa_end_ = now + Time::Picos(static_cast<int64_t>(base_ + d_.target));
  }
  if (done) inc_ = received_ = 0;
  return done;
}

void Nscc::Fulfil(Time now) {
  const double since = static_cast<double>((now - last_adjust_).picos());
  if (received_ <= kAdjustPackets * wire_ && since <= base_) return;
  cwnd_ += inc_ / cwnd_;
  inc_ = received_ = 0;
  if (since < base_) return;
  cwnd_ += d_.eta;
  last_adjust_ = now;
}

void Nscc::Bound() { cwnd_ = std::clamp(cwnd_, wire_, d_.most); }

void Nscc::OnLoss(const Loss& loss, Control* control) {
  const double bytes = Wire(loss.bytes);
  ignored_ += bytes;
  // The model's guess of the delay of a queue that trims.
  if (loss.kind == Loss::kTrimmed) Average(base_, true);
  armed_ = true;
  if (!QuickAdapt(loss.now, true, true, 0, Wire(loss.in_flight))) {
    cwnd_ -= bytes;
    Bound();
  }
  Steer(control);
  if (!Sweeps()) Punish(loss.path, loss.kind == Loss::kTimeout ? kPenaltyTimeout : kPenaltyTrimmed);
}

void Nscc::SetPenalty(uint32_t path, uint32_t penalty) {
  const uint32_t shift = path % 2 * 4;
  penalty_[path / 2] = static_cast<uint8_t>((penalty_[path / 2] & ~(15u << shift)) | penalty << shift);
}

void Nscc::Punish(uint32_t path, uint32_t penalty) {
  if (path < kMostPaths) SetPenalty(path, std::min(15u, Penalty(path) + penalty));
}

uint64_t Nscc::Random() { return NextSplitMix(&seed_); }

uint32_t Nscc::PickPath(Time, uint32_t paths) {
  paths = std::min(paths, kMostPaths);
  if (paths < 2) return 0;
  while (recycled_ > 0) {
    const uint32_t path = ring_[head_];
    head_ = static_cast<uint8_t>((head_ + 1) % kRecycled);
    --recycled_;
    if (path < paths) return path;  // otherwise it is from before a link failed
  }
  if (balance_ == Balance::kReps) return static_cast<uint32_t>(Random() % paths);
  return Sweeps() ? Sweep(paths) : SweepUnpunished(paths);
}

// Advances to the next path of the sweep: all paths, in an order that changes after each round.
void Nscc::Step(uint32_t paths) {
  const uint32_t size = std::bit_ceil(paths);
  do {
    if (++at_ >= size || round_ != paths) {
      at_ = 0;
      round_ = paths;
      flip_ = static_cast<uint32_t>(Random()) & (size - 1);
    }
  } while ((at_ ^ flip_) >= paths);
}

uint32_t Nscc::Sweep(uint32_t paths) {
  Step(paths);
  return at_ ^ flip_;
}

// The next path without a penalty. Only the first path that is passed over has its penalty reduced. If all
// paths have penalties, the path after a whole round is taken.
uint32_t Nscc::SweepUnpunished(uint32_t paths) {
  uint32_t path = Sweep(paths);
  if (Penalty(path) == 0) return path;
  SetPenalty(path, Penalty(path) - 1u);
  uint32_t passed = 0;
  do {
    path = Sweep(paths);
  } while (Penalty(path) > 0 && ++passed < paths);
  return path;
}

}  // namespace chakra::packet
