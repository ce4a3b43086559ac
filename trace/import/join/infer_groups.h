// Infers the groups of collectives whose group nothing names.
//
// A stream is what one rank called on one group: the calls on a communicator's stream, on the worker threads
// of a process group, or on one pointer to a group. Streams of different ranks whose calls are the same, in
// order, kind and size, are a class; each rank has at most one stream in a class. The ranks of a class are
// split into equal groups: all of them as one group, groups of g ranks that are s ranks apart, and the
// products of two such splits. The splits are then held against the times:
//
// - No member of a collective ends before the last member began. A split that a call contradicts is out;
// where
//   clocks are not known to be one, a split is out if no difference of the clocks satisfies all calls.
// - A collective of one size takes about the same time from the last member's begin on. The split under which
//   the ends are predicted best by (last begin + the median of that time) is the most likely one. A finer
//   split misses last begins, a coarser one waits for strangers: both predict worse.
// - Members that did not begin together end together: by chance, ends of two ranks lie half as far apart as
//   their begins once in two calls. Where predictions do not tell, the split under which ends lie closer by
//   most powers of two is the likely one, if of larger groups they do not.
//
// A split is inferred only if it predicts clearly better than each other split that is left, and better
// than ranks that do not wait for each other, or if ends that lie close tell it beyond chance; else the class
// is one that "cannot tell".
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

// What one rank called on one group that is not named.
struct CallStream {
  int rank = 0;                   // global
  int machine = -1;               // ranks of the same number share a clock; -1: not known
  std::string label;              // what the capture calls the group, if ranks share the text; "": no name
  int64_t size = 0;               // members, as buffers or arguments tell; 0: not told
  std::string size_from;          // what told the size, in words
  bool device = true;             // a stream of a device; false: threads of the host
  std::vector<StreamCall> calls;  // by begin
};

enum class GroupOrigin : uint8_t {
  kNamed,     // the capture lists the members
  kAsked,     // the user's file of groups
  kInferred,  // from sizes, order and times
  kGuessed,   // nothing told
  kUnknown,   // what is known contradicts each split: the calls are of no group
};

absl::string_view Name(GroupOrigin origin);  // "named", "asked for", "inferred", "guessed", "unknown"

struct InferredGroup {
  GroupOrigin origin = GroupOrigin::kGuessed;
  std::vector<int> ranks;  // global, ascending; of origin kUnknown: empty
  std::string evidence;    // in words
  double likely_bits = 0;  // of a guess: how much times speak for it, as of Coincidence; 0: want of better
  uint32_t kind = 0;       // equal for streams of different ranks whose calls are the same
};

// For each stream the group that it is on. `captured`: the number of captured ranks; `world`: ranks of the
// job. The result does not depend on the order of streams of different ranks.
inline constexpr int kSamples = 128;
std::vector<InferredGroup> InferGroups(const std::vector<CallStream>& streams, int captured, int world);

}  // namespace chakra::pytorch
