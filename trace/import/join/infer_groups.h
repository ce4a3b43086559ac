// Infers the groups of collectives whose group the capture does not name.
//
// A stream has the calls of one rank on one group: the calls on a device stream for communication, on the
// worker threads of a process group, or on one pointer to a group. Streams of different ranks with the same
// calls (order, kind and size) form a class; each rank has at most one stream in a class. The ranks of a
// class are split into equal groups: all of them as one group, groups of g ranks that are s ranks apart, and
// the products of two such splits. The times then decide between the splits:
//
// - No member of a collective ends before the last member began. A split that a call contradicts is ruled
//   out. If clocks may differ, a split is ruled out if no difference of the clocks satisfies all calls.
// - A collective of one size takes about the same time from the last member's begin on. The most likely split
//   is the one that predicts the ends best: last begin + the median of that time. A finer split misses last
//   begins, and a coarser one waits for ranks that are not members: both predict worse.
// - Members that did not begin together end together. By chance, the ends of two ranks are half as far apart
//   as their begins in one of two calls. If predictions do not decide, the likely split is the one under
//   which ends are closer by most powers of two, if the ends do not also coincide in larger groups.
//
// A split is inferred only if it predicts clearly better than each other possible split, and better than
// ranks that do not wait for each other, or if the ends coincide beyond chance. Otherwise it is guessed.
//
// Cost: streams x classes comparisons of sequences (linear in calls), then splits x ranks x at most kSamples
// calls for each class. 1,000 ranks have about 300 splits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/join/match_calls.h"

namespace chakra::pytorch {

// The calls of one rank on one group that has no name.
struct CallStream {
  int rank = 0;      // global
  int machine = -1;  // ranks with the same number share a clock; -1: unknown
  // The capture's name of the group, if it is the same on all ranks; "": no name.
  std::string label;
  int64_t size = 0;               // members, from sizes of buffers or from arguments; 0: unknown
  std::string size_from;          // the source of `size`, in words
  bool device = true;             // a stream of a device; false: threads of the host
  std::vector<StreamCall> calls;  // sorted by begin
};

enum class GroupOrigin : uint8_t {
  kNamed,     // the capture lists the members
  kAsked,     // the user's file of groups
  kInferred,  // from sizes, order and times
  kGuessed,   // nothing decides
  kUnknown,   // each split is contradicted: the calls have no group
};

absl::string_view Name(GroupOrigin origin);  // "named", "asked for", "inferred", "guessed", "unknown"

struct InferredGroup {
  GroupOrigin origin = GroupOrigin::kGuessed;
  std::vector<int> ranks;  // global ranks, ascending; empty for origin kUnknown
  std::string evidence;    // in words
  double likely_bits = 0;  // of a guess: how strongly times support it (see Coincidence); 0: not at all
  uint32_t kind = 0;       // equal for streams of different ranks with the same calls
};

// The group of each stream. `captured`: number of captured ranks; `world`: number of ranks of the job. The
// result does not depend on the order of streams of different ranks.
inline constexpr int kSamples = 128;
std::vector<InferredGroup> InferGroups(const std::vector<CallStream>& streams, int captured, int world);

}  // namespace chakra::pytorch
