// Fixed time: time that a replay takes as recorded, so that changes of durations do not move it. It
// consists of the delays of dependencies, and of host calls for which the trace does not say what they wait
// for. All other durations count as 0, so dep_release has no effect.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

enum class FixedTimeCause : uint8_t {
  kHostGaps,       // as in DelayCause, without kUnexplained
  kLaunchLatency,  // as in DelayCause, without kUnexplained
  kStreamGaps,     // as in DelayCause, without kUnexplained
  kStart,          // as in DelayCause, without kUnexplained
  kUnexplained,    // the part of any delay that has no known cause (dep_unexplained_ns)
  kRecordedWaits,  // host calls named *Synchronize, without kOwnWork
  kOther,          // other delays
};
inline constexpr int kFixedTimeCauses = 7;
absl::string_view Name(FixedTimeCause cause);  // "host gaps", "launch latency", ...

struct FixedTime {
  bool operator==(const FixedTime&) const = default;
  std::array<Time, kFixedTimeCauses> of{};  // by FixedTimeCause

  Time& operator[](FixedTimeCause cause) { return of[static_cast<size_t>(cause)]; }
  Time operator[](FixedTimeCause cause) const { return of[static_cast<size_t>(cause)]; }
  Time total() const;
};

// Whether the graph has delays of dependencies, even if they are 0. A graph without delays has no unexplained
// time.
inline bool HasDelays(const Graph& graph) { return !graph.dep_delay.empty(); }

// Adds the delay of an entry of graph.dep to `to`. Precondition: HasDelays(graph).
void AddDelay(const Graph& graph, uint32_t dep, FixedTime* to);

// The host calls of a graph that wait without a dependency that says for what. (For a call that waits for a
// known operation of the device, the graph only has the time after the end of this operation.)
class RecordedWaits {
 public:
  // The maximum time of a call that does not wait; the rest of the call's time is waiting.
  static constexpr Time kOwnWork = Time::Micros(10);

  explicit RecordedWaits(const Graph& graph);
  // Returns the part of a row's duration in the replay that is a recorded wait.
  Time Of(uint32_t row, Time duration) const {
    if (!waits_[graph_->name[row]] || duration <= kOwnWork || !IsHostCall(row)) return Time::Zero();
    return duration - kOwnWork;
  }

 private:
  bool IsHostCall(uint32_t row) const { return graph_->type[row] == NodeType::kComp && graph_->is_cpu(row); }
  const Graph* graph_;
  std::vector<bool> waits_;  // by string: whether it is the name of a call that waits
};

// The fixed time of a rank alone: that of the longest path if all durations except recorded waits are
// 0. Among paths of equal length, the one that ends at the lowest row and goes back over the lowest rows.
// Precondition: HasDelays(graph).
FixedTime LongestFixedTime(const Graph& graph);

}  // namespace chakra
