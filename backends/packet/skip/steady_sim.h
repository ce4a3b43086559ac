// Simulates packets until rates have settled (steady state), then jumps to the time at which something may
// change.
//
// While all flows under way deliver at constant rates, the simulation stops and its clock is advanced. Each
// flow is shortened by what it would have delivered in this time; everything else (queues, windows, packets
// under way) stays as it is. This is the steady half of Wormhole (NSDI 2026, arXiv 2602.10615). A jump ends a
// few packets before the first flow ends, and where a flow begins or a link changes.
//
// Rates are settled when in two consecutive intervals of equal length, in which each flow delivered at least
// 2/tolerance packets,
//   - each flow delivered the same number of packets, within the tolerance or two packets,
//   - its window, its pace and its bytes in flight are the same, within the same limits,
//   - no packet was lost.
// A rate is known to one packet in these intervals, so if rates are really constant, a jump is wrong by at
// most the tolerance. If a window or pace drifts, a jump is no longer than the time of a drift by the
// tolerance. A first jump is at most 16 times as long as the observed time, and each further jump at most
// four times as long as the previous one.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/packet/network/port_totals.h"
#include "backends/packet/parts/sim.h"
#include "backends/packet/skip/local_messages.h"

namespace chakra::packet {

class SteadySim : private PacketSim<BucketEvents> {
  using Base = PacketSim<BucketEvents>;

 public:
  // Jumps if PacketOptions::SkipsSteady(), with PacketOptions::skip_tolerance.
  SteadySim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads = 1);

  using Base::Connect;
  using Base::connection;
  using Base::LeaveBuffers;
  using Base::message;
  using Base::NewMessage;
  using Base::pool;
  using Base::set_finder;
  using Base::ways;
  using Base::WhyStuck;

  // See PacketSim.
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
  // Including what was jumped over.
  PacketTotals counters() const;
  PortTotals Extra(uint32_t port) const { return port < extra_.size() ? extra_[port] : PortTotals(); }
  bool Quiet() { return !steady_ && Base::Quiet(); }

  int64_t now() const { return Base::now() + shift_; }  // ps: of the last event
  using Base::Settle;
  void CountAll(int64_t now);
  // Must be Quiet(). Continues at `now`, which may be any time, and forgets Extra().
  void Restart(int64_t now);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // The progress of a flow at one instant.
  struct Progress {
    uint64_t arrived = 0;  // packets
    int64_t at = 0;        // ps: arrival of the last packet
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
  // Moves the reports of the packets' simulation to told_; false: there were none.
  bool Collect();
  void Disturb();
  void Check();
  void Record(int place);
  const Message& MessageOf(const Flow& flow) const { return Base::ends().messages()[flow.message]; }
  const Sender& SenderOf(const Flow& flow) const {
    return Base::ends().senders().sender(MessageOf(flow).connection);
  }
  // Packets that the flow has not sent yet.
  uint64_t Unsent(const Flow& flow) const {
    return SenderOf(flow).Unsent(flow.message, Base::ends().messages());
  }
  // Whether the flow waits for earlier messages on its connection.
  bool Waits(const Flow& flow, int place);
  bool SameInBothHalves(const Flow& flow) const;
  bool Settled();
  // How long the flow's rate may be treated as constant; ps.
  double Longest(const Flow& flow) const;
  void StartSkip();
  void EndSkip(int64_t at);

  double tolerance_;
  uint64_t half_;      // packets that the slowest flow must deliver in each of the two intervals
  int64_t shift_ = 0;  // ps: this clock minus the clock of the packets
  std::vector<Told> told_;
  LocalMessages local_;  // on this clock, independent of jumps
  std::vector<Flow> flows_;
  size_t most_flows_ = 64;       // with more flows, DropDone() is called
  std::vector<uint32_t> ports_;  // ports that flows use
  std::vector<bool> is_watched_;
  int64_t rtt_ = 0;  // ps: the longest round-trip time of the flows

  // On the clock of the packets:
  Stage stage_ = kSettles;
  int64_t next_check_ = 0;
  int64_t seen_at_[3] = {};
  int64_t least_half_ = 0;
  std::vector<PortTotals> ports_before_;
  PacketTotals before_, after_;
  std::vector<PortTotals> ports_after_;

  bool steady_ = false;
  int64_t skip_from_ = 0, skip_end_ = 0;    // on this clock
  double reach_ = kFirstReach;              // maximum length of a jump, in observed times
  static constexpr double kFirstReach = 16, kReachGrows = 4;
  std::vector<PortTotals> extra_;
  PacketTotals extra_totals_;
};

}  // namespace chakra::packet
