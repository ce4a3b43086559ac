// Communication as flows on the machine: calls, messages, and accesses to storage on the network.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "backends/machine.h"
#include "replay/engine/communication.h"
#include "replay/engine/match/match.h"
#include "replay/engine/memory_units.h"
#include "replay/engine/options.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/engine/simulated/messages.h"
#include "replay/engine/symmetry/apart_calls.h"
#include "replay/nccl/planner.h"
#include "trace/model/trace.h"

namespace chakra {

class SimulatedComm final : public Communication {
 public:
  // The arguments must outlive the object. `planner` plans on `machine` with the costs of `options`; `apart`
  // simulates isolated calls.
  SimulatedComm(const TraceSet& traces, Machine* machine, const EngineOptions& options,
                const Matching& matching, CollectivePlanner* planner, MemoryUnits* memory,
                ApartCalls::Simulate apart);

  absl::Status Prepare() override;
  void Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) override;
  Time NextEvent(Time limit) override { return machine_->NextEvent(limit); }
  void AdvanceTo(Time now) override;
  void OnWake(uint32_t active, uint32_t stream, Time now) override {
    runner_.OnWake(active, stream, now);
    TakeCalls();
  }
  bool Arrived(uint32_t call, uint32_t member) const override { return runner_.Arrived(call, member); }
  bool ReceiverWaits(uint32_t message) const override { return messages_.receiver_waits(message); }
  bool Sent(uint32_t message) const override { return messages_.sent(message); }
  PathParts Explain(uint32_t call, uint32_t origin, uint32_t member) override {
    return runner_.ExplainClosed(call, origin, member);
  }
  void Report(Metrics* metrics) override;

 private:
  bool keeps_causes() const { return options_.path != nullptr || options_.fixed_time != nullptr; }
  bool HasSymmetricRanks() const { return options_.symmetric != nullptr && !options_.symmetric->empty(); }
  // Arrivals of the members that are symmetric to a rank: they arrive with it.
  void ArriveSymmetricRanks(const CommSlot& slot, uint32_t row, Time now, const CauseRef& cause);
  // Combines the ends of a rank and its symmetric ranks: the call ends for the rank when the last of them
  // ends.
  void FoldEnded();
  // Moves what the runner collected to ended_ and wakes_.
  void TakeCalls();
  void OnMessage(const FlowEnd& end, Time now);
  // The cause for which a side of a message ends at `at`.
  CauseRef CauseOfEnd(uint32_t index, FlowEnd::Kind kind, Time at);
  void WarnOfSymmetricRanks(Metrics* metrics) const;
  void Start(uint32_t rank, uint32_t row, bool store, uint64_t bytes, Time now, CauseRef cause);

  const TraceSet& traces_;
  Machine* machine_;
  const EngineOptions& options_;
  const Matching& matching_;
  CollectiveRunner runner_;
  Messages messages_;
  MemoryUnits* memory_;
  ApartCalls::Simulate apart_;
  std::vector<FlowEnd> flow_ends_;
  // For a call of a rank and its symmetric ranks: how many have not ended, and when the others ended.
  struct SymmetricEnd {
    uint32_t left = 0;
    Time first = Time::Never(), last;
    CauseRef cause;  // of the first rank that ended at `last`
  };
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, SymmetricEnd> symmetric_end_;  // by rank and row
  Time symmetric_spread_;  // sum over calls: time from the first to the last end among symmetric ranks
};

}  // namespace chakra
