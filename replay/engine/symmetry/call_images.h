// Flows of one call that are images of each other, so that one stands for the others.
//
// Rails: the cards with the same place in their nodes, with their links. A message between nodes may go over
// all cards of the nodes (card_lanes.h); then it has a part on each rail, and all parts take the same bytes
// of links. If every rail's links are the image of the first rail's, and carry nothing else, then the rails
// are copies of each other that begin alike: each part ends with the part on the first rail, to the
// picosecond.
//
// Mirrors: member m of n has member n - 1 - m as its image. The second of two trees (BuildDoubleBinaryTree())
// is the image of the first where the number of nodes is even: each stream does what its image does, for
// images of its peers, over links of the same classes. Then two streams that are images of each other do all
// at the same instants, if all members begin together, and so do two links. One of the trees, on links that
// carry for their image, too, has the times of both.
#pragma once

#include <utility>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

struct CallImages {
  bool one_rail = false;  // the first rail stands for all; false too if no message is cut
  // Streams of the plan, numbered through, whose images stand for them; empty: the plan is no mirror image of
  // itself on this machine.
  std::vector<bool> left_out;
  std::vector<std::pair<Hop, Hop>> links;  // that are images of each other

  bool mirrored() const { return !left_out.empty(); }
  // Whose streams end as those of `member` that are left out.
  static int ImageOf(int member, int members) { return members - 1 - member; }
};

// Of call 0 of `matching`, which has the machine to itself and runs as `planned` says. Nothing is an image
// where flows do not delay each other, or may take one of several paths. Precondition: MakeApart() of the
// machine is not null.
CallImages ImagesOf(Machine& machine, const PlannedCall& planned, const Matching& matching);

}  // namespace chakra
