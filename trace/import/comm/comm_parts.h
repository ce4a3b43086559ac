// Merges the calls that one kernel carries, if they are parts of one call.
#pragma once

#include <vector>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Merges calls that were made one by one and run as one. Collectives of one kind on one group become one
// call, with the sums of their sizes (kNone if a size is not known). `whole`: the kind of call that they make
// up, if a name gives it: an all-gather of uneven parts is a series of broadcasts. Messages stay as they are.
std::vector<CommCall> MergeParts(std::vector<CommCall> calls, CommOp whole);

}  // namespace chakra::pytorch
