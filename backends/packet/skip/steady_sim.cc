#include "backends/packet/skip/steady_sim.h"

#include <algorithm>
#include <cmath>

namespace chakra::packet {
namespace {

constexpr uint64_t kReserve = 8;  // packets of a flow that a jump leaves over

bool Near(double a, double b, double tolerance, double least) {
  return std::abs(a - b) <= std::max(least, tolerance * std::max(a, b));
}

}  // namespace

SteadySim::SteadySim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads)
    : Base(network, options, lossy, threads),
      tolerance_(options.SkipsSteady() ? options.skip_tolerance : 0),
      half_(tolerance_ > 0 ? static_cast<uint64_t>(std::ceil(2 / tolerance_)) : 0) {}

int64_t SteadySim::at() {
  if (steady_) return std::min(local_.at(), skip_end_);
  const int64_t at = Base::at();
  return std::min(local_.at(), at == kNever ? kNever : at + shift_);
}

void SteadySim::Send(uint32_t m, int64_t now) {
  if (steady_) EndSkip(now);
  Base::Send(m, now - shift_);
  Watch(m);
  Disturb();
}

void SteadySim::Watch(uint32_t m) {
  if (tolerance_ == 0) return;
  const uint32_t c = message(m).connection;
  if (flows_.size() >= most_flows_) DropDone();
  flows_.push_back({m, message(m).order, {}, 0});
  WatchPorts(c);
}

void SteadySim::DropDone() {
  std::erase_if(flows_,
                [&](const Flow& f) { return MessageOf(f).order != f.order || MessageOf(f).received; });
  most_flows_ = std::max<size_t>(64, 2 * flows_.size());
}

void SteadySim::WatchPorts(uint32_t c) {
  rtt_ = std::max(rtt_, ways().BaseRtt(connection(c)));
  for (const uint32_t port : ways().PortsOf(connection(c))) {
    if (port >= is_watched_.size()) is_watched_.resize(port + 1);
    if (is_watched_[port]) continue;
    is_watched_[port] = true;
    ports_.push_back(port);
  }
}

void SteadySim::ChangeLink(uint32_t port, double share, int64_t now) {
  if (steady_) EndSkip(now);
  Base::ChangeLink(port, share, now - shift_);
  Disturb();
}

void SteadySim::Reroute(int64_t now) {
  if (steady_) EndSkip(now);
  Base::Reroute(now - shift_);
  DropDone();
  for (const Flow& f : flows_) WatchPorts(MessageOf(f).connection);
  Disturb();
}

bool SteadySim::Collect() {
  std::vector<Told>& told = Base::told();
  if (told.empty()) return false;
  for (Told& t : told) t.at += shift_;
  told_.insert(told_.end(), told.begin(), told.end());
  told.clear();
  return true;
}

void SteadySim::Run(int64_t limit, bool stop, int64_t bound) {
  while (local_.size() > 0 && local_.at() <= limit) {
    RunPackets(local_.at(), stop, bound);
    if (stop && !told_.empty() && told_.front().at < local_.at()) return;
    local_.Tell(&told_);
    if (stop) return;
  }
  RunPackets(limit, stop, bound);
}

void SteadySim::RunPackets(int64_t limit, bool stop, int64_t bound) {
  for (;;) {
    if (steady_) {
      if (limit < skip_end_) return;
      EndSkip(skip_end_);
    }
    const bool watches = tolerance_ > 0 && !flows_.empty();
    const int64_t due = watches ? next_check_ + shift_ : kNever;
    const int64_t to = std::min(limit, due);
    // Always stops at reports, so that observations do not depend on the caller.
    Base::Run(to == kNever ? kNever : to - shift_, true, bound == kNever ? kNever : bound - shift_);
    if (Collect()) {
      Disturb();
      if (stop) return;
      continue;
    }
    if (due > limit || Base::at() == kNever) return;
    Check();
  }
}

// Discards the observations.
void SteadySim::Disturb() {
  stage_ = kSettles;
  reach_ = kFirstReach;
  least_half_ = 0;
  next_check_ = Base::now() + rtt_;
}

void SteadySim::Record(int place) {
  Settle();
  DropDone();
  seen_at_[place] = next_check_;
  for (Flow& f : flows_) {
    const Message& m = MessageOf(f);
    const Sender& s = SenderOf(f);
    f.seen[place] = {m.arrived, m.arrived_at, s.in_flight, s.control.window, s.control.pace};
  }
}

void SteadySim::Check() {
  const int64_t t = next_check_;
  if (stage_ == kSettles) {
    Record(0);
    ports_before_.clear();
    for (const uint32_t port : ports_) ports_before_.push_back(TotalsOf(network(), port));
    before_ = Base::counters();
    stage_ = kFirstHalf;
    next_check_ = t + std::max<int64_t>(rtt_, least_half_);
    return;
  }
  if (stage_ == kFirstHalf) {
    Record(1);
    uint64_t slowest = half_;
    for (const Flow& f : flows_) {
      if (Unsent(f) > 0 && !Waits(f, 1)) slowest = std::min(slowest, f.seen[1].arrived - f.seen[0].arrived);
    }
    const int64_t took = t - seen_at_[0];
    if (slowest < half_) {
      const double more = static_cast<double>(took) * static_cast<double>(half_ - slowest) /
                          static_cast<double>(std::max<uint64_t>(slowest, 1));
      next_check_ = t + std::clamp<int64_t>(std::llround(more), 1, 4 * took);
      return;
    }
    stage_ = kSecondHalf;
    next_check_ = t + took;
    return;
  }
  Record(2);
  if (Settled()) return StartSkip();
  least_half_ = 2 * (seen_at_[1] - seen_at_[0]);
  stage_ = kSettles;
  Check();
}

