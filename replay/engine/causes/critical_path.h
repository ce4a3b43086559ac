// The critical path of a run: what it took its time for, without a gap, from time 0 to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/match.h"
#include "replay/nccl/fast_path.h"
#include "trace/model/trace.h"

namespace chakra {

enum class PathKind : uint8_t {
  kNode,        // computation, memory, or communication as it was recorded; see the node
  kDelay,       // of a dependency: a launch, a hand-off, the host between two operations
  kStart,       // a rank that began late, by its job or by the cluster's variation
  kCollective,  // within a simulated collective
  kMessage,     // a simulated send and receive
  kDrain,       // after the last node: what the fabric or a switch still did
};
inline constexpr int kPathKinds = 6;

// One stretch of the path. A node's stretch is the time from what it waited for last to its end; a
// collective's may run over several ranks, and is the part of it that the path runs through.
struct PathSegment {
  PathKind kind = PathKind::kNode;
  Time begin, end;
  uint32_t from_rank = 0;  // where the stretch began: the sender, or the member whose arrival decided
  uint32_t rank = 0;       // where it ended, on node `row`
  uint32_t row = kNoRow;   // kNoRow: on a switch, or kDrain
  uint32_t of = kNoRow;    // kCollective: the call, kMessage: the message, of Matching
  CollectiveType type = CollectiveType::kAllReduce;  // kCollective, as the next
  uint32_t group = 0;                                // in CriticalPath::groups
  // Of kCollective and kMessage: what of the time goes to what. The rest is waiting in the network: behind
  // other messages, or with less of a link's bandwidth than all of it.
  PathParts parts;

  Time length() const { return end - begin; }
  Time waiting() const;
};

struct CriticalPath {
  std::vector<PathSegment> segments;  // in time; each begins where the one before it ended
  std::vector<std::string> groups;    // names, as Matching::groups
};

// Of a collective in closed form: its parts between two of its members; see FastPath::Explain().
using ExplainClosed = std::function<PathParts(uint32_t call, uint32_t origin, uint32_t member)>;

// What the time from `begin` to `end` within one collective went to, and the rank where its path began.
PathParts PartsSince(Time begin, const CauseRef& end, const Matching& matching, const MachineView& machine,
                     uint32_t* from_rank);

// The path that leads to `final`, of a run that ended at `makespan`. Where several things ended at once, it
// follows the one that the engine took last.
CriticalPath TracePath(const CauseRef& final, Time makespan, const Matching& matching,
                       const MachineView& machine, const ExplainClosed& explain);

}  // namespace chakra
