#include "backends/topology/spec.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/quantity.h"
#include "trace/io/topic.h"

namespace chakra {
namespace {

std::string Digits(double v) { return absl::StrCat(v); }

std::string Fallback(const Parameter& p, const Cards& cards) {
  if (cards.bandwidth.bytes_per_second() == 0) return p.fallback;
  if (p.from_cards == kCardBandwidth) return absl::StrCat(cards.bandwidth.bytes_per_second(), "B/s");
  if (p.from_cards == kCardLatency) return absl::StrCat(cards.latency.picos(), "ps");
  return p.fallback;
}

}  // namespace

absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text) {
  auto spec = ParseShortForm(text);
  if (spec.ok()) return spec;
  return absl::InvalidArgumentError(absl::StrCat("network \"", text, "\": ", spec.status().message()));
}

absl::StatusOr<Parameters> Parameters::Make(NetworkSpec spec, const std::vector<Parameter>& declared,
                                            const Cards& cards, absl::string_view topic) {
  Parameters p;
  p.cards_ = cards;
  std::vector<std::string> known;
  for (const Parameter& d : declared) {
    known.emplace_back(d.key);
    p.values_.emplace_back(d.key, Fallback(d, cards));
  }
  for (const auto& [key, value] : spec.set) {
    const auto it = std::find(known.begin(), known.end(), key);
    if (it == known.end()) {
      return absl::InvalidArgumentError(SeeTopic(
          absl::StrCat(spec.name, ": unknown parameter \"", key, "\"", SuggestName(key, known)), topic));
    }
    p.values_[static_cast<size_t>(it - known.begin())].second = value;
  }
  p.spec_ = std::move(spec);
  return p;
}

bool Parameters::Given(absl::string_view key) const {
  return std::any_of(spec_.set.begin(), spec_.set.end(), [&](const auto& s) { return s.first == key; });
}

const std::string& Parameters::Text(absl::string_view key) const {
  static const std::string* const kNothing = new std::string();
  for (const auto& [name, value] : values_) {
    if (name == key) return value;
  }
  return *kNothing;
}

absl::Status Parameters::Bad(absl::string_view key, absl::string_view expected) const {
  return absl::InvalidArgumentError(
      absl::StrCat(spec_.name, ": ", key, " is \"", Text(key), "\"; expected ", expected));
}

absl::StatusOr<int> Parameters::Count(absl::string_view key, int least, int most) const {
  int64_t v = 0;
  const std::string range = absl::StrCat("a whole number from ", least, " to ", most);
  if (!absl::SimpleAtoi(Text(key), &v)) return Bad(key, range);
  if (v < least || v > most)
    return Bad(key, absl::StrCat(range, "; the nearest is ", v < least ? least : most));
  return static_cast<int>(v);
}

absl::StatusOr<double> Parameters::Number(absl::string_view key, double least, double most) const {
  double v = 0;
  const std::string range = absl::StrCat("a number from ", least, " to ", most);
  if (!absl::SimpleAtod(Text(key), &v) || !std::isfinite(v)) return Bad(key, range);
  if (v < least || v > most)
    return Bad(key, absl::StrCat(range, "; the nearest is ", v < least ? least : most));
  return v;
}

absl::StatusOr<bool> Parameters::Flag(absl::string_view key) const {
  const std::string& v = Text(key);
  if (v == "yes" || v == "true" || v == "1") return true;
  if (v == "no" || v == "false" || v == "0") return false;
  return Bad(key, "yes or no");
}

absl::StatusOr<std::vector<int>> Parameters::Sizes(absl::string_view key, int least, int least_dims,
                                                   int most_dims) const {
  std::vector<int> sizes;
  const std::string expected = absl::StrCat(
      least_dims == most_dims ? absl::StrCat(least_dims) : absl::StrCat(least_dims, " to ", most_dims),
      " sizes >= ", least, ", as ",
      absl::StrJoin(std::vector<int>(static_cast<size_t>(least_dims), std::max(least, 4)), "x"));
  for (const absl::string_view part : absl::StrSplit(Text(key), 'x')) {
    int v = 0;
    if (!absl::SimpleAtoi(part, &v) || v < least || v > 1 << 22) return Bad(key, expected);
    sizes.push_back(v);
  }
  if (static_cast<int>(sizes.size()) < least_dims || static_cast<int>(sizes.size()) > most_dims) {
    return Bad(key, expected);
  }
  return sizes;
}

absl::StatusOr<std::string> Parameters::Choice(absl::string_view key,
                                               const std::vector<std::string>& words) const {
  const std::string& v = Text(key);
  if (std::find(words.begin(), words.end(), v) != words.end()) return v;
  const std::string nearest = NearestName(v, words);
  return Bad(key, absl::StrCat(absl::StrJoin(words, ", "),
                               nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
}

absl::StatusOr<Time> Parameters::Latency(absl::string_view key) const {
  auto t = ParseTime(Text(key));
  if (t.ok()) return t;
  return absl::InvalidArgumentError(absl::StrCat(spec_.name, ": ", key, " is ", t.status().message()));
}

absl::StatusOr<uint64_t> Parameters::Bytes(absl::string_view key, uint64_t least, uint64_t most) const {
  auto n = ParseBytes(Text(key));
  if (!n.ok())
    return absl::InvalidArgumentError(absl::StrCat(spec_.name, ": ", key, " is ", n.status().message()));
  if (*n < least) return Bad(key, absl::StrCat("at least ", least, "B, the nearest"));
  if (*n > most) return Bad(key, absl::StrCat("at most ", most, "B, the nearest"));
  return n;
}

absl::StatusOr<Bandwidth> Parameters::Rate(absl::string_view key, bool any_rate) const {
  auto rate = ParseRate(Text(key));
  if (!rate.ok())
    return absl::InvalidArgumentError(absl::StrCat(spec_.name, ": ", key, " is ", rate.status().message()));
  if (!any_rate && Given(key) && *rate > kMaxPortRate) {
    const double gb = static_cast<double>(rate->bytes_per_second()) / 1e9;
    return Bad(key, absl::StrCat("at most 1.6Tb/s (200GB/s) for one link of a network; ", Digits(gb),
                                 "Gb/s would be ", Digits(gb / 8), "GB/s"));
  }
  return rate;
}

absl::StatusOr<NetworkSpec> Parameters::Part(absl::string_view key) const {
  absl::string_view text = Text(key);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  if (text.empty()) return Bad(key, "a network in parentheses, as (fat_tree:k=8)");
  return ParseNetworkSpec(text);
}

}  // namespace chakra
