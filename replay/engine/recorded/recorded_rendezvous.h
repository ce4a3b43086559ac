// The calls and messages of a replay of recorded communication, and when their members arrive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/recorded/recorded_walk.h"

namespace chakra {

// The rendezvous of the members of a call, or of the sides of a message. It does not change any more once
// `left` is 0.
struct RecordedRendezvous {
  // The threads that the members are on.
  enum Spread : uint8_t {
    kOne,     // all on one thread
    kLocked,  // on several threads, which take the lock
    kParted,  // on several threads, each with its own part for its members; `left` is 1 plus the number of
              // parts with members still to arrive
  };
  // Members that have not arrived; but see kParted.
  std::atomic<uint32_t> left = 0;
  uint32_t last_rank = 0;  // the lowest of the ranks that arrived last, in the first round of these. kParted
                           // and not complete: the index of the part
  uint16_t first_round = 0, last_round = 0;  // rounds of the members that arrived last
  Spread spread = kOne;
  std::atomic<bool> locked = false;
  int64_t first = Time::Never().picos(), last = -1;  // when members arrived
  int64_t longest = -1;                              // the longest transfer; -1 for a message whose sides do
                                                     // not wait
  uint64_t sum = 0;                                  // of the times when members arrived; it may wrap around

  // `rank` arrives. `transfer` is its recorded transfer, or -1 if it does not wait.
  void Come(uint32_t rank, const RoundEnd& begin, int64_t transfer) {
    const auto round = static_cast<uint16_t>(begin.round);
    Latest(begin.ps, round, round, rank);
    first = std::min(first, begin.ps);
    longest = std::max(longest, transfer);
    sum += static_cast<uint64_t>(begin.ps);
  }
  // Adds all arrivals at `part` to this rendezvous.
  void Add(const RecordedRendezvous& part) {
    Latest(part.last, part.first_round, part.last_round, part.last_rank);
    first = std::min(first, part.first);
    longest = std::max(longest, part.longest);
    sum += part.sum;
  }

 private:
  void Latest(int64_t ps, uint16_t from_round, uint16_t to_round, uint32_t rank) {
    if (ps > last) {
      last = ps;
      last_rank = rank;
      first_round = from_round;
      last_round = to_round;
    } else if (ps == last) {
      if (std::tie(from_round, rank) < std::tie(first_round, last_rank)) {
        first_round = from_round;
        last_rank = rank;
      }
      last_round = std::max(last_round, to_round);
    }
  }
};

// All rendezvous, by number: the number of a call, or the number of calls plus the number of a message. Each
// thread has its own ranks.
class RecordedRendezvousTable {
 public:
  explicit RecordedRendezvousTable(const Matching& matching)
      : matching_(matching), calls_(static_cast<uint32_t>(matching.calls.size())) {}
  // Must be called before members arrive.
  void Prepare(uint32_t threads, const std::function<uint32_t(uint32_t rank)>& thread_of);

  uint32_t calls() const { return calls_; }
  const RecordedRendezvous& operator[](uint32_t rendezvous) const { return all_rendezvous_[rendezvous]; }
  // Whether the rendezvous is complete. If so, `last` is set to the arrival of its last member.
  bool Known(uint32_t rendezvous, RoundEnd* last) const {
    const RecordedRendezvous& m = all_rendezvous_[rendezvous];
    if (m.left.load(std::memory_order_acquire) > 0) return false;
    last->ps = m.last;
    last->round = m.last_round;
    return true;
  }
  // A rank of `thread` arrives. `eager`: the rank sends a message and does not wait. Returns true if the rank
  // was the last one.
  bool Arrive(uint32_t thread, uint32_t rank, uint32_t rendezvous, const RoundEnd& begin, int64_t transfer,
              bool eager) {
    RecordedRendezvous& m = all_rendezvous_[rendezvous];
    if (m.spread == RecordedRendezvous::kParted) return ArriveAtPart(thread, rank, &m, begin, transfer);
    const bool shared = m.spread == RecordedRendezvous::kLocked;
    while (shared && m.locked.exchange(true, std::memory_order_acquire)) {
    }
    m.Come(rank, begin, eager ? -1 : transfer);
    if (eager) eager_end_[rendezvous - calls_] = begin.ps + transfer;
    const uint32_t left = m.left.load(std::memory_order_relaxed) - 1;
    m.left.store(left, std::memory_order_release);
    if (shared) m.locked.store(false, std::memory_order_release);
    return left == 0;
  }
  // Adds the times of calls and messages to `metrics`.
  void Report(Metrics* metrics) const;

 private:
  bool ArriveAtPart(uint32_t thread, uint32_t rank, RecordedRendezvous* m, const RoundEnd& begin,
                    int64_t transfer) {
    const uint32_t at = m->last_rank;
    RecordedRendezvous& part = parts_[thread][at];
    part.Come(rank, begin, transfer);
    const uint32_t left = part.left.load(std::memory_order_relaxed) - 1;
    part.left.store(left, std::memory_order_relaxed);
    // The thread that completes the last part sees the final state of all other parts.
    return left == 0 && m->left.fetch_sub(1, std::memory_order_acq_rel) == 2 && AddParts(at, m);
  }
  bool AddParts(uint32_t at, RecordedRendezvous* m);
  // `members`: number of members by thread. `made`: members that make the call.
  static RecordedRendezvous::Spread SpreadOf(const std::vector<uint32_t>& members, uint32_t made);
  void Make(uint32_t threads, const std::function<void(uint32_t rendezvous, RecordedRendezvous* made)>& fill);
  void NumberParts(uint32_t threads, const std::vector<std::vector<uint32_t>>& members);
  void ReportCalls(Metrics* metrics) const;
  void ReportMessages(Metrics* metrics) const;

  const Matching& matching_;
  const uint32_t calls_;
  struct Free {
    void operator()(RecordedRendezvous* all_rendezvous) const { ::operator delete(all_rendezvous); }
  };
  std::unique_ptr<RecordedRendezvous[], Free>
      all_rendezvous_;                                 // allocated on all threads: there may be many millions
  std::vector<int64_t> eager_end_;                     // by message: the end of an eager send; 0: not eager
  std::vector<std::vector<RecordedRendezvous>> parts_;  // by thread and number of the part
};

}  // namespace chakra
