// Logs every flow that crosses a fabric, as rows of CSV.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/machine.h"
#include "replay/engine/measure/flow_times.h"
#include "trace/io/csv.h"

namespace chakra {

// The call or message that a flow belongs to.
struct FlowOrigin {
  absl::string_view kind;  // "all_reduce", ..., or "send_recv"
  absl::string_view group;
  uint64_t call = 0;  // number of the collective call, or of the message
  // For calls: the number of the step in the sender's stream (from 0; receives and other steps count), and
  // the part of the call that the step works on.
  std::optional<uint32_t> step;
  uint32_t part = 0;
};

// The log that LoggedFabric keeps: a header line, then a row for each flow, in the order in which flows were
// received. Flows received at the same instant are in the order of their starts. `flow` numbers flows in the
// order of their starts. A row is written when it is complete, so memory grows only with the flows under way.
//
//   flow, src_rank, dst_rank      ranks are empty for switches and for devices without a rank
//   src_device, dst_device        of the topology; numbers that no device has are switches
//   bytes, wire_bytes             payload; bytes on its links (differs if spread over several NICs or links)
//   kind, group, call, step, part FlowOrigin; calls and messages are counted in the order of matching.
//                                 Empty if the origin is not known; step and part are empty for messages
//   start_ps, sent_ps             the start; when the last byte had left (empty if nobody asked for it)
//   received_ps, time_ps          when the last byte had arrived (empty: never); time since the start
//   alone_ps, slowdown            PathPrices::Cost() plus Flow::delay (empty if there is no path);
//                                 time_ps divided by alone_ps (empty if alone_ps is 0)
//
// A FlowEnd names only the tag. Flows that have the same tag and are under way at the same time must
// therefore be Flow::in_order with equal delays, or the fabric must be contention_free().
class FlowLog {
 public:
  explicit FlowLog(WriteBytes write);

  // Sets the ranks [0, ranks): rank r is on device_of[r], or on device r if `device_of` is empty. Without
  // this call every device is a rank.
  void SetRanks(const std::vector<int>& device_of, int ranks);
  // Reserves numbers for the calls of a run; returns the first number.
  uint64_t AddCalls(uint64_t calls) { return std::exchange(calls_, calls_ + calls); }
  // Sets the origin of the next flow that starts.
  void Name(const FlowOrigin& origin);
  uint64_t flows() const { return flows_; }
  // Times of the received flows, except flows whose uncontended time is 0.
  const FlowTimes& times() const { return times_; }
  // Writes the remaining rows, including flows that never ended. Must be the last call, made once. Returns
  // the first error of `write`; nothing was written after it.
  absl::Status Finish();

 private:
  friend class LoggedFabric;
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Open {
    uint64_t id = 0;
    uint32_t origin = 0;  // index into labels_: kind and group
    uint64_t call = 0;
    uint32_t step = kNone, part = 0;
    int src = 0, dst = 0;
    uint64_t bytes = 0, wire_bytes = 0;
    Time start, alone_sent, alone;
    std::optional<Time> sent, received;
    bool want_sent = false;
    uint32_t next = kNone;  // next flow with the same tag
  };
  struct Queue {
    uint32_t first = kNone, last = kNone;
  };

  void Start(const Flow& flow, const FlowCost& alone, Time now);
  // `exact`: each flow ends exactly when it would end without other traffic.
  void End(const FlowEnd& end, bool exact);
  void Row(const Open& flow);
  void Endpoints(const Open& flow);
  void Flush();

  WriteBytes write_;
  absl::Status status_;
  std::string buffer_;
  FlowTimes times_;
  bool ranks_known_ = false;
  std::vector<int> rank_on_;  // by device; -1: no rank
  uint64_t calls_ = 0, flows_ = 0;
  Open named_;                       // the next flow, with what Name() has set
  std::vector<std::string> labels_;  // CSV fields: kind and group
  absl::flat_hash_map<std::string, uint32_t> label_;
  std::string scratch_;
  std::vector<Open> open_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<uint64_t, Queue> by_tag_;
};

// A fabric that logs its flows. It passes every call to another fabric and changes no result.
class LoggedFabric final : public Fabric {
 public:
  // `prices` are those of `inner`. `log` must outlive the fabric.
  LoggedFabric(std::unique_ptr<Fabric> inner, const PathPrices& prices, FlowLog* log)
      : inner_(std::move(inner)), prices_(prices), log_(log) {}

  FlowId Start(const Flow& flow, Time now) override;
  uint64_t FlowMemory(uint64_t bytes) const override {
    return sizeof(FlowLog::Open) + inner_->FlowMemory(bytes);
  }
  Time NextEvent() override { return inner_->NextEvent(); }
  Time NextEvent(Time limit) override { return inner_->NextEvent(limit); }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;

 private:
  std::unique_ptr<Fabric> inner_;
  const PathPrices& prices_;
  FlowLog* log_;
};

// Logs the flows of `machine` from now on; does nothing if `log` is null. The log sees devices; SetRanks()
// gives it the rank on each device.
void LogFlows(FlowLog* log, Machine* machine);

}  // namespace chakra
