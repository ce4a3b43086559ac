// DCQCN: a rate that congestion notifications cut and that a timer and sent bytes raise.
//
// Zhu and others, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 5. NICs, and
// the simulator that the authors of HPCC published, follow other rules; see Rules.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Dcqcn {
 public:
  enum class Rules : uint8_t {
    // Each notification cuts at once, with the previous alpha, and makes the old rate the target. Without a
    // notification for some time, alpha decays. Both a timer and a byte counter advance stages; hyper
    // increase uses the lower stage.
    kPaper,
    // As the HPCC authors' ns-3 program models a NIC (rdma-hw.cc): each marked packet notifies; at multiples
    // of a timer there is a cut if any mark has come; alpha is averaged at multiples of another timer; the
    // target does not change if nothing was raised since the last cut; one timer advances stages, and hyper
    // increase is flat.
    kNic,
  };
  // Rates in bytes a picosecond, times in picoseconds. Values are from the paper unless another source is
  // named.
  struct Config {
    Rules rules = Rules::kPaper;
    double g = 1.0 / 256;              // weight of a new value in alpha
    int64_t alpha_timer = 55'000'000;  // K
    int64_t cut_timer = 0;             // kNic only
    int64_t increase_timer = 55'000'000;
    double byte_counter = 10'000'000;  // B, payload; 0: none. kPaper only
    int stages = 5;                    // F, the stages of fast recovery
    double ai = 5e-6;                  // R_AI: 40 Mb/s
    double hai = 25e-6;   // R_HAI: 200 Mb/s, from the authors' ns-3 program (github: bobzhuyb/ns3-rdma)
    double ai_share = 0;  // share of the NIC's rate, added to `ai`
    double hai_share = 0;
    double least = 12.5e-6;  // minimum rate: 100 Mb/s, from the same program
    bool window = false;     // limits bytes in flight to the bandwidth-delay product times rate / line rate
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Dcqcn(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  // The NIC sends lost packets again; the rate depends on marks only.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time now, Control* control);
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double rate() const { return rate_; }      // RC
  double target() const { return target_; }  // RT
  double alpha() const { return alpha_; }    // at the last notification or cut

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // as Time::Never()
  // Rate and target are the line rate: there is nothing to raise.
  bool Full() const { return rate_ == line_ && target_ == line_; }
  void Mark(int64_t now);
  void AgeAlpha(int64_t now);
  void Cut(int64_t now);
  void CountBytes(uint64_t bytes);
  void Raise();
  void Steer(Control* control) const;

  Config c_;
  double line_;        // rate of the NIC
  double window_ = 0;  // payload bytes at line rate; 0: none
  double mtu_;
  double rate_, target_;
  double alpha_ = 1;
  double bytes_ = 0;  // sent since the last step of the byte counter
  int time_stage_ = 0, byte_stage_ = 0;
  bool noticed_ = false;     // kNic: there was a mark in this period of alpha
  int64_t alpha_at_ = -1;    // time of the value of alpha; -1: no notification yet
  int64_t first_ = 0;        // kNic: start of the periods of the timer of cuts
  int64_t cut_at_ = kNever;  // kNic
  int64_t increase_at_ = kNever;
};

}  // namespace chakra::packet
