#include "replay/cluster/variation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/check.h"
#include "trace/base/splitmix.h"

namespace chakra {
namespace {

constexpr double kMostFactor = 1e6;
constexpr double kMostSkewNanos = 1e12;  // 1000 s
constexpr double kMostSigma = 10;
constexpr size_t kListed = 8;  // stragglers that the report names

// What a random number is for.
enum Purpose : uint64_t { kJitter = 1, kSecond = 2, kStraggler = 3, kSkew = 4 };

uint64_t Hash(uint64_t seed, Purpose purpose, int rank, uint64_t id) {
  uint64_t h = SplitMix(seed + kSplitMixStep);
  h = SplitMix(h + kSplitMixStep * purpose);
  h = SplitMix(h + kSplitMixStep * (static_cast<uint64_t>(rank) + 1));
  return SplitMix(h + kSplitMixStep * (id + 1));
}

// In (0, 1): the middles of 2^53 equal parts.
double Unit(uint64_t hash) { return (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53; }

absl::Status Bad(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("cluster: variation.", field, " is ", got, "; expected ", expected));
}

// In (0, most].
bool IsPositive(double v, double most) { return std::isfinite(v) && v > 0 && v <= most; }
std::string Positive(double most) { return absl::StrCat("a number > 0 and <= ", most); }

absl::Status CheckPositive(absl::string_view field, double v, double most) {
  return IsPositive(v, most) ? absl::OkStatus() : Bad(field, absl::StrCat(v), Positive(most));
}

absl::StatusOr<std::vector<double>> CheckSpeeds(const proto::Variation& proto, int ranks) {
  std::vector<double> factor;
  for (int i = 0; i < proto.speed_size(); ++i) {
    const proto::Variation::Speed& speed = proto.speed(i);
    const Labelled where(speed.label(), absl::StrCat("variation.speed[", i, "]"));
    if (!IsPositive(speed.factor(), kMostFactor)) {
      return where.Bad("factor", absl::StrCat(speed.factor()), Positive(kMostFactor));
    }
    absl::StatusOr<std::vector<int>> list = ParseRanks(speed.ranks(), ranks);
    if (!list.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(where.Field("ranks"), ": ", list.status().message()));
    }
    if (factor.empty()) factor.assign(static_cast<size_t>(ranks), 1.0);
    for (int r : *list) factor[static_cast<size_t>(r)] *= speed.factor();
  }
  return factor;
}

// The ranks whose hashes are the smallest.
std::vector<int> DrawStragglers(double share, uint64_t seed, int ranks) {
  std::vector<std::pair<uint64_t, int>> by_hash;
  for (int r = 0; r < ranks; ++r) by_hash.emplace_back(Hash(seed, kStraggler, r, 0), r);
  std::sort(by_hash.begin(), by_hash.end());
  by_hash.resize(static_cast<size_t>(std::clamp<int64_t>(std::llround(share * ranks), 1, ranks)));
  std::vector<int> drawn;
  for (const auto& [hash, rank] : by_hash) drawn.push_back(rank);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseRanks(absl::string_view list, int ranks) {
  std::vector<int> out;
  if (list == "all") {
    out.resize(static_cast<size_t>(ranks));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  std::vector<bool> seen(static_cast<size_t>(ranks));
  for (absl::string_view item : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(item, absl::MaxSplits('-', 1));
    const bool range = item.find('-') != absl::string_view::npos;
    int64_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first) || !absl::SimpleAtoi(range ? ends.second : ends.first, &last) ||
        first < 0 || last < first) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", item, "\" of \"", list, "\"; expected ranks, as 3,8-15, or all"));
    }
    if (last >= ranks) {
      return absl::InvalidArgumentError(absl::StrCat("rank ", std::max<int64_t>(first, ranks), " of \"", list,
                                                     "\" is none of the run; expected 0 to ", ranks - 1));
    }
    for (int64_t r = first; r <= last; ++r) {
      if (seen[static_cast<size_t>(r)])
        return absl::InvalidArgumentError(absl::StrCat("rank ", r, " is twice in \"", list, "\""));
      seen[static_cast<size_t>(r)] = true;
      out.push_back(static_cast<int>(r));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

absl::Status AddStraggler(absl::string_view text, proto::Variation* out) {
  const size_t equals = text.find('=');
  double factor = 0;
  if (equals == absl::string_view::npos || equals == 0 ||
      !absl::SimpleAtod(text.substr(equals + 1), &factor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\"; expected RANK=FACTOR, as 3=1.5 or 8-15=1.1"));
  }
  proto::Variation::Speed* speed = out->add_speed();
  speed->set_label(absl::StrCat("--straggler \"", text, "\""));
  speed->set_ranks(std::string(text.substr(0, equals)));
  speed->set_factor(factor);
  return absl::OkStatus();
}

