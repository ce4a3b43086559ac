// Swift: a window that keeps the round-trip time at a target.
//
// Kumar and others, "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
// 2020, algorithm 1 and section 3.5 (scaled targets). Of Swift's two windows only that of the fabric, because
// hosts need no time to receive here.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Swift {
 public:
  // Constants as in uet-htsim's model of Swift (swift.cpp), which calls them guesses: the paper publishes the
  // rules but few values.
  struct Config {
    // Target of a path without switches. The model's 20 us are for one network. Default: the path's base
    // round-trip time; no lower target can be met.
    std::optional<Time> base;
    std::optional<Time> hop;  // addition for each switch; default base / 6.55
    std::optional<Time> fs;   // maximum addition for small windows; default 5 * base
    double fs_min = 0.1;      // packets: windows up to this get all of fs
    double fs_max = 100;      // packets: windows from this on get nothing of fs
    double ai = 1;            // increase in packets per round trip
    double beta = 0.8;        // factor of a decrease
    double max_mdf = 0.5;     // maximum share of the window that one decrease removes
    double least = 0.001;     // smallest window in packets; not published
    double most = 0;          // largest window in packets; 0: what the NIC sends in the highest target
    double start = 0;         // first window in packets; 0: the bandwidth-delay product of the path
    int reset_after = 5;      // number of timeouts one after the other that set the window to `least`
    bool operator==(const Config&) const = default;
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Swift(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  void OnLoss(const Loss& loss, Control* control);
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double Target() const;                 // target round-trip time for the current window; ps
  double cwnd() const { return cwnd_; }  // packets

 private:
  bool MayDecrease(Time now) const { return !decreased_ || now - last_decrease_ >= rtt_; }
  void Set(double cwnd, Time now, Control* control);

  double mtu_, wire_;
  double ai_, beta_, max_mdf_, least_, most_;
  double fixed_;               // target without the addition for small windows; ps
  double fs_, alpha_, shift_;  // the addition: alpha / sqrt(cwnd) - shift, from 0 to fs; ps
  double cwnd_;
  Time rtt_;  // of the last acknowledgement
  Time last_decrease_;
  bool decreased_ = false;
  int reset_after_;
  int timeouts_ = 0;  // one after the other
};

}  // namespace chakra::packet
