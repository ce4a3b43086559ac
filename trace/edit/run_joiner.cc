#include "trace/edit/run_joiner.h"

#include <algorithm>

namespace chakra::edit {

RunJoiner::RunJoiner(Draft* draft, const LanePlaces& places)
    : draft_(*draft),
      place_(draft->size()),
      leader_(draft->size()),
      at_(draft->size(), kNoRow),
      inside_(draft->size()),
      seen_(draft->size()),
      depends_(draft->size()) {
  for (uint32_t r = 0; r < draft->size(); ++r) {
    place_[r] = places.place(r);
    leader_[r] = r;
    if (!draft->row(r).removed) at_[place_[r]] = r;
  }
}

void RunJoiner::Begin(uint32_t first) {
  ++round_;
  group_.clear();
  Add(first);
}

void RunJoiner::Add(uint32_t r) {
  group_.push_back(r);
  inside_[r] = round_;
}

bool RunJoiner::DependsThrough(uint32_t r) {
  const uint32_t begin = Place(group_.front());
  const Deps& deps = draft_.deps(r);
  return std::any_of(deps.begin(), deps.end(),
                     [&](const Dep& d) { return !Before(d, begin) && !Inside(d.row) && Depends(d.row); });
}

// Whether r, a row outside the group, depends on the group. Answers stay valid while the group grows, because
// Add() only adds rows that are after every visited row.
bool RunJoiner::Depends(uint32_t r) {
  const uint32_t begin = Place(group_.front());
  const auto enter = [&](uint32_t row) {
    seen_[row] = round_;
    depends_[row] = false;
    stack_.push_back({row, 0});
  };
  if (seen_[r] != round_) enter(r);
  while (!stack_.empty()) {
    const uint32_t at = stack_.back().row;
    const Deps& deps = draft_.deps(at);
    size_t i = stack_.back().next;
    for (; i < deps.size() && !depends_[at]; ++i) {
      if (Before(deps[i], begin)) continue;
      if (!Inside(deps[i].row) && seen_[deps[i].row] != round_) break;
      depends_[at] = Inside(deps[i].row) || depends_[deps[i].row];
    }
    stack_.back().next = i;
    if (i < deps.size() && !depends_[at]) {
      enter(deps[i].row);  // then look at this dependency again
    } else {
      stack_.pop_back();
    }
  }
  return depends_[r];
}

void RunJoiner::Became(const std::vector<uint32_t>& rows) {
  for (uint32_t r = static_cast<uint32_t>(place_.size()); r < draft_.size(); ++r) leader_.push_back(rows[0]);
  for (auto* list : {&place_, &inside_, &seen_}) list->resize(draft_.size());
  depends_.resize(draft_.size());
  // Moves rows that the new rows depend on before them, and all other rows in between after them.
  const uint32_t begin = Place(group_.front()), end = Place(group_.back());
  ++round_;
  stack_.push_back({rows[0], 0});
  seen_[rows[0]] = round_;
  while (!stack_.empty()) {
    const uint32_t at = stack_.back().row;
    stack_.pop_back();
    for (const Dep& d : draft_.deps(at)) {
      if (Before(d, begin) || seen_[d.row] == round_) continue;
      seen_[d.row] = round_;
      stack_.push_back({d.row, 0});
    }
  }
  std::vector<uint32_t> order, after;
  for (uint32_t place = begin; place <= end; ++place) {
    const uint32_t r = at_[place];
    at_[place] = kNoRow;
    if (r == kNoRow || r == rows[0] || draft_.row(r).removed) continue;
    (seen_[r] == round_ ? order : after).push_back(r);
  }
  order.push_back(rows[0]);
  order.insert(order.end(), after.begin(), after.end());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto place = static_cast<uint32_t>(begin + i);
    at_[place] = order[i];
    place_[order[i]] = place;
  }
}

}  // namespace chakra::edit
