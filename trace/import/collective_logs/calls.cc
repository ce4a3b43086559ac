#include "trace/import/collective_logs/calls.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace chakra::collective_logs {
namespace {

absl::string_view BytesOf(const CallFacts* facts, size_t n) {
  return {reinterpret_cast<const char*>(facts), n * sizeof(CallFacts)};
}

}  // namespace

Column<CallFacts> FactsPool::Share(const std::vector<CallFacts>& facts) {
  const absl::string_view bytes = BytesOf(facts.data(), facts.size());
  const uint64_t hash = absl::HashOf(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Column<CallFacts>>& same_hash = known_[hash];
  for (const Column<CallFacts>& known : same_hash) {
    if (BytesOf(known.data(), known.size()) == bytes) return known;
  }
  return same_hash.emplace_back(std::vector<CallFacts>(facts.begin(), facts.end()));
}

LogCall LogCalls::operator[](size_t i) const {
  LogCall call;
  static_cast<CallFacts&>(call) = facts(i);
  call.start_ns = times_[i].start_ns;
  call.duration_ns = times_[i].duration_ns;
  call.transfer_ns = transfer_ns(i);
  call.lost = lost(i);
  call.eager = eager(i);
  return call;
}

void LogCalls::push_back(const LogCall& call) {
  if (own_.empty() && !shared_.empty()) own_ = shared_;
  shared_ = {};
  own_.push_back(call);
  times_.push_back({call.start_ns, call.duration_ns});
  if (!marks_.empty()) marks_.push_back(0);
  if (!transfer_.empty()) transfer_.push_back(-1);
  if (call.transfer_ns >= 0) SetTransfer(size() - 1, call.transfer_ns);
  if (call.lost) SetLost(size() - 1);
  if (call.eager) SetEager(size() - 1);
}

void LogCalls::Reserve(size_t n) {
  own_.reserve(n);
  times_.reserve(n);
}

void LogCalls::Set(size_t i, const LogCall& call) {
  if (std::memcmp(&facts(i), static_cast<const CallFacts*>(&call), sizeof(CallFacts)) != 0) {
    if (own_.empty()) own_ = shared_;
    shared_ = {};
    own_[i] = call;
  }
  times_[i] = {call.start_ns, call.duration_ns};
  if (call.transfer_ns != transfer_ns(i)) SetTransfer(i, call.transfer_ns);
  if (!marks_.empty()) marks_[i] = 0;
  if (call.lost) SetLost(i);
  if (call.eager) SetEager(i);
}

void LogCalls::Truncate(size_t n) {
  if (own_.empty() && !shared_.empty()) own_ = shared_;
  shared_ = {};
  own_.resize(n);
  times_.resize(n);
  if (!marks_.empty()) marks_.resize(n);
  if (!transfer_.empty()) transfer_.resize(n);
}

void LogCalls::Move(int64_t by_ns) {
  for (Times& t : times_) t.start_ns += by_ns;
}

void LogCalls::SetTransfer(size_t i, int64_t ns) {
  if (transfer_.empty()) transfer_.assign(size(), -1);
  transfer_[i] = ns;
}

void LogCalls::Mark(size_t i, uint8_t what) {
  if (marks_.empty()) marks_.assign(size(), 0);
  marks_[i] |= what;
}

void LogCalls::Sort() {
  const auto earlier = [](const Times& a, const Times& b) { return a.start_ns < b.start_ns; };
  if (std::is_sorted(times_.begin(), times_.end(), earlier)) return;
  std::vector<uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return earlier(times_[a], times_[b]); });
  LogCalls sorted;
  sorted.Reserve(size());
  for (const uint32_t i : order) sorted.push_back((*this)[i]);
  *this = std::move(sorted);
}

void LogCalls::Share(FactsPool* pool) {
  if (own_.empty()) return;
  shared_ = pool->Share(own_);
  std::vector<CallFacts>().swap(own_);  // gives the memory back
  times_.shrink_to_fit();
}

}  // namespace chakra::collective_logs
