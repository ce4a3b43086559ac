// Plans that are their own mirror image: where half of the streams stand for all.
//
// Member m of n has member n - 1 - m as its image. The second of two trees (BuildDoubleBinaryTree()) is the
// image of the first where the number of nodes is even: each stream does what its image does, for images of
// its peers, over links of the same classes. Then two streams that are images of each other do all at the
// same instants, if all members begin together, and so do two links. One of the trees, on links that carry
// for their image, too, has the times of both.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

struct Mirror {
  std::vector<bool> left_out;              // by stream of the plan, numbered through
  std::vector<std::pair<Hop, Hop>> links;  // that are images of each other

  // Whose streams end as those of `member` that are left out.
  static int ImageOf(int member, int members) { return members - 1 - member; }
};

// Call 0 of `matching`, which has the machine to itself and runs as `planned` says; nullopt: the plan is no
// mirror image of itself on this machine. `one_rail`: RailsAlike() is true. Precondition: MakeApart() of the
// machine is not null.
std::optional<Mirror> MirrorOf(Machine& machine, const PlannedCall& planned, const Matching& matching,
                               bool one_rail);

}  // namespace chakra
