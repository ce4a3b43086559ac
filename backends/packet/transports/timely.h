// TIMELY: a rate that follows the gradient of the round-trip time.
//
// Mittal and others, "TIMELY: RTT-based Congestion Control for the Datacenter",
// SIGCOMM 2015, algorithm 1. The patched form, which has a unique fixed point:
// Zhu and others, "ECN or Delay", CoNEXT 2016, algorithm 2.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Timely {
 public:
  // Rates in bytes a picosecond, times in picoseconds. As in SIGCOMM 2015, where no other source is named.
  struct Config {
    double ewma = 0.875;  // weight of news in the difference of round-trip times
    double beta = 0.8;    // of a decrease; patched: 0.008
    int64_t low = 50'000'000, high = 500'000'000;
    int64_t min_rtt = 20'000'000;  // by which the gradient is divided
    double ai = 1.25e-6;           // delta: 10 Mb/s
    double ai_share = 0;           // of the card's rate, beside `ai`
    int hyper = 5;                 // N, after as many increases in a row
    bool any_increase = false;     // all increases count for N, and N is of all; else those for the gradient
    double least = 1.25e-6;        // no rate below. Not published: one step
    bool patched = false;
    int64_t reference = 0;  // patched: round-trip time of the fixed point; 0: `low`, as its authors' analysis
    bool window = false;    // at most the bandwidth-delay product times rate / line rate in flight
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Timely(const Config& config, const PathFacts& path, Control* control);
  // The first acknowledgement of each round trip changes the rate.
  void OnAck(const Ack& ack, Control* control);
  // Of lossless networks, where the card sends again what is lost: delay alone steers the rate.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double rate() const { return rate_; }
  double gradient() const { return difference_ / static_cast<double>(c_.min_rtt); }

 private:
  void Adjust(double rtt);
  void Steer(Control* control) const;

  Config c_;
  double line_;        // rate of the card
  double window_ = 0;  // payload bytes at line rate; 0: none
  double mtu_;
  double rate_;
  double difference_ = 0;    // smoothed; ps
  int64_t last_ = -1;        // round-trip time of the round before; -1: none yet
  uint64_t round_ends_ = 0;  // packet whose acknowledgement is the next round's first
  int increases_ = 0;        // in a row
};

}  // namespace chakra::packet
