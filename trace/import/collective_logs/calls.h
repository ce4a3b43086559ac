// The calls of one rank, kept in the little memory that many ranks leave: what a call is (kind, bytes,
// communicator, number), which ranks that do the same have in common, apart from when it ran.
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

// Who measured how long a call took.
enum class Timing : uint8_t {
  kNone,    // nobody: the duration is 0
  kHost,    // the host: it contains what the host did late
  kDevice,  // the device's clock, or events on its stream
};

// What a call is.
struct CallFacts {
  uint64_t bytes = 0;     // as comm_size has it: of this rank's input buffer
  uint64_t sequence = 0;  // among the calls of the communicator; of messages: counted apart
  uint32_t comm = 0;      // of RankLog::comms
  int32_t peer = -1;  // member of the communicator: the root, or the other side of a message; -1: not told
  uint32_t line = 0;  // where in the file: line, or number of the entry; from 1
  uint8_t op = kLogUnknown;
  Timing timing = Timing::kNone;
  bool parts = false;  // `bytes` are one member's part; the log does not know the number of members
  bool timed = false;  // start_ns is a time; else calls are known by their order alone
};
static_assert(std::has_unique_object_representations_v<CallFacts>);

// A call with all that is known of it.
struct LogCall : CallFacts {
  int64_t start_ns = 0;  // by the clock of the rank's log
  int64_t duration_ns = 0;
  int64_t transfer_ns = -1;  // from the last member's arrival to this rank's end; -1: not known
  bool lost = false;         // not all members logged the call, so that no call can be replayed
  bool eager = false;        // a send that ended before its receive began
};

// Equal facts of several ranks, once. Thread-safe.
class FactsPool {
 public:
  Column<CallFacts> Share(const std::vector<CallFacts>& facts);

 private:
  std::mutex mutex_;
  absl::flat_hash_map<uint64_t, std::vector<Column<CallFacts>>> known_;
};

// In the order of the file, or as they were sorted. 16 bytes a call, 24 with SetTransfer(), beside facts.
class LogCalls {
 public:
  size_t size() const { return times_.size(); }
  bool empty() const { return times_.empty(); }
  LogCall operator[](size_t i) const;
  void push_back(const LogCall& call);
  void Reserve(size_t n);
  // Replaces the call.
  void Set(size_t i, const LogCall& call);
  // Keeps the first `n`.
  void Truncate(size_t n);

  const CallFacts& facts(size_t i) const { return own_.empty() ? shared_[i] : own_[i]; }
  int64_t start_ns(size_t i) const { return times_[i].start_ns; }
  int64_t duration_ns(size_t i) const { return times_[i].duration_ns; }
  int64_t end_ns(size_t i) const { return times_[i].start_ns + times_[i].duration_ns; }
  int64_t transfer_ns(size_t i) const { return transfer_.empty() ? -1 : transfer_[i]; }
  bool lost(size_t i) const { return !marks_.empty() && (marks_[i] & kLost) != 0; }
  bool eager(size_t i) const { return !marks_.empty() && (marks_[i] & kEager) != 0; }

  void SetTime(size_t i, int64_t start_ns, int64_t duration_ns) { times_[i] = {start_ns, duration_ns}; }
  void Move(int64_t by_ns);  // all starts
  void SetTransfer(size_t i, int64_t ns);
  void SetLost(size_t i) { Mark(i, kLost); }
  void SetEager(size_t i) { Mark(i, kEager); }
  // By start; calls that start together keep their order.
  void Sort();

  // Takes the pool's copy of the facts. The first change of a fact makes a copy of all again.
  void Share(FactsPool* pool);
  // Equal for calls that share their facts.
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

  std::vector<CallFacts> own_;  // one of the two has all
  Column<CallFacts> shared_;
  std::vector<Times> times_;
  std::vector<int64_t> transfer_;  // empty: none is known
  std::vector<uint8_t> marks_;     // empty: no call is marked
};

}  // namespace chakra::collective_logs
