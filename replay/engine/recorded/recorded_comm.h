// Communication that takes its recorded time, without a fabric.
//
// A collective (or a message) begins when the last of its members that have a trace arrives. It ends for each
// member after the member's own measured transfer: waiting for others is simulated, the transfer is not. A
// send that ended before its receive began (Comm::eager) does not wait.
//
// If members have no trace, the recorded time does not separate the transfer from the wait for them. A run
// that repeats the recording uses both together. A run that changes what the ranks waited for (`least`) uses
// the minimum of the repeats: among a rank's calls of one kind, group and size, the shortest one waited for
// the shortest time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/communication.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/least_of_repeats.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

// Checks that the traces can be replayed with EngineOptions::recorded_comm. Returns an error, naming the
// first node, if no communication node has a recorded time. If only some nodes lack one, they take no time,
// and a line is added to `warnings` (not null).
absl::Status CheckRecordedComm(const TraceSet& traces, std::vector<std::string>* warnings);

class RecordedComm final : public Communication {
 public:
  // The arguments must outlive the object. A call waits for the members that made it (CollectiveCall::made),
  // a message for the sides that have a row. `least`: EngineOptions::least_recorded_comm. `all`: carry all
  // communication, not only what is kept.
  RecordedComm(const TraceSet& traces, const Matching& matching, bool least, bool all);

  absl::Status Prepare() override;
  void Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) override;
  bool Arrived(uint32_t call, uint32_t member) const override {
    return AtCall(call, static_cast<uint32_t>(matching_.groups[matching_.calls[call].group].members[member]));
  }
  bool ReceiverWaits(uint32_t message) const override {
    return AtMessage(message, static_cast<uint32_t>(matching_.messages[message].dst));
  }
  bool Sent(uint32_t message) const override {
    return AtMessage(message, static_cast<uint32_t>(matching_.messages[message].src));
  }
  // Whether the sender waits for a receive that has not begun.
  bool SenderWaits(uint32_t message) const {
    return matching_.messages[message].recv_row != kNoRow && Sent(message) && !ReceiverWaits(message);
  }

  // Adds all calls and messages to `metrics`; in a run that simulates communication, only those that are
  // kept. Adds a warning if recorded times contain waits for ranks without a trace: it states the recorded
  // time, the minimum of the repeats, and which of the two the run used.
  void Report(Metrics* metrics) override;

 private:
  struct Rendezvous {
    struct Arrival {
      uint32_t rank;
      uint32_t row;
      Time at;
    };
    Time first, last, end;
    uint32_t last_rank = 0;  // if several ranks arrived last, the first of them to be reported
    std::vector<Arrival> here;
    bool Has(uint32_t rank) const;
  };
  bool AtCall(uint32_t call, uint32_t rank) const { return calls_[call].Has(rank); }
  bool AtMessage(uint32_t message, uint32_t rank) const { return messages_[message].Has(rank); }
  void ReportAll(Metrics* metrics) const;
  void ReportKept(Metrics* metrics) const;
  void AddCall(size_t i, const std::string& kind, Metrics* metrics) const;
  // Whether the recorded time contains waits for members or a partner without a trace.
  bool HasUntracedMembers(const CollectiveCall& call) const;
  bool HasUntracedSide(const MatchedMessage& message) const;
  void Arrive(Rendezvous* rendezvous, uint32_t expected, bool untraced, uint32_t rank, uint32_t row, Time now,
              const CauseRef& cause);
  Time Recorded(uint32_t rank, uint32_t row) const;
  Time Least(uint32_t rank, uint32_t row) const;
  Time Transfer(bool untraced, uint32_t rank, uint32_t row) const {
    return untraced && least_ ? Least(rank, row) : Recorded(rank, row);
  }
  void WarnOfWaits(Metrics* metrics) const;
  // The number of ranks that each rank at the call stands for, itself included; more than one if ranks are
  // symmetric.
  uint64_t RanksAt(size_t call) const;

  const TraceSet& traces_;
  const Matching& matching_;
  const bool least_, all_;
  std::vector<std::vector<Time>> least_times_;  // LeastOfRepeats(), by distinct graph
  std::vector<uint32_t> graph_of_;              // by rank
  std::vector<Rendezvous> calls_, messages_;
};

}  // namespace chakra
