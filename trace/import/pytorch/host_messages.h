// Where the host's sends begin.
#pragma once

#include "trace/import/pytorch/capture_rank.h"

namespace chakra::pytorch {

// ProcessGroupGloo hands a message to the network before it begins the annotation "gloo:send", so that a
// receive may end before the annotation of its send begins. A send that lies in a call of its kind
// ("c10d::send") is carried by that call's first node from then on.
void CarrySendsByTheirCalls(CaptureRank* rank);

}  // namespace chakra::pytorch
