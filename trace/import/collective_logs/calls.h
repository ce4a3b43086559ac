// The calls of one rank, in a form that needs little memory for many ranks. The facts of a call (kind, bytes,
// group, number) are stored apart from its times, so that ranks with equal calls share the facts.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/model/column.h"
#include "trace/model/trace.h"

namespace chakra::collective_logs {

// A CollectiveType by its number, or one of these.
enum LogOp : uint8_t { kLogSend = kCollectiveTypes, kLogRecv, kLogUnknown };
inline bool IsCollective(uint8_t op) { return op < kCollectiveTypes; }

// What measured the duration of a call.
enum class Timing : uint8_t {
  kNone,    // nothing: the duration is 0
  kHost,    // the host: the duration includes delays of the host
  kDevice,  // the device's clock, or events on its stream
};

// The facts of a call, without its times.
struct CallFacts {
  uint64_t bytes = 0;     // of this rank's input buffer, as comm_size
  uint64_t sequence = 0;  // among the calls of the group; messages are counted separately
  uint32_t comm = 0;      // row of RankLog::comms
  // Member of the group: the root, or the other side of a message; -1: not recorded.
  int32_t peer = -1;
  uint32_t line = 0;  // line of the file, or number of the entry; from 1
  uint8_t op = kLogUnknown;
  Timing timing = Timing::kNone;
  bool parts = false;  // `bytes` is the part for one member; the log lacks the number of members
  bool timed = false;  // start_ns is a time; if false, only the order of calls is known
};
static_assert(std::has_unique_object_representations_v<CallFacts>);

// A call with all its facts and times.
struct LogCall : CallFacts {
  int64_t start_ns = 0;  // by the clock of the rank's log
  int64_t duration_ns = 0;
  int64_t transfer_ns = -1;  // from the last member's arrival to this rank's end; -1: not known
  bool lost = false;         // a member did not log the call, so that it cannot be replayed
  bool eager = false;        // a send that ended before its receive began
};

// Stores equal facts of several ranks once. Thread-safe.
class FactsPool {
 public:
  Column<CallFacts> Share(const std::vector<CallFacts>& facts);

 private:
  std::mutex mutex_;
  absl::flat_hash_map<uint64_t, std::vector<Column<CallFacts>>> known_;
};

// The calls of a rank, in the order of the file, or sorted by start. Needs 16 bytes for each call, or 24
// after SetTransfer(), in addition to the facts.
class LogCalls {
 public:
  size_t size() const { return times_.size(); }
  bool empty() const { return times_.empty(); }
  LogCall operator[](size_t i) const;
  void push_back(const LogCall& call);
  void Reserve(size_t n);
  // Replaces a call.
  void Set(size_t i, const LogCall& call);
  // Keeps the first `n` calls.
  void Truncate(size_t n);

  const CallFacts& facts(size_t i) const { return own_.empty() ? shared_[i] : own_[i]; }
  int64_t start_ns(size_t i) const { return times_[i].start_ns; }
  int64_t duration_ns(size_t i) const { return times_[i].duration_ns; }
  int64_t end_ns(size_t i) const { return times_[i].start_ns + times_[i].duration_ns; }
  int64_t transfer_ns(size_t i) const { return transfer_.empty() ? -1 : transfer_[i]; }
  bool lost(size_t i) const { return !marks_.empty() && (marks_[i] & kLost) != 0; }
  bool eager(size_t i) const { return !marks_.empty() && (marks_[i] & kEager) != 0; }

  void SetTime(size_t i, int64_t start_ns, int64_t duration_ns) { times_[i] = {start_ns, duration_ns}; }
  void Move(int64_t by_ns);  // moves all starts
  void SetTransfer(size_t i, int64_t ns);
  void SetLost(size_t i) { Mark(i, kLost); }
  void SetEager(size_t i) { Mark(i, kEager); }
  // Sorts by start; calls with equal starts keep their order.
  void Sort();

  // Replaces the facts by the pool's copy of them. The first change of a fact makes an own copy again.
  void Share(FactsPool* pool);
  // Equal for lists of calls that share their facts.
  const CallFacts* key() const { return own_.empty() ? shared_.data() : own_.data(); }

  // for (const LogCall& call : calls)
  class Iterator {
   public:
    Iterator(const LogCalls* calls, size_t i) : calls_(calls), i_(i) {}
    LogCall operator*() const { return (*calls_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return i_ != o.i_; }

   private:
    const LogCalls* calls_;
    size_t i_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  struct Times {
    int64_t start_ns, duration_ns;
  };
  enum : uint8_t { kLost = 1, kEager = 2 };
  void Mark(size_t i, uint8_t what);

  std::vector<CallFacts> own_;  // either own_ or shared_ has all facts
  Column<CallFacts> shared_;
  std::vector<Times> times_;
  std::vector<int64_t> transfer_;  // empty: no transfer time is known
  std::vector<uint8_t> marks_;     // empty: no call is marked
};

}  // namespace chakra::collective_logs
