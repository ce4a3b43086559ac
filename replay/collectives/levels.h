// Plans over nested levels of members, with one algorithm for each level. The data is cut into parts, which
// visit the levels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

enum class LevelAlgorithm { kRing, kDirect, kHalvingDoubling };

// Parses "ring+direct": two or more algorithms, one for each level, the fastest-running level first. nullopt:
// `text` has another form.
std::optional<std::vector<LevelAlgorithm>> ParseLevelAlgorithms(absl::string_view text);

// The work of a part on a level.
enum class PhaseKind {
  kScatter,   // reduce-scatter
  kGather,    // all-gather
  kReduce,    // reduce-scatter and all-gather
  kExchange,  // all-to-all
};

struct LevelPhase {
  int level = 0;
  PhaseKind kind = PhaseKind::kScatter;
};

// The phases of a part. An all-reduce scatters up to the last level, reduces there, and gathers back; a
// reduce-scatter and an all-to-all go up the levels, an all-gather goes down. Empty for other collectives.
std::vector<LevelPhase> PhasesOf(CollectiveType type, int levels);

// One phase of one part, at one of the places of its level.
struct PhaseVisit {
  int part = 0;
  int phase = 0;
  int place = 0;
  double begin = 0;
  double end = 0;
};

// Which of the parts that wait for a level is served first.
enum class ServeFirst { kFirstCome, kLowestPart };

// The visits, in the order of `begin`. Part p visits level_of[p][i] for took[p][i] in its phase i. A level
// serves `at_once` parts at a time; of parts that arrive at the same time, the one with the lower number is
// first.
std::vector<PhaseVisit> SchedulePhases(const std::vector<std::vector<int>>& level_of,
                                       const std::vector<std::vector<double>>& took, int levels, int at_once,
                                       ServeFirst first);

// The way of a part through the levels of a torus.
struct TorusRoute {
  std::vector<int> order;  // the levels in the order in which the part is scattered
  bool backwards = false;  // its rings run to lower coordinates
};

// Two parts for each of the first `axes` levels, one in each direction of the rings. The axes are in rotated
// order, so that all links carry data at all times; the other levels come last. Without axes: one part.
std::vector<TorusRoute> RoutesOnTorus(int levels, int axes);

// The place at which a part is served on a level of a torus, as an index: each direction of an axis serves
// one part at a time, other levels serve one part.
inline int TorusPlace(const TorusRoute& route, int level, int axes) {
  return 2 * level + (level < axes && route.backwards ? 1 : 0);
}

// Options of a plan by levels.
struct LevelOptions {
  std::vector<std::vector<int>> order;    // by part: the levels in the order in which it is scattered
  std::vector<TorusRoute> torus;          // by part, in place of `order`; empty: not a torus
  int axes = 0;                           // of a torus
  std::vector<LevelAlgorithm> algorithm;  // by level; empty: rings
  // True: each phase of each part has a stream. False: each level has a stream (a single part has one stream
  // for all levels), so a member has one message at a time on a level.
  bool stream_for_phase = false;
  int at_once = 1;           // number of parts that a level serves at a time
  std::vector<double> took;  // by phase (torus: by part and phase); empty: the bytes of a phase divided by
                             // its level's bandwidth
};

// Fills `plan`, whose type, algorithm and members are set, for request.blocks. Errors: a level whose size its
// algorithm does not support; an algorithm that cannot do this collective; a plan that is too large.
absl::Status BuildLevels(const PlanRequest& request, const LevelOptions& options, Plan* plan);

}  // namespace chakra
