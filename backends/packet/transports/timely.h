// TIMELY: a rate that follows the gradient of the round-trip time.
//
// Mittal and others, "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm 1.
// The patched form, which has a unique fixed point: Zhu and others, "ECN or Delay", CoNEXT 2016, algorithm 2.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Timely {
 public:
  // Rates in bytes a picosecond, times in picoseconds. Values are from SIGCOMM 2015 unless another source is
  // named.
  struct Config {
    double ewma = 0.875;  // weight of a new value in the difference of round-trip times
    double beta = 0.8;    // factor of a decrease; patched: 0.008
    int64_t low = 50'000'000, high = 500'000'000;
    int64_t min_rtt = 20'000'000;  // the gradient is the difference divided by this
    double ai = 1.25e-6;           // delta: 10 Mb/s
    double ai_share = 0;           // share of the NIC's rate, added to `ai`
    int hyper = 5;                 // factor of `ai` after this many increases one after the other (N)
    // N counts all increases and applies to all; false: only increases by the gradient
    bool any_increase = false;
    double least = 1.25e-6;  // minimum rate; not published: one step
    bool patched = false;
    // patched: round-trip time of the fixed point; 0: `low`, as in its authors' analysis
    int64_t reference = 0;
    bool window = false;  // limits bytes in flight to the bandwidth-delay product times rate / line rate
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Timely(const Config& config, const PathFacts& path, Control* control);
  // The first acknowledgement of each round trip changes the rate.
  void OnAck(const Ack& ack, Control* control);
  // Published for lossless networks, where the NIC sends lost packets again: only the delay changes the rate.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double rate() const { return rate_; }
  double gradient() const { return difference_ / static_cast<double>(c_.min_rtt); }

 private:
  void Adjust(double rtt);
  void Steer(Control* control) const;

  Config c_;
  double line_;        // rate of the NIC
  double window_ = 0;  // payload bytes at line rate; 0: none
  double mtu_;
  double rate_;
  double difference_ = 0;    // smoothed; ps
  int64_t last_ = -1;        // round-trip time of the previous round; -1: none yet
  uint64_t round_ends_ = 0;  // the packet whose acknowledgement begins the next round
  int increases_ = 0;        // one after the other
};

}  // namespace chakra::packet
