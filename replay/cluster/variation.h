// Ranks and nodes that differ in speed: what Variation of cluster.proto means.
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

// "3,8-15", or "all", as ascending ranks of [0, ranks). Errors: no such list, a
// rank twice or outside, with the nearest valid one.
absl::StatusOr<std::vector<int>> ParseRanks(absl::string_view list, int ranks);

// "[PART:]RANK=FACTOR", the short form of Variation::Speed, appended to `out`. PART
// is device, host or rank; RANK may be a list. Errors: no such form; the values
// are checked by Variation::Make(), whose errors then name "--straggler" and the text.
absl::Status AddStraggler(absl::string_view text, proto::Variation* out);

// What runs a COMP node. The last two differ by the rank: does its trace have
// computation on a device?
enum class Processor : uint8_t { kDevice, kHost, kOnlyHost };
inline constexpr int kProcessors = 3;

// Whether a rank has COMP nodes on a device, and on its host.
struct Computes {
  bool device = false;
  bool host = false;
};
Computes WhatComputes(const Graph& graph);

// A line for each entry of `proto` whose part has nothing to do on some of its ranks: there the factor
// changes nothing. Precondition: Variation::Make() took `proto` for as many ranks.
std::vector<std::string> FactorsWithoutEffect(const proto::Variation& proto,
                                              const std::vector<Computes>& by_rank);

// Everything random is a hash of the seed and of what it is for (rank, node id),
// so that it depends neither on order nor on threads. Immutable.
class Variation {
 public:
  // Nothing varies.
  Variation() = default;
  // Errors (InvalidArgument) name the field, the value and what was expected.
  static absl::StatusOr<Variation> Make(const proto::Variation& proto, int ranks);

  bool varies_compute() const { return jitter_ != Jitter::kNone || !factor_.empty(); }
  // What node `id` of `rank` takes on `on` where the trace or the device says `time`, to
  // the nearest picosecond; saturates at Time::Never().
  Time Compute(int rank, uint64_t id, Processor on, Time time) const;
  // What a delay between two nodes of one host thread becomes: work of the host that no node covers. Rounds
  // and saturates likewise.
  Time HostGap(int rank, Processor on, Time gap) const;

  // By rank, when its first node may start; empty: all at 0.
  const std::vector<Time>& starts() const { return start_; }

  // One line on what varies, with the seed; "" when nothing does.
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
  std::vector<int> stragglers_;  // drawn
  Jitter jitter_ = Jitter::kNone;
  double sigma_ = 0;  // uniform: of the factor; lognormal: of its logarithm
  std::vector<Time> start_;
  std::string text_;
};

}  // namespace chakra
