// Plans over nested levels of members, one algorithm for each level: the parts of the data visit the levels.
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

// "ring+direct": an algorithm for each level, the fastest-running first. Two or more. nullopt: `text` is
// none.
std::optional<std::vector<LevelAlgorithm>> ParseLevelAlgorithms(absl::string_view text);

// What a part does on a level.
enum class PhaseKind {
  kScatter,   // reduce-scatter
  kGather,    // all-gather
  kReduce,    // both
  kExchange,  // all-to-all
};

struct LevelPhase {
  int level = 0;
  PhaseKind kind = PhaseKind::kScatter;
};

// The phases of a part: an all-reduce scatters up to the last level, reduces there, and gathers back; a
// reduce-scatter and an all-to-all go up, an all-gather down. Empty for other collectives.
std::vector<LevelPhase> PhasesOf(CollectiveType type, int levels);

// One phase of one part, at one of the places of its level.
struct PhaseVisit {
  int part = 0;
  int phase = 0;
  int place = 0;
  double begin = 0;
  double end = 0;
};

// Who is served first of the parts that wait for a level.
enum class ServeFirst { kFirstCome, kLowestPart };

// Part p visits level_of[p][i] for took[p][i] in its phase i. A level serves `at_once` parts at a time; of
// parts that came together, first the one with the lower number. In order of `begin`.
std::vector<PhaseVisit> SchedulePhases(const std::vector<std::vector<int>>& level_of,
                                       const std::vector<std::vector<double>>& took, int levels, int at_once,
                                       ServeFirst first);

// How a plan by levels is made.
struct LevelOptions {
  std::vector<std::vector<int>> order;    // by part: the levels in the order in which it is scattered
  std::vector<LevelAlgorithm> algorithm;  // by level; empty: rings
  // True: a stream for each phase of each part. False: one for each level, or one in all for a single part;
  // a member then has one message at a time on a level.
  bool stream_for_phase = false;
  int at_once = 1;           // parts that a level serves at a time
  std::vector<double> took;  // by phase; empty: a phase takes its bytes over its level's bandwidth
};

// Fills `plan`, whose type, algorithm and members are set, for request.blocks. Errors: a level whose size its
// algorithm cannot have; an algorithm without this collective; a plan that is too large.
absl::Status BuildLevels(const PlanRequest& request, const LevelOptions& options, Plan* plan);

}  // namespace chakra
