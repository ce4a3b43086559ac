// Communication that takes its recorded time, without a fabric.
//
// A collective (or a message) begins when the last of its members that have a trace arrives, and ends for
// each of them after its own measured transfer: waiting for others is simulated, the transfer is not. A send
// that ended before its receive began (Comm::eager) does not wait.
//
// Where members have no trace, nothing tells the transfer from the wait for them. A run that repeats what was
// recorded takes both. A run that changes what the ranks waited for (`least`) takes the least of the repeats:
// of a rank's calls of one kind, group and size, the shortest waited least.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/least_of_repeats.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Checks that the traces can be replayed with EngineOptions::recorded_comm. Error, naming the first node, if
// no communication node has a recorded time. If only some nodes lack one, they take no time, and `warnings`
// (not null) gets a line for people.
absl::Status CheckRecordedComm(const TraceSet& traces, std::vector<std::string>* warnings);

class RecordedComm {
 public:
  struct Ended {
    uint32_t rank;
    uint32_t row;
    Time at;
  };

  // The arguments must outlive the object. A call expects the members that made it (CollectiveCall::made), a
  // message the sides that have a row. `least`: EngineOptions::least_recorded_comm.
  RecordedComm(const TraceSet& traces, const Matching& matching, bool least);
  // Call it before the first arrival.
  void Prepare();

  void ArriveCall(uint32_t call, uint32_t rank, uint32_t row, Time now) {
    Arrive(&calls_[call], matching_.calls[call].made, LoneCall(matching_.calls[call]), rank, row, now);
  }
  void ArriveMessage(uint32_t message, uint32_t rank, uint32_t row, Time now) {
    const MatchedMessage& m = matching_.messages[message];
    Arrive(&messages_[message], (m.send_row != kNoRow) + (m.recv_row != kNoRow), LoneMessage(m), rank, row,
           now);
  }

  // Whether `rank` has arrived at the call, or at the message as one of its sides.
  bool AtCall(uint32_t call, uint32_t rank) const { return calls_[call].Has(rank); }
  bool AtMessage(uint32_t message, uint32_t rank) const { return messages_[message].Has(rank); }

  // The ends to come, in no particular order; the caller empties the list.
  std::vector<Ended>& ended() { return ended_; }

  // Adds all calls and messages to `metrics`, and a warning where recorded times contain waits for ranks
  // without a trace: how much of them the least of the repeats would take, and which of the two the run took.
  void Report(Metrics* metrics) const;
  // The same of those that are kept in a run that simulates the others.
  void ReportKept(Metrics* metrics) const;

 private:
  struct Meeting {
    struct Arrival {
      uint32_t rank;
      uint32_t row;
      Time at;
    };
    Time first, last, end;
    uint32_t last_rank = 0;  // of several ranks that arrived last, the first one reported
    std::vector<Arrival> here;
    bool Has(uint32_t rank) const;
  };
  void AddCall(size_t i, const std::string& kind, Metrics* metrics) const;
  // Whether the recorded time contains waits for members or a partner without a trace.
  bool LoneCall(const CollectiveCall& call) const;
  bool LoneMessage(const MatchedMessage& message) const;
  void Arrive(Meeting* meeting, uint32_t expected, bool lone, uint32_t rank, uint32_t row, Time now);
  Time Recorded(uint32_t rank, uint32_t row) const;
  Time Least(uint32_t rank, uint32_t row) const;
  Time Transfer(bool lone, uint32_t rank, uint32_t row) const {
    return lone && least_ ? Least(rank, row) : Recorded(rank, row);
  }
  void WarnOfWaits(Metrics* metrics) const;
  // How many ranks do what each rank at the call did; more than one where they are twins.
  uint64_t RanksAt(size_t call) const;

  const TraceSet& traces_;
  const Matching& matching_;
  const bool least_;
  std::vector<std::vector<Time>> least_times_;  // LeastOfRepeats(), by distinct graph
  std::vector<uint32_t> graph_of_;              // by rank
  std::vector<Meeting> calls_, messages_;
  std::vector<Ended> ended_;
};

}  // namespace chakra
