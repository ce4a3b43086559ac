// DCTCP: a window that is cut by the share of its packets that were marked.
//
// Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010; RFC 8257. Rules that these leave to TCP are
// those of RFC 5681.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Dctcp {
 public:
  // The window is in payload bytes; rates are in bytes a picosecond on the wire.
  struct Config {
    double g = 1.0 / 16;  // weight of a new value in alpha: SIGCOMM 2010, section 3; RFC 8257, section 4.2
    // First window, at least one packet; 0: the bandwidth-delay product, as in the HPCC authors' run.py.
    double initial = 0;
    bool slow_start = false;  // the window doubles each round trip until the first mark or loss
    double ai = 0;            // increase in bytes each round trip; 0: one packet (paper) if ai_rate is 0 too
    double ai_rate = 0;       // the increase as a rate; times the base round-trip time
    // Maximum window in bandwidth-delay products, like the receiver's buffer of TCP. Not a published
    // constant; marks should come below two.
    double most = 4;
    double least_rate = 0;  // minimum window: one packet, or the bytes of this rate if that is more
    bool pace = false;      // the bytes of the window are spread over the base round-trip time
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
  double least_, most_;  // limits of the window
  double window_;
  double slow_until_;              // slow start below this window; ssthresh of RFC 5681
  double alpha_ = 1;               // RFC 8257, section 4.2
  double pace_;                    // bytes a picosecond on the wire for each byte of the window; 0: none
  double fastest_;                 // rate of the NIC
  double acked_ = 0, marked_ = 0;  // bytes of this round
  uint64_t round_ends_ = 0;        // the packet whose acknowledgement ends the round
  uint64_t cut_ends_ = 0;          // from this packet on, marks cut again and the window grows
  bool begun_ = false;
};

}  // namespace chakra::packet
