// HPCC: a window computed from the queue and rate that each hop reports.
//
// Li and others, "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1;
// draft-miao-tsv-hpcc-01. In bytes on the wire, as ports count them.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Hpcc {
 public:
  struct Config {
    double eta = 0.95;  // target utilisation: SIGCOMM 2019, section 5.1
    // Steps of pure increase before the next comparison with eta. The paper says 5; its authors later called
    // that a typing error for 0, which their runs used (hpcc-group.github.io, results).
    int max_stage = 0;
    double w_ai = 80;  // bytes that each step adds: SIGCOMM 2019, section 5.1
    int flows = 0;     // N > 0: w_ai is (1 - eta) / N of the first window (section 3.3)
    // Minimum rate in bytes a picosecond: 100 Mb/s, from the authors' ns-3 program.
    double least = 12500000 * 1e-12;
    bool operator==(const Config&) const = default;
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Hpcc(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  // Published for lossless networks: the telemetry already reports the full queue, so a loss changes nothing.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double utilization() const { return u_; }  // smoothed utilisation of the fullest hop; initially 1
  double window() const { return w_; }       // bytes on the wire

 private:
  bool SamePath(const Ack& ack) const;
  void Measure(const Telemetry& telemetry);
  void Adjust(bool update);
  void Steer(Control* control) const;

  double eta_, w_ai_, least_, most_;  // least_, most_: limits of the window
  double t_;                          // base round-trip time; ps
  double mtu_, wire_;                 // of a full packet: payload, and bytes on a link
  double u_ = 1;                      // initial value of the authors' program; the paper gives none
  double w_, reference_;              // reference_: Wc, the window of the last round trip
  int max_stage_;
  int stage_ = 0;
  uint64_t last_update_ = 0;  // the packet whose acknowledgement begins the next round trip
  uint32_t path_ = 0;
  Telemetry last_;  // from the previous acknowledgement; no hops: none
};

}  // namespace chakra::packet
