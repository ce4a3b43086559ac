// HPCC: a window from what each hop reports of its queue and rate.
//
// Li and others, "HPCC: High Precision Congestion Control", SIGCOMM 2019,
// algorithm 1; draft-miao-tsv-hpcc-01. In bytes of the wire, as ports count.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Hpcc {
 public:
  struct Config {
    double eta = 0.95;  // utilisation that is aimed at: SIGCOMM 2019, section 5.1
    // Steps of pure increase before a new comparison with eta. The paper says 5;
    // its authors have since called that a typing error for 0, which their runs
    // used (hpcc-group.github.io, results).
    int max_stage = 0;
    double w_ai = 80;  // bytes that each step adds: SIGCOMM 2019, section 5.1
    int flows = 0;     // N > 0: w_ai is (1 - eta) / N of the first window (section 3.3)
    // Bytes a picosecond, 100 Mb/s: the minimum rate of the authors' ns-3 program.
    double least = 12500000 * 1e-12;
    bool operator==(const Config&) const = default;
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Hpcc(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  // Published for lossless networks: the telemetry tells of the full queue, the loss adds nothing.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double utilization() const { return u_; }  // smoothed, of the fullest hop; 1 at first
  double window() const { return w_; }       // bytes on the wire

 private:
  bool SamePath(const Ack& ack) const;
  void Measure(const Telemetry& telemetry);
  void Adjust(bool update);
  void Steer(Control* control) const;

  double eta_, w_ai_, least_, most_;  // the last two: of the window
  double t_;                          // base round-trip time; ps
  double mtu_, wire_;                 // of a full packet: payload, and bytes on a link
  double u_ = 1;                      // as in the authors' program; the paper leaves it open
  double w_, reference_;              // reference: Wc, the window of the last round trip
  int max_stage_;
  int stage_ = 0;
  uint64_t last_update_ = 0;  // packet whose acknowledgement begins the next round trip
  uint32_t path_ = 0;
  Telemetry last_;  // of the acknowledgement before; no hops: none
};

}  // namespace chakra::packet
