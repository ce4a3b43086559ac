// Communication that takes what was measured, without a fabric.
//
// A collective (or a message) begins when the last of its members that have a
// trace arrives, and ends for each of them after its own measured transfer:
// waiting for others is simulated, the transfer is not. A send that was over
// before its receive began (Comm::eager) waits for nobody.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/match.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Whether the traces can be replayed with EngineOptions::recorded_comm. An
// error, naming the first node, when not one of their communication nodes has a
// recorded time; where some have none, a line for people goes to `warnings`
// (not null): these take no time.
absl::Status CheckRecordedComm(const TraceSet& traces, std::vector<std::string>* warnings);

class RecordedComm {
 public:
  struct Ended {
    uint32_t rank;
    uint32_t row;
    Time at;
  };

  // Both must outlive it. Calls are expected from as many members as made them
  // (CollectiveCall::made), messages from the sides that have a row.
  RecordedComm(const TraceSet& traces, const Matching& matching);

  void ArriveCall(uint32_t call, uint32_t rank, uint32_t row, Time now) {
    Arrive(&calls_[call], matching_.calls[call].made, rank, row, now);
  }
  void ArriveMessage(uint32_t message, uint32_t rank, uint32_t row, Time now) {
    const MatchedMessage& m = matching_.messages[message];
    Arrive(&messages_[message], (m.send_row != kNoRow) + (m.recv_row != kNoRow), rank, row, now);
  }

  // Whether `rank` has arrived at `call`, or a side of the message.
  bool AtCall(uint32_t call, uint32_t rank) const { return calls_[call].Has(rank); }
  bool AtMessage(uint32_t message, uint32_t rank) const { return messages_[message].Has(rank); }

  // What is to end, in no order; the caller empties it.
  std::vector<Ended>& ended() { return ended_; }

  void Report(Metrics* metrics) const;

 private:
  struct Meeting {
    struct Arrival {
      uint32_t rank;
      uint32_t row;
      Time at;
    };
    Time first, last, end;
    uint32_t last_rank = 0;  // of several that arrived last, the first
    std::vector<Arrival> here;
    bool Has(uint32_t rank) const;
  };
  void Arrive(Meeting* meeting, uint32_t expected, uint32_t rank, uint32_t row, Time now);
  Time Transfer(uint32_t rank, uint32_t row) const;

  const TraceSet& traces_;
  const Matching& matching_;
  std::vector<Meeting> calls_, messages_;
  std::vector<Ended> ended_;
};

}  // namespace chakra
