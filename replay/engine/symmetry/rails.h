// Messages between nodes that go over all cards of the nodes: where one card stands for all.
//
// A rail is the cards with the same place in their nodes, with their links. A cut message (card_lanes.h) has
// a part on each rail, and all parts take the same bytes of links. If every rail's links are the image of the
// first rail's, and carry nothing else, then the rails are copies of each other that begin alike: each part
// ends with the part on the first rail, to the picosecond, and one part stands for all.
#pragma once

#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// Whether the first rail stands for all in call 0 of `matching`, which has the machine to itself and runs as
// `planned` says. False too if no message is cut. Precondition: MakeApart() of the machine is not null.
bool RailsAlike(Machine& machine, const PlannedCall& planned, const Matching& matching);

}  // namespace chakra
