// Ranks and nodes that differ in speed: what Variation of cluster.proto means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "trace/base/units.h"

namespace chakra {

// "3,8-15", or "all", as ascending ranks of [0, ranks). Errors: no such list, a
// rank twice or outside, with the nearest valid one.
absl::StatusOr<std::vector<int>> ParseRanks(absl::string_view list, int ranks);

// "RANK=FACTOR", the short form of Variation::Speed, appended to `out`. RANK may
// be a list. Errors: no such form; the values are checked by Variation::Make(),
// whose errors then name "--straggler" and the text.
absl::Status AddStraggler(absl::string_view text, proto::Variation* out);

// Everything random is a hash of the seed and of what it is for (rank, node id),
// so that it depends neither on order nor on threads. Immutable.
class Variation {
 public:
  // Nothing varies.
  Variation() = default;
  // Errors (InvalidArgument) name the field, the value and what was expected.
  static absl::StatusOr<Variation> Make(const proto::Variation& proto, int ranks);

  bool varies_compute() const { return jitter_ != Jitter::kNone || !factor_.empty(); }
  // What node `id` of `rank` takes where the trace or the device says `time`, to
  // the nearest picosecond; saturates at Time::Never().
  Time Compute(int rank, uint64_t id, Time time) const;

  // By rank, when its first node may start; empty: all at 0.
  const std::vector<Time>& starts() const { return start_; }

  // One line on what varies, with the seed; "" when nothing does.
  const std::string& text() const { return text_; }

 private:
  enum class Jitter { kNone, kLognormal, kUniform };

  void Describe(const proto::Variation& proto, const std::vector<int>& stragglers);
  double Factor(int rank, uint64_t id) const;

  uint64_t seed_ = 1;
  std::vector<double> factor_;  // by rank; empty: 1
  Jitter jitter_ = Jitter::kNone;
  double sigma_ = 0;  // uniform: of the factor; lognormal: of its logarithm
  std::vector<Time> start_;
  std::string text_;
};

}  // namespace chakra
