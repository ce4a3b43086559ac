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
  std::optional<Protocol> protocol;  // nullopt: any
};

// The names that a rule may use for calls with these candidates.
RuleNames NamesOf(const std::vector<Candidate>& candidates);

// The names of programs from files, by collective.
std::map<CollectiveType, RuleNames> ProgramNames(
    const std::vector<std::shared_ptr<const CustomProgram>>& programs);
Protocol ProtocolOf(const CustomProgram& program);  // Simple if the program names none

// Parses "auto" (or "*"), "cheapest" or one of `names`, optionally followed by "/PROTOCOL". Names may contain
// a "/". Errors, which list what is allowed: any other rule; a protocol that the name does not have.
absl::StatusOr<Rule> ParseRule(absl::string_view rule, const RuleNames& names);

// Follows `rule`:
// - "auto" chooses the library's own algorithm with the minimum predicted time.
// - "cheapest" chooses the candidate with the minimum price.
// - "ALGORITHM" chooses the protocol of this algorithm with the minimum time (predicted for the library's own
//   algorithms, else the price).
// - "ALGORITHM/PROTOCOL" chooses exactly this candidate.
// - "auto/PROTOCOL" (or "*/PROTOCOL") and "cheapest/PROTOCOL" consider only one protocol.
// - The name of software (shipped::Software()) chooses what this software would choose, and "auto" if the
//   software leaves the call to the library.
//
// `price` is not called if a prediction is enough. Errors: those of ParseRule(); a rule that names a
// candidate which does not fit this group, with the reason.
absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& rule,
                              const PriceFunction& price);

// `costs` with a rule that allows only `candidate` for calls of `type`, and without programs from files.
CollectiveCosts ForceChoice(const CollectiveCosts& costs, CollectiveType type, const Candidate& candidate);

}  // namespace chakra
