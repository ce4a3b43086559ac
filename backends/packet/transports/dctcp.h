// DCTCP: a window, cut by the share of its packets that were marked.
//
// Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010; RFC 8257. What
// they leave to TCP is as in RFC 5681.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Dctcp {
 public:
  // Of payload bytes; rates in bytes a picosecond on the wire.
  struct Config {
    double g = 1.0 / 16;  // weight of news in alpha: SIGCOMM 2010, section 3; RFC 8257, section 4.2
    double initial = 0;   // first window, at least one packet; 0: the bandwidth-delay product, as in the HPCC
                          // authors' run.py
    bool slow_start = false;  // doubles each round trip until the first mark or loss
    double ai = 0;            // increase a round trip; 0: one packet (paper), where ai_rate is 0 too
    double ai_rate = 0;       // the same, as a rate over the base round-trip time
    // Most in the window, in bandwidth-delay products: what a receiver's buffer
    // is to TCP. No published constant; marks should come at less than two.
    double most = 4;
    double least_rate = 0;  // the window holds at least this rate's bytes, and one packet
    bool pace = false;      // the window's bytes spread over the base round-trip time
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Dctcp(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  void OnLoss(const Loss& loss, Control* control);
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double window() const { return window_; }
  double alpha() const { return alpha_; }

 private:
  void EndRound(uint64_t next);
  void Grow(const Ack& ack, bool round);
  void Steer(Control* control);

  double g_, mtu_, ai_;
  double least_, most_;  // of the window
  double window_;
  double slow_until_;              // slow start below; ssthresh of RFC 5681
  double alpha_ = 1;               // RFC 8257, section 4.2
  double pace_;                    // bytes a picosecond on the wire for each byte of the window; 0: none
  double fastest_;                 // rate of the card
  double acked_ = 0, marked_ = 0;  // bytes of this round
  uint64_t round_ends_ = 0;        // packet whose acknowledgement ends it
  uint64_t cut_ends_ = 0;          // packet from which on marks cut again, and the window grows
  bool begun_ = false;
};

}  // namespace chakra::packet
