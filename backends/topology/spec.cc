#include "backends/topology/spec.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/quantity.h"
#include "trace/base/spelling.h"

namespace chakra {
namespace {

absl::Status BadSpec(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("network \"", text, "\": ", what));
}

// Cuts `text` at commas outside parentheses.
absl::StatusOr<std::vector<absl::string_view>> SplitItems(absl::string_view whole, absl::string_view text) {
  std::vector<absl::string_view> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      continue;
    }
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth < 0) return BadSpec(whole, "a \")\" without its \"(\"");
  }
  if (depth > 0) return BadSpec(whole, "a \"(\" without its \")\"");
  return items;
}

std::string Digits(double v) { return absl::StrCat(v); }

}  // namespace

absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text) {
  NetworkSpec spec;
  const size_t colon = text.find(':');
  spec.name = std::string(absl::StripAsciiWhitespace(text.substr(0, colon)));
  if (spec.name.empty()) return BadSpec(text, "no name; expected NAME or NAME:key=value,...");
  if (colon == absl::string_view::npos) return spec;
  auto items = SplitItems(text, text.substr(colon + 1));
  if (!items.ok()) return items.status();
  for (const absl::string_view item : *items) {
    const size_t equals = item.find('=');
    const absl::string_view key = absl::StripAsciiWhitespace(item.substr(0, equals));
    if (equals == absl::string_view::npos || key.empty()) {
      return BadSpec(text, absl::StrCat("\"", item, "\"; expected KEY=VALUE"));
    }
    for (const auto& [other, value] : spec.set) {
      if (other == key) return BadSpec(text, absl::StrCat(key, " is there twice"));
    }
    spec.set.emplace_back(std::string(key), std::string(absl::StripAsciiWhitespace(item.substr(equals + 1))));
  }
  return spec;
}

std::string PrintNetworkSpec(const NetworkSpec& spec) {
  return absl::StrCat(spec.name, spec.set.empty() ? "" : ":",
                      absl::StrJoin(spec.set, ",", absl::PairFormatter("=")));
}

absl::StatusOr<Bandwidth> ParseRate(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a rate with its unit, as 400Gb/s or 50GB/s");
  if (unit.empty()) {
    return bad(absl::StrCat("a unit: ", Digits(v), "Gb/s (", Digits(v / 8), " GB/s) or ", Digits(v), "GB/s (",
                            Digits(v * 8), " Gb/s)?"));
  }
  const double scale = RateOfUnit(unit);
  if (scale == 0) return bad("a rate in b/s or B/s with k, M, G or T before it, as 400Gb/s or 50GB/s");
  const double bytes = std::round(v * scale);
  if (bytes < 1 || bytes > 1e18) return bad("1 B/s to 1e18 B/s");
  return Bandwidth::BytesPerSecond(static_cast<int64_t>(bytes));
}

absl::StatusOr<Time> ParseTime(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a time with its unit, as 500ns or 1.5us");
  if (const double picos = PicosOfUnit(unit); picos > 0) {
    const double ps = std::round(v * picos);
    if (ps > 1e12) return bad("at most 1s");
    return Time::Picos(static_cast<int64_t>(ps));
  }
  return bad(unit.empty() ? "a unit: ps, ns, us, ms or s" : "one of the units ps, ns, us, ms and s");
}

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\"; expected ", what));
  };
  if (!SplitQuantity(text, &v, &unit)) return bad("a size, as 4096, 400KB or 32MiB");
  if (const double bytes = unit.empty() ? 1 : BytesOfUnit(unit); bytes > 0) {
    const double n = v * bytes;
    if (n != std::floor(n)) return bad("whole bytes");
    if (n > 1e12) return bad("at most 1000GB");
    return static_cast<uint64_t>(n);
  }
  return bad("one of the units B, KB, MB, GB, KiB, MiB and GiB (bytes, not bits)");
}

absl::StatusOr<Parameters> Parameters::Make(NetworkSpec spec, const std::vector<Parameter>& declared) {
  Parameters p;
  std::vector<std::string> known;
  for (const Parameter& d : declared) {
    known.emplace_back(d.key);
    p.values_.emplace_back(d.key, d.fallback);
  }
  for (const auto& [key, value] : spec.set) {
    const auto it = std::find(known.begin(), known.end(), key);
    if (it == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.name, ": unknown parameter \"", key, "\"", SuggestName(key, known)));
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
                               nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?")));
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
  if (!any_rate && *rate > kMaxPortRate) {
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
