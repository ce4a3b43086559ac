// The calls that one kernel carries, where they are parts of a call.
#pragma once

#include <vector>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Calls that were made one by one and run as one: of collectives of one kind on one group one is left, of the
// sum of their sizes (kNone where one is not told). `whole`: the kind of call that they make up, where a name
// tells it: an all-gather of uneven parts is a row of broadcasts. Messages stay as they are.
std::vector<CommCall> MergeParts(std::vector<CommCall> calls, CommOp whole);

}  // namespace chakra::pytorch
