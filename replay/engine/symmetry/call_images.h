// Symmetric flows of one call, of which only some are simulated.
//
// Rails: a rail consists of the NICs with the same place in their nodes, and their links. A message between
// nodes may use all NICs of the nodes (card_lanes.h). It then has a part on each rail, and all parts put the
// same bytes on links. If the links of every rail are symmetric to those of the first rail, and carry nothing
// else, then all rails behave in the same way from the start: each part ends at the same picosecond as the
// part on the first rail.
//
// Reverse order: member m of n has member n - 1 - m as its counterpart. The second of two trees
// (BuildDoubleBinaryTree()) is the counterpart of the first if the number of nodes is even: each stream does
// what its counterpart does, with counterparts of its peers, over links of the same classes. If all members
// begin together, two streams that are counterparts do everything at the same instants, and so do two links.
// Therefore one of the trees, on links that also carry the flows of their counterparts, has the times of
// both.
#pragma once

#include <utility>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

struct CallImages {
  bool one_rail = false;  // only the first rail is simulated, for all; false also if no message is spread
                          // over NICs
  // By stream of the plan, numbered over all nodes: whether it is left out because its counterpart is
  // simulated. Empty: the plan is not symmetric in reverse order on this machine.
  std::vector<bool> left_out;
  std::vector<std::pair<Hop, Hop>> links;  // pairs of links that are counterparts

  bool mirrored() const { return !left_out.empty(); }
  // The member whose streams end as the left-out streams of `member` would.
  static int ImageOf(int member, int members) { return members - 1 - member; }
};

// The symmetric flows of call 0 of `matching`, an isolated call that runs as `planned` says. There are none
// if flows do not delay each other, or may take one of several paths. Precondition: MakeApart() of the
// machine is not null.
CallImages ImagesOf(Machine& machine, const PlannedCall& planned, const Matching& matching);

}  // namespace chakra
