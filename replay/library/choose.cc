#include "replay/library/choose.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/library/rates.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

std::string Micros(double us) { return absl::StrFormat("%.4g us", us); }

// "NAME: BEST WHAT, next OTHER TIME".
std::string Why(const std::string& rule, const char* what, double best, const Candidate* next,
                double next_us) {
  std::string why = absl::StrCat(rule, ": ", Micros(best), " ", what);
  if (next != nullptr) absl::StrAppend(&why, ", next ", next->Label(), " ", Micros(next_us));
  return why;
}

absl::StatusOr<Choice> LeastOf(const std::vector<Candidate>& candidates, const std::vector<double>& us,
                               const std::string& rule, const char* what) {
  const Candidate* best = nullptr;
  const Candidate* next = nullptr;
  double best_us = 0, next_us = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (us[i] < 0) continue;
    if (best == nullptr || us[i] < best_us) {
      next = best;
      next_us = best_us;
      best = &candidates[i];
      best_us = us[i];
    } else if (next == nullptr || us[i] < next_us) {
      next = &candidates[i];
      next_us = us[i];
    }
  }
  if (best == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("no algorithm fits this group and \"", rule, "\""));
  return Choice{*best, Why(rule, what, best_us, next, next_us)};
}

}  // namespace

absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& rule,
                              const PriceFunction& price) {
  std::vector<double> us;
  const std::vector<std::string> parts = absl::StrSplit(rule, '/');
  const auto speaks = [&](const Candidate& c) {
    return parts.size() == 1 || std::string(Name(c.protocol)) == parts[1];
  };
  if (parts[0] == "auto" || parts[0] == "*") {
    for (const Candidate& c : candidates) us.push_back(c.unfit.empty() && speaks(c) ? c.time_us : -1);
    return LeastOf(candidates, us, rule, "predicted");
  }
  if (parts[0] == "cheapest") {
    for (const Candidate& c : candidates) {
      us.push_back(-1);
      if ((!c.unfit.empty() && c.unfit != kNotTuned) || !speaks(c)) continue;
      const absl::StatusOr<Time> time = price(c);
      if (time.ok()) us.back() = static_cast<double>(time->picos()) * 1e-6;
    }
    return LeastOf(candidates, us, rule, "simulated");
  }
  std::set<std::string> names;
  const Candidate* found = nullptr;
  std::string unfit;
  for (const Candidate& c : candidates) {
    names.insert(c.algorithm);
    if ((c.algorithm != parts[0] && c.plan != parts[0]) || !speaks(c)) continue;
    if (!c.unfit.empty() && c.unfit != kNotTuned) {
      unfit = absl::StrCat(c.Label(), ": ", c.unfit);
      continue;
    }
    // Of several protocols the least predicted; where nothing is predicted the last, Simple.
    if (found == nullptr || c.time_us < found->time_us || (c.time_us == 0 && found->time_us == 0)) found = &c;
  }
  if (found != nullptr) return Choice{*found, "fixed"};
  if (!unfit.empty()) return absl::InvalidArgumentError(absl::StrCat("this group cannot take ", unfit));
  std::vector<std::string> known(names.begin(), names.end());
  if (parts.size() == 2 && names.count(parts[0]) > 0) {
    return absl::InvalidArgumentError(absl::StrCat("no protocol \"", parts[1], "\" for ", parts[0],
                                                   "; expected one of: ll, ll128, simple that it has"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no algorithm \"", parts[0], "\"", SuggestName(parts[0], known),
                   "; expected auto, cheapest or one of: ", absl::StrJoin(known, ", ")));
}

}  // namespace chakra
