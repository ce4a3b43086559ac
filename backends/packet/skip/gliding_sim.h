// Packets, until rates have settled; then a jump to where something may change.
//
// While all flows that are under way deliver at constant rates, the simulation
// stands still and its clock is moved on: each flow is made shorter by what it
// would have delivered meanwhile, and all else (queues, windows, packets on
// their way) stays as it is. This is the steady half of Wormhole (NSDI 2026,
// arXiv 2602.10615). A jump ends a few packets before the first flow does, and
// where one begins or a link changes.
//
// Rates are settled when in two equal times, one after the other, in which each
// flow delivered at least 2/tolerance packets,
//  - each flow delivered the same, within the tolerance or two packets,
//  - its window, its pace and what it has in flight are the same, within as much,
//  - nothing was lost.
// A rate is known to a packet in those times, so a jump is wrong by the
// tolerance at most, were the rates really constant. Where a window or pace
// drifts, a jump is no longer than it takes to drift by the tolerance; a first
// jump is at most 16 times as long as what was observed, and each further one
// four times as long as the one before.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/packet/network/port_totals.h"
#include "backends/packet/parts/sim.h"
#include "backends/packet/skip/local_messages.h"

namespace chakra::packet {

class GlidingSim : private PacketSim<BucketEvents> {
  using Base = PacketSim<BucketEvents>;

 public:
  // Jumps where PacketOptions::SkipsSteady(), within PacketOptions::skip_tolerance.
  GlidingSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads = 1);

  using Base::Connect;
  using Base::connection;
  using Base::LeaveBuffers;
  using Base::message;
  using Base::NewMessage;
  using Base::pool;
  using Base::set_finder;
  using Base::ways;
  using Base::WhyStuck;

  // As of PacketSim.
  void Send(uint32_t message, int64_t now);
  void TellAt(uint64_t tag, uint64_t order, Time at) { local_.Add(tag, order, at); }
  int64_t at();
  void Run(int64_t limit, bool stop, int64_t bound);
  void set_overlap(bool overlap) { Base::set_overlap(overlap); }
  void ChangeLink(uint32_t port, double share, int64_t now);
  void Reroute(int64_t now);
  std::vector<Told>& told() { return told_; }
  uint64_t open_messages() const { return Base::open_messages() + local_.size(); }
  using Base::MemoryBytes;
  // With what was jumped over.
  PacketTotals counters() const;
  PortTotals Extra(uint32_t port) const { return port < extra_.size() ? extra_[port] : PortTotals(); }
  bool Quiet() { return !gliding_ && Base::Quiet(); }

  int64_t now() const { return Base::now() + shift_; }  // ps: of the last event
  using Base::Settle;
  void CountAll(int64_t now);
  // Where it is Quiet(): goes on at `now`, which may be any time, and forgets Extra().
  void Restart(int64_t now);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Of a flow at an instant.
  struct Progress {
    uint64_t arrived = 0;  // packets
    int64_t at = 0;        // ps: the last of them
    uint64_t in_flight = 0;
    double window = 0, pace = 0;
  };
  struct Flow {
    uint32_t message;
    uint64_t order;
    Progress seen[3];
    double rate = 0;  // packets a picosecond
  };
  enum Stage : uint8_t { kSettles, kFirstHalf, kSecondHalf };

  void RunPackets(int64_t limit, bool stop, int64_t bound);
  void Watch(uint32_t message);
  void WatchPorts(uint32_t connection);
  void DropDone();
  // Moves what was told; false: nothing.
  bool Collect();
  void Disturb();
  void Check();
  void Record(int place);
  const Message& MessageOf(const Flow& flow) const { return Base::ends().messages()[flow.message]; }
  const Sender& SenderOf(const Flow& flow) const {
    return Base::ends().senders().sender(MessageOf(flow).connection);
  }
  // Packets that it has not sent yet.
  uint64_t Unsent(const Flow& flow) const {
    return SenderOf(flow).Unsent(flow.message, Base::ends().messages());
  }
  // For messages before it on its connection.
  bool Waits(const Flow& flow, int place);
  bool SameInBothHalves(const Flow& flow) const;
  bool Settled();
  // How long rates may be taken for constant; ps.
  double Longest(const Flow& flow) const;
  void StartGlide();
  void EndGlide(int64_t at);

  double tolerance_;
  uint64_t half_;      // packets of the slowest flow in half an observation
  int64_t shift_ = 0;  // ps: of the clock, over that of the packets
  std::vector<Told> told_;
  LocalMessages local_;  // on the clock, whatever is jumped over
  std::vector<Flow> flows_;
  size_t most_flows_ = 64;       // then those that are done are dropped
  std::vector<uint32_t> ports_;  // that flows use
  std::vector<bool> is_watched_;
  int64_t rtt_ = 0;  // ps: the longest of the flows

  // On the clock of the packets
  Stage stage_ = kSettles;
  int64_t next_check_ = 0;
  int64_t seen_at_[3] = {};
  int64_t least_half_ = 0;
  std::vector<PortTotals> ports_before_;
  PacketTotals before_, after_;
  std::vector<PortTotals> ports_after_;

  bool gliding_ = false;
  int64_t glide_from_ = 0, glide_end_ = 0;  // on the clock
  double reach_ = kFirstReach;              // a jump over an observation, at most
  static constexpr double kFirstReach = 16, kReachGrows = 4;
  std::vector<PortTotals> extra_;
  PacketTotals extra_totals_;
};

}  // namespace chakra::packet
