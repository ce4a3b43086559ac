// Swift: a window that keeps the round-trip time at a target.
//
// Kumar and others, "Swift: Delay is Simple and Effective for Congestion Control
// in the Datacenter", SIGCOMM 2020, algorithm 1 and section 3.5 (scaled targets).
// Of its two windows the one of the fabric: hosts here take no time to receive.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Swift {
 public:
  // Constants as in uet-htsim's model of Swift (swift.cpp), which calls them
  // guesses: the paper publishes the rules and few values.
  struct Config {
    // Target of a path without switches. The model's 20 us is for one network;
    // at first the base round-trip time of the path, below which no target can be met.
    std::optional<Time> base;
    std::optional<Time> hop;  // more for each switch; at first base / 6.55
    std::optional<Time> fs;   // most that a small window adds; at first 5 * base
    double fs_min = 0.1;      // packets: windows up to it get all of fs
    double fs_max = 100;      // packets: windows from it on get none
    double ai = 1;            // packets, increase per round trip
    double beta = 0.8;        // decrease
    double max_mdf = 0.5;     // most that one decrease takes
    double least = 0.001;     // packets, smallest window: chosen here
    double most = 0;          // packets; 0: what the card sends in the highest target
    double start = 0;         // packets; 0: what the path holds
    int reset_after = 5;      // timeouts in a row that take the window to `least`
    bool operator==(const Config&) const = default;
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Swift(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  void OnLoss(const Loss& loss, Control* control);
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double Target() const;                 // round-trip time for the window of now; ps
  double cwnd() const { return cwnd_; }  // packets

 private:
  bool MayDecrease(Time now) const { return !decreased_ || now - last_decrease_ >= rtt_; }
  void Set(double cwnd, Time now, Control* control);

  double mtu_, wire_;
  double ai_, beta_, max_mdf_, least_, most_;
  double fixed_;               // target without its part for small windows; ps
  double fs_, alpha_, shift_;  // that part: alpha / sqrt(cwnd) - shift, from 0 to fs; ps
  double cwnd_;
  Time rtt_;  // the last
  Time last_decrease_;
  bool decreased_ = false;
  int reset_after_;
  int timeouts_ = 0;  // in a row
};

}  // namespace chakra::packet