absl::StatusOr<Variation> Variation::Make(const proto::Variation& proto, int ranks) {
  Variation v;
  if (proto.seed() != 0) v.seed_ = proto.seed();
  absl::StatusOr<std::vector<double>> factor = CheckSpeeds(proto, ranks);
  if (!factor.ok()) return factor.status();
  v.factor_ = *std::move(factor);
  std::vector<int> stragglers;
  if (proto.has_stragglers()) {
    const auto& s = proto.stragglers();
    if (absl::Status bad = CheckPositive("stragglers.share", s.share(), 1); !bad.ok()) return bad;
    if (absl::Status bad = CheckPositive("stragglers.factor", s.factor(), kMostFactor); !bad.ok()) return bad;
    stragglers = DrawStragglers(s.share(), v.seed_, ranks);
    if (v.factor_.empty()) v.factor_.assign(static_cast<size_t>(ranks), 1.0);
    for (int r : stragglers) v.factor_[static_cast<size_t>(r)] *= s.factor();
  }
  if (proto.has_jitter()) {
    const auto& j = proto.jitter();
    const bool uniform = j.kind() == proto::Variation::Jitter::UNIFORM;
    if (!uniform && j.kind() != proto::Variation::Jitter::LOGNORMAL) {
      return Bad("jitter.kind", j.kind() == 0 ? std::string("not set") : absl::StrCat(j.kind()),
                 "LOGNORMAL or UNIFORM");
    }
    const double most = uniform ? 1 / std::sqrt(3.0) : kMostSigma;
    if (absl::Status bad = CheckPositive("jitter.sigma", j.sigma(), most); !bad.ok()) return bad;
    v.jitter_ = uniform ? Jitter::kUniform : Jitter::kLognormal;
    v.sigma_ = uniform ? j.sigma() : std::sqrt(std::log1p(j.sigma() * j.sigma()));
  }
  const double skew = proto.start_skew_ns();
  if (skew != 0) {
    if (absl::Status bad = CheckPositive("start_skew_ns", skew, kMostSkewNanos); !bad.ok()) return bad;
    for (int r = 0; r < ranks; ++r) {
      v.start_.push_back(Time::Picos(static_cast<int64_t>(skew * 1000 * Unit(Hash(v.seed_, kSkew, r, 0)))));
    }
  }
  v.Describe(proto, stragglers);
  return v;
}

void Variation::Describe(const proto::Variation& proto, const std::vector<int>& stragglers) {
  std::vector<std::string> parts;
  for (const auto& speed : proto.speed()) {
    parts.push_back(absl::StrFormat("compute x %.6g on ranks %s", speed.factor(), speed.ranks()));
  }
  if (!stragglers.empty()) {
    const std::vector<int> named(stragglers.begin(),
                                 stragglers.begin() + std::min(stragglers.size(), kListed));
    parts.push_back(absl::StrFormat(
        "compute x %.6g on %d stragglers (ranks %s%s)", proto.stragglers().factor(), stragglers.size(),
        absl::StrJoin(named, ", "), named.size() < stragglers.size() ? ", ..." : ""));
  }
  if (jitter_ != Jitter::kNone) {
    parts.push_back(absl::StrFormat("%s jitter of sigma %.6g",
                                    jitter_ == Jitter::kUniform ? "uniform" : "lognormal",
                                    proto.jitter().sigma()));
  }
  if (!start_.empty()) {
    parts.push_back(absl::StrCat("ranks start within ", FormatTime(Time::FromNanos(proto.start_skew_ns()))));
  }
  if (parts.empty()) return;
  text_ = absl::StrCat("seed ", seed_, ": ", absl::StrJoin(parts, "; "));
}

double Variation::Factor(int rank, uint64_t id) const {
  const double factor = factor_.empty() ? 1 : factor_[static_cast<size_t>(rank)];
  if (jitter_ == Jitter::kNone) return factor;
  const double u = Unit(Hash(seed_, kJitter, rank, id));
  if (jitter_ == Jitter::kUniform) return factor * (1 + sigma_ * std::sqrt(3.0) * (2 * u - 1));
  // Box and Muller's transform.
  constexpr double kTwoPi = 6.283185307179586;
  const double z = std::sqrt(-2 * std::log(u)) * std::cos(kTwoPi * Unit(Hash(seed_, kSecond, rank, id)));
  return factor * std::exp(sigma_ * z - sigma_ * sigma_ / 2);
}

Time Variation::Compute(int rank, uint64_t id, Time time) const {
  const double picos = std::round(static_cast<double>(time.picos()) * Factor(rank, id));
  constexpr double kMost = 9.2e18;
  return picos < kMost ? Time::Picos(static_cast<int64_t>(picos)) : Time::Never();
}

}  // namespace chakra
