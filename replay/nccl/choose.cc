#include "replay/nccl/choose.h"

#include <algorithm>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/nccl/shipped.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

std::string InMicros(double us) { return absl::StrFormat("%.4g us", us); }

// "NAME: [BEST] TIME WHAT, next OTHER TIME". `best` is "" if the rule or the table next to it names the
// winner.
std::string Why(const std::string& rule, const std::string& best, const char* what, double best_us,
                const Candidate* next, double next_us) {
  std::string why = absl::StrCat(rule, ": ", best, best.empty() ? "" : " ", InMicros(best_us), " ", what);
  if (next != nullptr) absl::StrAppend(&why, ", next ", next->Label(), " ", InMicros(next_us));
  return why;
}

// The candidate with the minimum time, among those with a time of 0 or more. `named`: the reason names the
// candidate; needed because explanations list only the library's own candidates.
std::optional<Choice> LeastOf(const std::vector<Candidate>& candidates, const std::vector<double>& us,
                              const std::string& rule, const char* what, bool named = false) {
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
  if (best == nullptr) return std::nullopt;
  return Choice{*best, Why(rule, named ? best->Label() : "", what, best_us, next, next_us)};
}

double PriceOf(const Candidate& c, const PriceFunction& price) {
  const absl::StatusOr<Time> time = price(c);
  return time.ok() ? static_cast<double>(time->picos()) * 1e-6 : -1;
}

// Whether a rule may choose the candidate.
bool Fits(const Candidate& c) { return c.unfit.empty() || c.on_request; }

// Whether the candidate has this name. A shipped kernel does not go by the name of its plan, which it shares
// with others.
bool IsCalled(const Candidate& c, const std::string& name) {
  return c.algorithm == name || (!c.shipped && c.plan == name);
}

bool IsSoftware(const std::string& name) {
  return std::find(shipped::Software().begin(), shipped::Software().end(), name) != shipped::Software().end();
}

// Chooses the protocol of one algorithm: the protocol that the rule names, or the best that fits.
absl::StatusOr<Choice> ChooseProtocol(const std::vector<Candidate>& candidates, const Rule& rule,
                                      const PriceFunction& price) {
  std::vector<Candidate> fitting;
  std::string unfit;
  for (const Candidate& c : candidates) {
    if (!IsCalled(c, rule.algorithm)) continue;
    if (rule.protocol && c.protocol != *rule.protocol) continue;
    if (Fits(c)) {
      fitting.push_back(c);
    } else {
      unfit = absl::StrCat(c.Label(), ": ", c.unfit);
    }
  }
  if (fitting.empty()) return absl::InvalidArgumentError(absl::StrCat("this group cannot use ", unfit));
  if (rule.protocol || fitting[0].of_hosts) return Choice{fitting[0], "fixed"};
  // Candidates that the library itself would not choose are dropped, unless there are no others.
  const auto own = [](const Candidate& c) { return c.unfit.empty(); };
  if (std::any_of(fitting.begin(), fitting.end(), own)) {
    fitting.erase(std::remove_if(fitting.begin(), fitting.end(), std::not_fn(own)), fitting.end());
  }
  const std::string last =
      absl::StrCat("fixed algorithm, protocol ", std::string(Name(fitting.back().protocol)));
  if (fitting.size() == 1) return Choice{fitting[0], last};
  const bool predicted = fitting[0].unfit.empty();
  std::vector<double> us;
  for (const Candidate& c : fitting) us.push_back(predicted ? c.time_us : PriceOf(c, price));
  // A candidate that cannot be priced cannot be planned either. Planning it will report the reason.
  std::optional<Choice> least = LeastOf(fitting, us, "", predicted ? "predicted" : "simulated");
  if (!least) return Choice{fitting.back(), last};
  least->why =
      absl::StrCat("fixed algorithm, protocol ", std::string(Name(least->candidate.protocol)), least->why);
  return *std::move(least);
}

}  // namespace

RuleNames NamesOf(const std::vector<Candidate>& candidates) {
  RuleNames names;
  for (const Candidate& c : candidates) {
    names[c.algorithm].insert(c.protocol);
    if (!c.shipped) names[c.plan].insert(c.protocol);
    if (c.algorithm != shipped::kTwoShot) continue;
    for (const std::string& software : shipped::Software()) names[software].insert(Protocol::kSimple);
  }
  return names;
}

