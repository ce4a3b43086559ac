// Ranks and nodes that differ in speed: the implementation of Variation in cluster.proto.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

// Parses "3,8-15", or "all", to ascending ranks in [0, ranks). Errors: another form; a rank that occurs twice
// or is out of range, with the nearest valid one.
absl::StatusOr<std::vector<int>> ParseRanks(absl::string_view list, int ranks);

// Appends "[PART:]RANK=FACTOR", the short form of Variation::Speed, to `out`. PART is device, host or rank;
// RANK may be a list. Errors: another form. Variation::Make() checks the values; its errors then name
// "--straggler" and the text.
absl::Status AddStraggler(absl::string_view text, proto::Variation* out);

// The processor that runs a COMP node. Host nodes are kHost if the trace of the rank has computation on a
// device, else kOnlyHost.
enum class Processor : uint8_t { kDevice, kHost, kOnlyHost };
inline constexpr int kProcessors = 3;

// Whether a rank has COMP nodes on a device, and on its host.
struct Computes {
  bool device = false;
  bool host = false;
};
Computes WhatComputes(const Graph& graph);

// Returns a line for each entry of `proto` whose part has nothing to compute on some of the entry's ranks,
// where the factor changes nothing. Precondition: Variation::Make() accepted `proto` for as many ranks.
std::vector<std::string> FactorsWithoutEffect(const proto::Variation& proto,
                                              const std::vector<Computes>& by_rank);

// Speeds and start times of ranks. Every random value is a hash of the seed and of its purpose (rank, node
// id), so it depends neither on order nor on threads. Immutable.
class Variation {
 public:
  // Nothing varies.
  Variation() = default;
  // Errors (InvalidArgument) name the field, the value and what was expected.
  static absl::StatusOr<Variation> Make(const proto::Variation& proto, int ranks);

  bool varies_compute() const { return jitter_ != Jitter::kNone || !factor_.empty(); }
  // The time of node `id` of `rank` on `on`, if the trace or the device gives `time`. Rounded to the nearest
  // picosecond; saturates at Time::Never().
  Time Compute(int rank, uint64_t id, Processor on, Time time) const;
  // The varied length of a gap between two nodes of one host thread, which is host work that no node covers.
  // Rounded to the nearest picosecond; saturates at Time::Never().
  Time HostGap(int rank, Processor on, Time gap) const;

  // By rank: when its first node may start; empty: all at 0.
  const std::vector<Time>& starts() const { return start_; }

  // One line about what varies, with the seed; "" if nothing does.
  const std::string& text() const { return text_; }

 private:
  enum class Jitter { kNone, kLognormal, kUniform };

  using Factors = std::array<double, kProcessors>;

  absl::Status SetSpeeds(const proto::Variation& proto, int ranks);
  void Slow(const std::vector<int>& which, proto::Variation::Part part, double factor, int ranks);
  void Describe(const proto::Variation& proto);
  double Factor(int rank, uint64_t id, Processor on) const;

  uint64_t seed_ = 1;
  std::vector<Factors> factor_;  // by rank; empty: 1
  std::vector<int> stragglers_;  // the ranks drawn as stragglers
  Jitter jitter_ = Jitter::kNone;
  double sigma_ = 0;  // uniform: standard deviation of the factor; lognormal: of its logarithm
  std::vector<Time> start_;
  std::string text_;
};

}  // namespace chakra
