#include "trace/import/collective_logs/rendezvous.h"

#include <algorithm>

namespace chakra::collective_logs {

AllRendezvous::List AllRendezvous::ListOf(const LogCalls& calls) {
  List list;
  list.ordinal.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallFacts& call = calls.facts(i);
    if (!IsCollective(call.op)) {
      list.ordinal.push_back(kNoRow);
      continue;
    }
    if (call.comm >= list.numbers.size()) list.numbers.resize(call.comm + 1);
    Numbers& numbers = list.numbers[call.comm];
    if (numbers.count == 0) numbers.first = call.sequence;
    if (numbers.keys.empty() && call.sequence != numbers.first + numbers.count) {
      for (uint32_t k = 0; k < numbers.count; ++k) numbers.keys.push_back({numbers.first + k, 0});
    }
    if (!numbers.keys.empty()) numbers.keys.push_back({call.sequence, 0});
    list.ordinal.push_back(numbers.count++);
  }
  for (Numbers& numbers : list.numbers) {
    absl::flat_hash_map<uint64_t, uint32_t> repeats;
    for (Key& key : numbers.keys) key.second = repeats[key.first]++;
  }
  return list;
}

AllRendezvous::AllRendezvous(const std::vector<const LogCalls*>& calls,
                             const std::vector<std::vector<RankComm>>& logs)
    : calls_(calls) {
  absl::flat_hash_map<const CallFacts*, std::shared_ptr<const List>> known;
  for (const LogCalls* of : calls_) {
    std::shared_ptr<const List>& list = known[of->key()];
    if (list == nullptr || list->ordinal.size() != of->size())
      list = std::make_shared<const List>(ListOf(*of));
    lists_.push_back(list);
    places_.emplace_back(list->numbers.size());
  }
  for (const std::vector<RankComm>& of : logs) AddGroup(of);
  for (uint32_t r = 0; r < calls_.size(); ++r)
    ForEach(r, [](size_t, uint32_t, Rendezvous* rendezvous) { ++rendezvous->members; });
}

const AllRendezvous::Numbers& AllRendezvous::NumbersOf(const RankComm& of) const {
  static const Numbers none;
  const std::vector<Numbers>& numbers = lists_[of.first]->numbers;
  return of.second < numbers.size() ? numbers[of.second] : none;
}

// Members whose numbers are consecutive, or equal to those of the others, need no list of their own. Nearly
// all members are such.
void AllRendezvous::AddGroup(const std::vector<RankComm>& logs) {
  const auto base = static_cast<uint32_t>(all_rendezvous_.size());
  const Numbers* some = nullptr;
  bool equal = true, plain = true;
  uint64_t first = UINT64_MAX, end = 0, calls = 0;
  for (const RankComm& log : logs) {
    const Numbers& numbers = NumbersOf(log);
    if (numbers.count == 0) continue;
    if (some == nullptr) some = &numbers;
    equal = equal && (some == &numbers || *some == numbers);
    plain = plain && numbers.keys.empty();
    first = std::min(first, numbers.first);
    end = std::max(end, numbers.first + numbers.count);
    calls += numbers.count;
  }
  if (some == nullptr) return;
  if (equal || (plain && end - first <= calls)) {
    all_rendezvous_.resize(base + (equal ? some->count : end - first));
    for (const RankComm& log : logs) {
      const Numbers& numbers = NumbersOf(log);
      if (numbers.count > 0)
        places_[log.first][log.second].base = base + static_cast<uint32_t>(equal ? 0 : numbers.first - first);
    }
    return;
  }
  absl::flat_hash_map<Key, uint32_t> at;
  for (const RankComm& log : logs) {
    const Numbers& numbers = NumbersOf(log);
    for (uint32_t i = 0; i < numbers.count; ++i) {
      const auto [it, fresh] = at.try_emplace(numbers.at(i), base + static_cast<uint32_t>(at.size()));
      places_[log.first][log.second].at.push_back(it->second);
    }
  }
  all_rendezvous_.resize(base + at.size());
}

}  // namespace chakra::collective_logs