Protocol ProtocolOf(const CustomProgram& program) {
  return ParseProtocol(program.protocol).value_or(Protocol::kSimple);
}

std::map<CollectiveType, RuleNames> ProgramNames(
    const std::vector<std::shared_ptr<const CustomProgram>>& programs) {
  std::map<CollectiveType, RuleNames> names;
  for (const auto& p : programs) names[p->type][p->name].insert(ProtocolOf(*p));
  return names;
}

absl::StatusOr<Rule> ParseRule(absl::string_view rule, const RuleNames& names) {
  RuleNames known = names;
  for (const char* any : {"auto", "*", "cheapest"}) {
    known[any] = {Protocol::kLL, Protocol::kLL128, Protocol::kSimple};
  }
  // The longest name that the rule begins with.
  const std::pair<const std::string, std::set<Protocol>>* found = nullptr;
  for (const auto& entry : known) {
    if (rule != entry.first && !absl::StartsWith(rule, absl::StrCat(entry.first, "/"))) continue;
    if (found == nullptr || entry.first.size() > found->first.size()) found = &entry;
  }
  if (found == nullptr) {
    const std::string name(rule.substr(0, rule.find('/')));
    std::vector<std::string> list;
    for (const auto& entry : names) list.push_back(entry.first);
    return absl::InvalidArgumentError(
        absl::StrCat("no algorithm \"", name, "\"", SuggestName(name, list),
                     "; expected auto, cheapest or one of: ", absl::StrJoin(list, ", ")));
  }
  Rule out{found->first == "*" ? "auto" : found->first, std::nullopt};
  if (rule.size() == found->first.size()) return out;
  const absl::string_view text = rule.substr(found->first.size() + 1);
  out.protocol = ParseProtocol(text);
  if (!out.protocol || found->second.count(*out.protocol) == 0) {
    std::vector<std::string> list;
    for (const Protocol p : found->second) list.emplace_back(Name(p));
    return absl::InvalidArgumentError(absl::StrCat("no protocol \"", std::string(text), "\" for ",
                                                   found->first,
                                                   "; expected one of: ", absl::StrJoin(list, ", ")));
  }
  return out;
}

absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& text,
                              const PriceFunction& price) {
  // "auto" is by far the most frequent rule and needs no names.
  ASSIGN_OR_RETURN(const Rule rule, text == "auto" ? absl::StatusOr<Rule>(Rule{text, std::nullopt})
                                                   : ParseRule(text, NamesOf(candidates)));
  if (rule.protocol && !candidates.empty() && candidates[0].of_hosts) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" names a protocol; expected \"",
                                                   rule.algorithm, "\": libraries on hosts have none"));
  }
  const bool cheapest = rule.algorithm == "cheapest";
  const bool software = IsSoftware(rule.algorithm);
  for (const Candidate& c : candidates) {
    if (std::count(c.picked_by.begin(), c.picked_by.end(), rule.algorithm) > 0)
      return Choice{c, c.picked_why.empty() ? absl::StrCat("the choice of ", rule.algorithm, " for this size")
                                            : c.picked_why};
  }
  if (rule.algorithm != "auto" && !cheapest && !software) return ChooseProtocol(candidates, rule, price);
  std::vector<double> us;
  for (const Candidate& c : candidates) {
    const bool speaks = software || !rule.protocol || c.protocol == *rule.protocol;
    const bool fits = speaks && (cheapest ? Fits(c) && !c.shipped : c.unfit.empty());
    us.push_back(!fits ? -1 : cheapest ? PriceOf(c, price) : c.time_us);
  }
  std::optional<Choice> least = LeastOf(candidates, us, text, cheapest ? "simulated" : "predicted", cheapest);
  if (!least)
    return absl::InvalidArgumentError(absl::StrCat("no algorithm fits this group and \"", text, "\""));
  return *std::move(least);
}

CollectiveCosts ForceChoice(const CollectiveCosts& costs, CollectiveType type, const Candidate& candidate) {
  CollectiveCosts forced = costs;
  auto library = std::make_shared<LibraryModel>(*costs.library);
  library->choice = {{std::string(Name(type)), candidate.Label()}};
  forced.library = std::move(library);
  forced.programs.clear();  // a program must not serve the call, even if it has the candidate's name
  return forced;
}

}  // namespace chakra