bool SteadySim::Waits(const Flow& f, int place) {
  return f.seen[place].arrived == 0 && Unsent(f) == MessageOf(f).packets;
}

bool SteadySim::SameInBothHalves(const Flow& f) const {
  if (f.seen[0].arrived == 0) return false;
  const auto delivered = [&](int half) {
    return static_cast<double>(f.seen[half + 1].arrived - f.seen[half].arrived);
  };
  if (!Near(delivered(0), delivered(1), tolerance_, 2)) return false;
  const double packets = 2.0 * options().mtu;
  for (int i = 0; i < 2; ++i) {
    const Progress &a = f.seen[i], &b = f.seen[i + 1];
    if (!Near(static_cast<double>(a.in_flight), static_cast<double>(b.in_flight), tolerance_, packets)) {
      return false;
    }
    if (a.window != b.window && !Near(a.window, b.window, tolerance_, 0)) return false;
    if (a.pace != b.pace && !Near(a.pace, b.pace, tolerance_, 0)) return false;
  }
  return true;
}

bool SteadySim::Settled() {
  after_ = Base::counters();
  if (after_.drops != before_.drops || after_.trims != before_.trims || after_.again != before_.again ||
      after_.timeouts != before_.timeouts) {
    return false;
  }
  for (const Flow& f : flows_) {
    if (Waits(f, 2)) continue;
    if (Unsent(f) <= kReserve || !SameInBothHalves(f)) return false;
  }
  return true;
}

double SteadySim::Longest(const Flow& f) const {
  const auto took = static_cast<double>(seen_at_[2] - seen_at_[0]);
  double longest = reach_ * took;
  const auto drift = [&](double x, double y, double z) {
    if ((y - x) * (z - y) <= 0) return;  // no drift, but back and forth
    longest = std::min(longest, took * tolerance_ * z / std::abs(z - x));
  };
  drift(f.seen[0].window, f.seen[1].window, f.seen[2].window);
  drift(f.seen[0].pace, f.seen[1].pace, f.seen[2].pace);
  return longest;
}

void SteadySim::StartSkip() {
  const auto took = static_cast<double>(seen_at_[2] - seen_at_[0]);
  double longest = reach_ * took;
  for (Flow& f : flows_) {
    // From arrival to arrival, because a count of packets between two other instants is uncertain by one
    // packet.
    const auto arrived = static_cast<double>(f.seen[2].arrived - f.seen[0].arrived);
    f.rate = arrived == 0 ? 0 : arrived / static_cast<double>(f.seen[2].at - f.seen[0].at);
    if (f.rate == 0) continue;
    longest = std::min({longest, Longest(f), static_cast<double>(Unsent(f) - kReserve) / f.rate});
  }
  ports_after_.clear();
  for (const uint32_t port : ports_) ports_after_.push_back(TotalsOf(network(), port));
  if (flows_.empty() || longest < took / 4) {
    // The jump would be too short to be worth it. Observes again.
    stage_ = kSettles;
    next_check_ += static_cast<int64_t>(took);
    return;
  }
  steady_ = true;
  skip_from_ = next_check_ + shift_;
  skip_end_ = skip_from_ + static_cast<int64_t>(longest);
}

void SteadySim::EndSkip(int64_t at) {
  steady_ = false;
  const int64_t elapsed = at - skip_from_;
  const double times = static_cast<double>(elapsed) / static_cast<double>(seen_at_[2] - seen_at_[0]);
  const uint64_t counted = extra_totals_.skipped;
  for (Flow& f : flows_) {
    const auto packets = static_cast<uint64_t>(f.rate * static_cast<double>(elapsed) + 0.5);
    Cut(f.message, packets);
    extra_totals_.skipped += packets;
  }
  if (extra_totals_.skipped > counted) ++extra_totals_.jumps;
  AddDifference(before_, after_, times, &extra_totals_);
  extra_.resize(std::max(extra_.size(), is_watched_.size()));
  for (size_t i = 0; i < ports_before_.size(); ++i) {
    AddDifference(ports_before_[i], ports_after_[i], times, &extra_[ports_[i]]);
  }
  shift_ += elapsed;
  const double reach = reach_ * kReachGrows;
  Disturb();
  next_check_ = seen_at_[2];
  reach_ = reach;
}

void SteadySim::CountAll(int64_t now) {
  Settle();
  if (steady_) EndSkip(std::clamp(now, skip_from_, skip_end_));
}

PacketTotals SteadySim::counters() const {
  PacketTotals all = Base::counters();
  all += extra_totals_;
  return all;
}

void SteadySim::Restart(int64_t now) {
  shift_ = now - Base::now();
  for (const uint32_t port : ports_) is_watched_[port] = false;
  ports_.clear();
  flows_.clear();
  extra_.clear();
  rtt_ = 0;
}

}  // namespace chakra::packet
