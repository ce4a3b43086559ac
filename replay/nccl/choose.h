// Chooses the algorithm and protocol of a call, and says why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"

namespace chakra {

struct CustomProgram;  // replay/collectives/custom/custom_program.h

struct Choice {
  Candidate candidate;
  std::string why;  // one clause, e.g. "auto: 35.9 us predicted, next tree/ll 48.4 us"
};

// The time of a candidate when its plan runs.
using PriceFunction = std::function<absl::StatusOr<Time>(const Candidate&)>;

// A parsed rule.
struct Rule {
  std::string algorithm;             // "auto", "cheapest" or a name
  std::optional<Protocol> protocol;  // absent: any
};

// The names that a rule may use for calls with these candidates.
RuleNames NamesOf(const std::vector<Candidate>& candidates);

// The names of programs from files, by collective.
std::map<CollectiveType, RuleNames> ProgramNames(
    const std::vector<std::shared_ptr<const CustomProgram>>& programs);
Protocol ProtocolOf(const CustomProgram& program);  // Simple if the program names none

// Reads "auto" (or "*"), "cheapest" or one of `names`, alone or followed by "/PROTOCOL". Names may hold a
// "/". Errors: any other rule; a protocol that the name does not have. They list what is allowed.
absl::StatusOr<Rule> ParseRule(absl::string_view rule, const RuleNames& names);

// Follows `rule`. "auto" takes the library's own algorithm with the least predicted time. "cheapest" takes
// the candidate with the least price. "ALGORITHM" takes the protocol of this algorithm with the least time
// (predicted for the library's own algorithms, else the price); "ALGORITHM/PROTOCOL" takes exactly this
// candidate. "auto/PROTOCOL" (or "*/PROTOCOL") and "cheapest/PROTOCOL" consider one protocol only. `price` is
// not called where a prediction serves. The name of software (shipped::Software()) takes what this software
// takes, and "auto" where it leaves the call to the library. Errors: those of ParseRule(); a rule that names a candidate that does
// not fit this group, with the reason.
absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& rule,
                              const PriceFunction& price);

// `costs` with a rule that allows only `candidate` for calls of `type`, and without programs from files.
CollectiveCosts ForceChoice(const CollectiveCosts& costs, CollectiveType type, const Candidate& candidate);

}  // namespace chakra
