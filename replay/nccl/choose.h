// Which algorithm and protocol a call takes, and why.
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

// A rule, taken apart.
struct Rule {
  std::string algorithm;             // "auto", "cheapest" or a name
  std::optional<Protocol> protocol;  // absent: any
};

// What the rules of calls with these candidates may name.
RuleNames NamesOf(const std::vector<Candidate>& candidates);

// The same of programs from files, by kind.
std::map<CollectiveType, RuleNames> ProgramNames(
    const std::vector<std::shared_ptr<const CustomProgram>>& programs);
Protocol ProtocolOf(const CustomProgram& program);  // Simple where it does not say

// Reads "auto" (or "*"), "cheapest" or one of `names`, alone or followed by "/PROTOCOL". Names may hold a
// "/". Errors: any other rule, and a protocol that the name does not have, with what could stand there.
absl::StatusOr<Rule> ParseRule(absl::string_view rule, const RuleNames& names);

// Follows `rule`: "auto" takes the least predicted time of the library's own
// algorithms, "cheapest" the least price of all, "ALGORITHM" the protocol of the
// least time (predicted of the library's own, else the price), and
// "ALGORITHM/PROTOCOL" that one. "auto/PROTOCOL" (or "*/PROTOCOL") and "cheapest/PROTOCOL" look at one
// protocol only. `price` is not called for what is predicted. Errors: those of ParseRule(); a rule that names
// what this group cannot do, with the reason.
absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& rule,
                              const PriceFunction& price);

// `costs` with one candidate for calls of `type`, and without programs from files.
CollectiveCosts ForceChoice(const CollectiveCosts& costs, CollectiveType type, const Candidate& candidate);

}  // namespace chakra
