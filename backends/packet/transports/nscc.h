// NSCC, the sender's congestion control of Ultra Ethernet, with its spraying.
//
// The congestion chapter of the Ultra Ethernet Specification 1.0; rules and constants as in the working
// group's model (uet-htsim, uec.cpp and uec_mp.cpp). In bytes on the wire. Marks and delays distinguish four
// cases:
//   no mark, delay below target: grow in proportion to the difference; fast if there is no delay
//   no mark, delay above: grow slowly, because the queue is shrinking
//   mark, delay above: shrink once a round trip, by the excess of the mean delay
//   mark, delay below: only the path is bad
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class Nscc {
 public:
  enum class Balance : uint8_t { kMixed, kReps, kBitmap, kOblivious };
  // Constants of uec.cpp; they scale with BDP / 150 kB, where 150 kB is the BDP of 100 Gb/s and 12 us.
  struct Config {
    bool trimming = true;  // switches trim, so the target may be lower
    // Target of the queueing delay. Default: 3/4 of the base round-trip time; without trimming, all of it.
    std::optional<Time> target;
    double alpha = 4;           // proportional increase; payloads of packets
    double fi = 5;              // fair increase; payloads of packets
    double eta = 0.15;          // increase each round trip, in all cases; payloads of packets
    double fast = 0.25;         // fast increase, as a share of the acknowledged bytes
    double gamma = 0.8;         // decrease
    double smoothing = 0.0125;  // of the mean delay
    double most = 1.5;          // maximum and first window; bandwidth-delay products
    double qa_delay = 4;        // minimum delay for quick adaptation, in targets
    int qa_gate = 3;            // quick adaptation only if less than 2^-qa_gate of the maximum window arrived
    Balance balance = Balance::kMixed;
    bool operator==(const Config&) const = default;
  };
  // The values of the constants on one path.
  struct Derived {
    double target = 0;  // ps
    double alpha = 0;   // bytes a picosecond
    double fi = 0;      // bytes
    double eta = 0;     // bytes
    double fast = 0;    // share of the acknowledged bytes
    double most = 0;    // bytes
  };
  static constexpr uint32_t kMostPaths = 256;  // further paths are not used

  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  Nscc(const Config& config, const PathFacts& path, Control* control);
  void OnAck(const Ack& ack, Control* control);
  void OnLoss(const Loss& loss, Control* control);
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time now, uint32_t paths);

  const Derived& derived() const { return d_; }
  double cwnd() const { return cwnd_; }              // bytes on the wire
  double mean_delay() const { return mean_delay_; }  // mean queueing delay; ps

 private:
  static constexpr uint32_t kRecycled = 64;  // the number of entropy values in the model
  enum : uint8_t { kPenaltyMark = 1, kPenaltyTrimmed = 4, kPenaltyTimeout = 15 };

  void Average(double delay, bool marked);
  void Cases(const Ack& ack, double delay, double acked);
  bool QuickAdapt(Time now, bool lost, bool marked, double delay, double in_flight);
  void Fulfil(Time now);
  void Bound();
  void Steer(Control* control) const { control->window = cwnd_ * mtu_ / wire_; }
  double Wire(uint64_t payload) const { return static_cast<double>(payload) * wire_ / mtu_; }

  bool Sweeps() const { return balance_ == Balance::kOblivious; }
  uint8_t Penalty(uint32_t path) const { return penalty_[path / 2] >> (path % 2 * 4) & 15; }
  void SetPenalty(uint32_t path, uint32_t penalty);
  void Punish(uint32_t path, uint32_t penalty);
  uint64_t Random();
  void Step(uint32_t paths);
  uint32_t Sweep(uint32_t paths);
  uint32_t SweepUnpunished(uint32_t paths);

  Derived d_;
  double gamma_, smoothing_, qa_delay_, qa_most_;
  double base_;  // round-trip time; ps
  double mtu_;   // payload of a full packet
  double wire_;  // bytes of a full packet on a link: the smallest window

  double cwnd_ = 0;
  double mean_delay_ = 0;
  double inc_ = 0;        // increase for the next adjustment; square bytes
  double received_ = 0;   // bytes since the last adjustment
  double idle_ = 0;       // bytes that arrived one after the other with almost no delay
  bool growing_ = false;  // fast increase is on
  bool started_ = false;
  Time last_adjust_, last_decrease_;

  // Quick adaptation
  double achieved_ = 0;  // bytes that arrived in this period
  double to_ignore_ = 0, ignored_ = 0;
  Time qa_end_ = Time::Zero();  // end of the period; zero before the first
  bool armed_ = false;

  // Paths
  Balance balance_;
  uint8_t head_ = 0, recycled_ = 0;                // first entry of ring_, and number of entries
  uint32_t at_ = 0, flip_ = 0;                     // of the sweep: position, and bits that permute it
  uint32_t round_ = 0;                             // number of paths in the sweep; 0: not begun
  uint64_t seed_;                                  // state of the random generator
  std::array<uint8_t, kRecycled> ring_{};          // paths that came back without a mark, the oldest first
  std::array<uint8_t, kMostPaths / 2> penalty_{};  // 4 bits for each path
};

}  // namespace chakra::packet
