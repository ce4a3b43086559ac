#include "replay/cluster/variation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/check.h"
#include "trace/base/splitmix.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kMostFactor = 1e6;
constexpr double kMostSkewNanos = 1e12;  // 1000 s
constexpr double kMostSigma = 10;
constexpr size_t kListed = 8;  // maximum number of ranks that a line names

// The purpose of a random number.
enum Purpose : uint64_t { kJitter = 1, kSecond = 2, kStraggler = 3, kSkew = 4 };

uint64_t Hash(uint64_t seed, Purpose purpose, int rank, uint64_t id) {
  uint64_t h = SplitMix(seed + kSplitMixStep);
  h = SplitMix(h + kSplitMixStep * purpose);
  h = SplitMix(h + kSplitMixStep * (static_cast<uint64_t>(rank) + 1));
  return SplitMix(h + kSplitMixStep * (id + 1));
}

// Maps a hash to (0, 1): to the middles of 2^53 equal parts.
double Unit(uint64_t hash) { return (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53; }

absl::Status Bad(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("cluster: variation.", field, " is ", got, "; expected ", expected));
}

// Whether `v` is in (0, most].
bool IsPositive(double v, double most) { return std::isfinite(v) && v > 0 && v <= most; }
std::string Positive(double most) { return absl::StrCat("a number > 0 and <= ", most); }

absl::Status CheckPositive(absl::string_view field, double v, double most) {
  return IsPositive(v, most) ? absl::OkStatus() : Bad(field, absl::StrCat(v), Positive(most));
}

// The names of a part in messages and in short forms.
struct PartName {
  proto::Variation::Part part;
  absl::string_view name;   // in the short form; "": the short form has no name
  absl::string_view shown;  // in messages
};
constexpr PartName kParts[] = {{proto::Variation::COMPUTATION, "", "compute"},
                               {proto::Variation::DEVICE, "device", "device"},
                               {proto::Variation::HOST, "host", "host"},
                               {proto::Variation::RANK, "rank", "device and host"}};

absl::string_view Shown(proto::Variation::Part part) {
  for (const PartName& p : kParts) {
    if (p.part == part) return p.shown;
  }
  return "";
}

// Whether a factor of `part` multiplies what runs on `on`.
bool Slows(proto::Variation::Part part, Processor on) {
  switch (part) {
    case proto::Variation::DEVICE:
      return on == Processor::kDevice;
    case proto::Variation::HOST:
      return on != Processor::kDevice;
    case proto::Variation::RANK:
      return true;
    default:
      return on != Processor::kHost;
  }
}

bool IsPart(proto::Variation::Part part) { return !Shown(part).empty(); }
constexpr char kExpectedPart[] = "COMPUTATION, DEVICE, HOST or RANK";

Time Scaled(Time time, double factor) {
  const double picos = std::round(static_cast<double>(time.picos()) * factor);
  constexpr double kMost = 9.2e18;
  return picos < kMost ? Time::Picos(static_cast<int64_t>(picos)) : Time::Never();
}

// Draws the ranks with the smallest hashes.
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

// Formats "3, 8", with ", ..." after the first kListed ranks.
std::string Named(const std::vector<int>& ranks) {
  const std::vector<int> first(ranks.begin(), ranks.begin() + std::min(ranks.size(), kListed));
  return absl::StrCat(absl::StrJoin(first, ", "), first.size() < ranks.size() ? ", ..." : "");
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
                                                     "\" is not in the run; expected 0 to ", ranks - 1));
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

Computes WhatComputes(const Graph& graph) {
  Computes computes;
  for (uint32_t row = 0; row < graph.size() && !(computes.device && computes.host); ++row) {
    if (graph.type[row] != NodeType::kComp || graph.is_kept_comm(row)) continue;
    (graph.is_cpu(row) ? computes.host : computes.device) = true;
  }
  return computes;
}

