// DCQCN: a rate, cut by notifications of congestion, raised by a timer and by bytes.
//
// Zhu and others, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
// 2015, section 5. Cards and the simulator that the authors of HPCC published
// follow other rules: Rules.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Dcqcn {
 public:
  enum class Rules : uint8_t {
    // Each notification cuts at once, with alpha from before it, and makes the
    // rate the target. No notification for a while: alpha decays. Both a timer
    // and a byte counter step up; hyper increase by the lower stage.
    kPaper,
    // As the HPCC authors' ns-3 program models a card (rdma-hw.cc): each marked
    // packet notifies; a cut is due at multiples of a timer, if any mark came;
    // alpha is averaged at multiples of another; the target stays where nothing
    // was raised since the last cut; one timer steps up, hyper increase is flat.
    kNic,
  };
  // Rates in bytes a picosecond, times in picoseconds. As in the paper, where no other source is named.
  struct Config {
    Rules rules = Rules::kPaper;
    double g = 1.0 / 256;              // weight of news in alpha
    int64_t alpha_timer = 55'000'000;  // K
    int64_t cut_timer = 0;             // kNic only
    int64_t increase_timer = 55'000'000;
    double byte_counter = 10'000'000;  // B, payload; 0: none. kPaper only
    int stages = 5;                    // F, of fast recovery
    double ai = 5e-6;                  // R_AI: 40 Mb/s
    double hai = 25e-6;   // R_HAI: 200 Mb/s, of the authors' ns-3 program (github: bobzhuyb/ns3-rdma)
    double ai_share = 0;  // of the card's rate, beside `ai`
    double hai_share = 0;
    double least = 12.5e-6;  // no rate below: 100 Mb/s, of the same program
    bool window = false;     // at most the bandwidth-delay product times rate / line rate in flight
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Dcqcn(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  // The card's recovery sends again; the rate knows marks only.
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time now, Control* control);
  uint32_t PickPath(Time, uint32_t) { return 0; }

  double rate() const { return rate_; }      // RC
  double target() const { return target_; }  // RT
  double alpha() const { return alpha_; }    // as of the last notification or cut

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // as Time::Never()
  // Line rate, and that is the target too: nothing to raise.
  bool Full() const { return rate_ == line_ && target_ == line_; }
  void Mark(int64_t now);
  void AgeAlpha(int64_t now);
  void Cut(int64_t now);
  void CountBytes(uint64_t bytes);
  void Raise();
  void Steer(Control* control) const;

  Config c_;
  double line_;        // rate of the card
  double window_ = 0;  // payload bytes at line rate; 0: none
  double mtu_;
  double rate_, target_;
  double alpha_ = 1;
  double bytes_ = 0;  // since the last step of the byte counter
  int time_stage_ = 0, byte_stage_ = 0;
  bool noticed_ = false;     // kNic: a mark in this period of alpha
  int64_t alpha_at_ = -1;    // alpha is as of then; -1: no notification yet
  int64_t first_ = 0;        // kNic: the timer of cuts counts from here
  int64_t cut_at_ = kNever;  // kNic
  int64_t increase_at_ = kNever;
};

}  // namespace chakra::packet
