// Pinned time: what a replay takes as given, so that no change of durations moves it. It is delays of
// dependencies, and host calls that wait for nobody knows what. A dependency that lasts 0 releases others at
// once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

enum class PinnedCause : uint8_t {
  kHostGaps,       // as DelayCause, without what nothing explains
  kLaunchLatency,  // likewise
  kStreamGaps,     // likewise
  kStart,          // likewise
  kUnexplained,    // the part of any delay that nothing explains
  kRecordedWaits,  // host calls named *Synchronize, beyond kOwnWork
  kOther,          // other delays
};
inline constexpr int kPinnedCauses = 7;
absl::string_view Name(PinnedCause cause);  // "host gaps", "launch latency", ...

struct PinnedTime {
  bool operator==(const PinnedTime&) const = default;
  std::array<Time, kPinnedCauses> of{};  // by PinnedCause

  Time& operator[](PinnedCause cause) { return of[static_cast<size_t>(cause)]; }
  Time operator[](PinnedCause cause) const { return of[static_cast<size_t>(cause)]; }
  Time total() const;
};

// Whether any dependency of the graph has a delay, be it 0: a graph without any has nothing pinned.
inline bool HasDelays(const Graph& graph) { return !graph.dep_delay.empty(); }

// Adds the delay of an entry of graph.dep. Precondition: HasDelays(graph).
void AddDelay(const Graph& graph, uint32_t dep, PinnedTime* to);

// The host calls of a graph that wait and have no dependency that says for what. A call that waited for a
// known operation of the device lasts, in a graph, only from the end of that operation on.
class PinnedWaits {
 public:
  // What a call that does not wait takes at most; the rest is waiting.
  static constexpr Time kOwnWork = Time::Micros(10);

  explicit PinnedWaits(const Graph& graph);
  // Of the time that a row takes in a replay, the part that is a recorded wait.
  Time Of(uint32_t row, Time duration) const {
    if (!waits_[graph_->name[row]] || duration <= kOwnWork || !IsHostCall(row)) return Time::Zero();
    return duration - kOwnWork;
  }

 private:
  bool IsHostCall(uint32_t row) const { return graph_->type[row] == NodeType::kComp && graph_->is_cpu(row); }
  const Graph* graph_;
  std::vector<bool> waits_;  // by string: the name of a call that waits
};

// The pinned time of a rank by itself: the longest path on which all durations are 0 but recorded waits. Of
// paths of one length the one that ends with the lowest row, and goes back over the lowest rows.
// Precondition: HasDelays(graph).
PinnedTime LongestPinned(const Graph& graph);

}  // namespace chakra