absl::Status AddStraggler(absl::string_view text, proto::Variation* out) {
  const auto bad = [text](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"", what));
  };
  proto::Variation::Part part = proto::Variation::COMPUTATION;
  absl::string_view form = text;
  if (const size_t colon = text.find(':'); colon != absl::string_view::npos) {
    const absl::string_view name = text.substr(0, colon);
    const auto* const it =
        std::find_if(std::begin(kParts), std::end(kParts), [&](const PartName& p) { return p.name == name; });
    if (name.empty() || it == std::end(kParts)) {
      return bad(absl::StrCat(": \"", name, "\" is not a part of a rank; expected device, host or rank"));
    }
    part = it->part;
    form.remove_prefix(colon + 1);
  }
  const size_t equals = form.find('=');
  double factor = 0;
  if (equals == absl::string_view::npos || equals == 0 ||
      !absl::SimpleAtod(form.substr(equals + 1), &factor)) {
    return bad("; expected RANK=FACTOR, as 3=1.5 or 8-15=1.1, or with the slow part, as device:3=1.5");
  }
  proto::Variation::Speed* speed = out->add_speed();
  speed->set_label(absl::StrCat("--straggler \"", text, "\""));
  speed->set_ranks(std::string(form.substr(0, equals)));
  speed->set_factor(factor);
  speed->set_part(part);
  return absl::OkStatus();
}

std::vector<std::string> FactorsWithoutEffect(const proto::Variation& proto,
                                              const std::vector<Computes>& by_rank) {
  std::vector<std::string> lines;
  for (int i = 0; i < proto.speed_size(); ++i) {
    const proto::Variation::Speed& speed = proto.speed(i);
    const auto ranks = ParseRanks(speed.ranks(), static_cast<int>(by_rank.size()));
    if (!ranks.ok()) continue;  // Make() has reported the error
    std::vector<int> idle;
    for (const int r : *ranks) {
      const Computes& c = by_rank[static_cast<size_t>(r)];
      const bool works = (c.device && Slows(speed.part(), Processor::kDevice)) ||
                         (c.host && Slows(speed.part(), c.device ? Processor::kHost : Processor::kOnlyHost));
      if (!works) idle.push_back(r);
    }
    if (idle.empty()) continue;
    const Labelled where(speed.label(), absl::StrCat("variation.speed[", i, "]"));
    lines.push_back(absl::StrCat(where.Field("part"), ": changes nothing on ",
                                 idle.size() == 1 ? "rank " : "ranks ", Named(idle),
                                 ", whose trace has no computation ",
                                 speed.part() == proto::Variation::DEVICE ? "on the device"
                                 : speed.part() == proto::Variation::HOST ? "on the host"
                                                                          : "at all"));
  }
  return lines;
}

// Multiplies the factors of the ranks `which`.
void Variation::Slow(const std::vector<int>& which, proto::Variation::Part part, double factor, int ranks) {
  if (factor_.empty()) factor_.assign(static_cast<size_t>(ranks), {1, 1, 1});
  for (const int r : which) {
    for (int on = 0; on < kProcessors; ++on) {
      if (Slows(part, static_cast<Processor>(on)))
        factor_[static_cast<size_t>(r)][static_cast<size_t>(on)] *= factor;
    }
  }
}

absl::Status Variation::SetSpeeds(const proto::Variation& proto, int ranks) {
  for (int i = 0; i < proto.speed_size(); ++i) {
    const proto::Variation::Speed& speed = proto.speed(i);
    const Labelled where(speed.label(), absl::StrCat("variation.speed[", i, "]"));
    if (!IsPositive(speed.factor(), kMostFactor)) {
      return where.Bad("factor", absl::StrCat(speed.factor()), Positive(kMostFactor));
    }
    if (!IsPart(speed.part())) return where.Bad("part", absl::StrCat(speed.part()), kExpectedPart);
    absl::StatusOr<std::vector<int>> list = ParseRanks(speed.ranks(), ranks);
    if (!list.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(where.Field("ranks"), ": ", list.status().message()));
    }
    Slow(*list, speed.part(), speed.factor(), ranks);
  }
  if (!proto.has_stragglers()) return absl::OkStatus();
  const auto& s = proto.stragglers();
  RETURN_IF_ERROR(CheckPositive("stragglers.share", s.share(), 1));
  RETURN_IF_ERROR(CheckPositive("stragglers.factor", s.factor(), kMostFactor));
  if (!IsPart(s.part())) return Bad("stragglers.part", absl::StrCat(s.part()), kExpectedPart);
  stragglers_ = DrawStragglers(s.share(), seed_, ranks);
  Slow(stragglers_, s.part(), s.factor(), ranks);
  return absl::OkStatus();
}

