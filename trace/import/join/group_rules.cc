#include "trace/import/join/group_rules.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra::pytorch {

absl::StatusOr<GroupRules::Rule> GroupRules::Parse(const std::string& key, absl::string_view subject) {
  Rule rule;
  rule.key = key;
  rule.base = key.substr(0, key.find('@'));
  absl::string_view text = rule.base;
  if (!absl::ConsumePrefix(&text, "?")) return rule;
  rule.named = false;
  if (const size_t lane = text.find('%'); lane != text.npos) {
    rule.lane = std::string(text.substr(lane + 1));
    text = text.substr(0, lane);
    if (rule.lane.empty())
      return absl::InvalidArgumentError(absl::StrCat(subject, ": expected a stream or thread after \"%\""));
  }
  if (const size_t colon = text.find(':'); colon != text.npos) {
    if (!absl::SimpleAtoi(text.substr(colon + 1), &rule.bytes) || rule.bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(subject, ": expected bytes after \":\", found \"", text.substr(colon + 1), "\""));
    }
    text = text.substr(0, colon);
  }
  if (text.empty()) return rule;
  rule.op = ParseCommOp(text);
  if (rule.op == CommOp::kUnknown || rule.op == CommOp::kWait || rule.op == CommOp::kInit) {
    return absl::InvalidArgumentError(absl::StrCat(
        subject, ": expected a kind of collective after \"?\" (all_reduce, all_gather, ...), found \"", text,
        "\""));
  }
  return rule;
}

absl::StatusOr<GroupRules> GroupRules::Make(const Groups& groups, absl::string_view file, int world) {
  GroupRules out;
  out.file_ = std::string(file);
  for (const auto& [key, ranks] : groups) {
    const std::string subject = absl::StrCat(file, ", group \"", key, "\"");
    ASSIGN_OR_RETURN(Rule rule, Parse(key, subject));
    rule.ranks = ranks;
    for (const int rank : ranks) {
      if (rank < world) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(subject, ": rank ", rank, " does not exist, expected ranks 0 to ", world - 1));
    }
    for (const Rule& other : out.rules_) {
      if (other.base != rule.base) continue;
      const auto both =
          std::find_first_of(ranks.begin(), ranks.end(), other.ranks.begin(), other.ranks.end());
      if (both == ranks.end()) continue;
      return absl::InvalidArgumentError(absl::StrCat(subject, ": rank ", *both, " is in group \"", other.key,
                                                     "\" too, expected one group for calls of one kind"));
    }
    out.rules_.push_back(std::move(rule));
  }
  return out;
}

bool GroupRules::Holds(const Rule& rule, const RuledCall& call) {
  if (std::find(rule.ranks.begin(), rule.ranks.end(), call.rank) == rule.ranks.end()) return false;
  if (rule.named) {
    return !rule.base.empty() && ((!call.name.empty() && call.name == rule.base) ||
                                  (!call.description.empty() && call.description == rule.base));
  }
  return (rule.op == CommOp::kUnknown || rule.op == call.op) &&
         (rule.bytes < 0 || rule.bytes == call.bytes) && (rule.lane.empty() || rule.lane == call.lane);
}

uint32_t GroupRules::Find(const RuledCall& call) const {
  uint32_t best = kNoRow;
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (!rule.named && !call.name.empty()) continue;
    if (!Holds(rule, call)) continue;
    if (rule.named) return i;
    if (best == kNoRow || rule.conditions() > rules_[best].conditions()) best = i;
  }
  return best;
}

std::string GroupRules::Evidence(uint32_t rule) const {
  return absl::StrCat("key \"", rules_[rule].key, "\" of ", file_);
}

std::string GroupRules::NameOf(uint32_t rule) const {
  absl::string_view name = rules_[rule].key;
  absl::ConsumePrefix(&name, "?");
  return name.empty() ? "asked" : std::string(name);
}

}  // namespace chakra::pytorch
