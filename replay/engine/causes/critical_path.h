// The critical path of a run: stretches from time 0 to the end of the run, without gaps, that decided its
// makespan.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/fast_path.h"
#include "trace/model/trace.h"

namespace chakra {

enum class PathKind : uint8_t {
  kNode,        // computation, memory, or recorded communication; see the node
  kDelay,       // the delay of a dependency: a launch, a hand-off, or host work between two operations
  kStart,       // a rank that began late, because of its job or the cluster's variation
  kCollective,  // within a simulated collective
  kMessage,     // a simulated send and receive
  kDrain,       // after the last node, until the fabric and the switches have finished
};
inline constexpr int kPathKinds = 6;

// One stretch of the path. A node's stretch begins at the end of the last thing that the node waited for, and
// lasts to the node's end. A collective's stretch is the part of the collective that is on the path; it may
// span several ranks.
struct PathSegment {
  PathKind kind = PathKind::kNode;
  Time begin, end;
  uint32_t from_rank = 0;  // rank where the stretch began: the sender, or the member whose arrival decided
                           // the end
  uint32_t rank = 0;       // rank where the stretch ended, with node `row`
  uint32_t row = kNoRow;   // kNoRow: on a switch, or kDrain
  uint32_t of = kNoRow;    // kCollective: index into Matching::calls; kMessage: into Matching::messages
  CollectiveType type = CollectiveType::kAllReduce;  // kCollective only
  uint32_t group = 0;                                // kCollective only: index into CriticalPath::groups
  // kCollective and kMessage: how the time was spent. The rest of the time is waiting in the network: behind
  // other messages, or with only a part of a link's bandwidth.
  PathParts parts;

  Time length() const { return end - begin; }
  Time waiting() const;
};

struct CriticalPath {
  std::vector<PathSegment> segments;  // in order of time; each begins when the previous one ends
  std::vector<std::string> groups;    // the names of Matching::groups
};

// For a collective that was answered in closed form: how the time from the start of member `origin` to the
// end of `member` is spent. See FastPath::Explain().
using ExplainClosed = std::function<PathParts(uint32_t call, uint32_t origin, uint32_t member)>;

// How the time from `begin` to `end` within one collective was spent. `from_rank` is set to the rank where
// its path began.
PathParts PartsSince(Time begin, const CauseRef& end, const Matching& matching, const MachineView& machine,
                     uint32_t* from_rank);

// The path that leads to `final`, in a run that ended at `makespan`. If several causes ended at the same
// time, the path follows the one that the engine handled last.
CriticalPath TracePath(const CauseRef& final, Time makespan, const Matching& matching,
                       const MachineView& machine, const ExplainClosed& explain);

}  // namespace chakra