absl::StatusOr<Variation> Variation::Make(const proto::Variation& proto, int ranks) {
  Variation v;
  if (proto.seed() != 0) v.seed_ = proto.seed();
  RETURN_IF_ERROR(v.SetSpeeds(proto, ranks));
  if (proto.has_jitter()) {
    const auto& j = proto.jitter();
    const bool uniform = j.kind() == proto::Variation::Jitter::UNIFORM;
    if (!uniform && j.kind() != proto::Variation::Jitter::LOGNORMAL) {
      return Bad("jitter.kind", j.kind() == 0 ? std::string("not set") : absl::StrCat(j.kind()),
                 "LOGNORMAL or UNIFORM");
    }
    const double most = uniform ? 1 / std::sqrt(3.0) : kMostSigma;
    RETURN_IF_ERROR(CheckPositive("jitter.sigma", j.sigma(), most));
    v.jitter_ = uniform ? Jitter::kUniform : Jitter::kLognormal;
    v.sigma_ = uniform ? j.sigma() : std::sqrt(std::log1p(j.sigma() * j.sigma()));
  }
  const double skew = proto.start_skew_ns();
  if (skew != 0) {
    RETURN_IF_ERROR(CheckPositive("start_skew_ns", skew, kMostSkewNanos));
    for (int r = 0; r < ranks; ++r) {
      v.start_.push_back(Time::Picos(static_cast<int64_t>(skew * 1000 * Unit(Hash(v.seed_, kSkew, r, 0)))));
    }
  }
  v.Describe(proto);
  return v;
}

void Variation::Describe(const proto::Variation& proto) {
  std::vector<std::string> parts;
  for (const auto& speed : proto.speed()) {
    parts.push_back(
        absl::StrFormat("%s x %.6g on ranks %s", Shown(speed.part()), speed.factor(), speed.ranks()));
  }
  if (!stragglers_.empty()) {
    const auto& s = proto.stragglers();
    parts.push_back(absl::StrFormat("%s x %.6g on %d stragglers (ranks %s)", Shown(s.part()), s.factor(),
                                    stragglers_.size(), Named(stragglers_)));
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

double Variation::Factor(int rank, uint64_t id, Processor on) const {
  const double factor = factor_.empty() ? 1 : factor_[static_cast<size_t>(rank)][static_cast<size_t>(on)];
  if (jitter_ == Jitter::kNone) return factor;
  const double u = Unit(Hash(seed_, kJitter, rank, id));
  if (jitter_ == Jitter::kUniform) return factor * (1 + sigma_ * std::sqrt(3.0) * (2 * u - 1));
  // Box-Muller transform.
  constexpr double kTwoPi = 6.283185307179586;
  const double z = std::sqrt(-2 * std::log(u)) * std::cos(kTwoPi * Unit(Hash(seed_, kSecond, rank, id)));
  return factor * std::exp(sigma_ * z - sigma_ * sigma_ / 2);
}

Time Variation::Compute(int rank, uint64_t id, Processor on, Time time) const {
  return Scaled(time, Factor(rank, id, on));
}

Time Variation::HostGap(int rank, Processor on, Time gap) const {
  if (factor_.empty()) return gap;
  return Scaled(gap, factor_[static_cast<size_t>(rank)][static_cast<size_t>(on)]);
}

}  // namespace chakra
