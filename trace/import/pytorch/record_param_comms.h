// The arguments of record_param_comms, the node that PyTorch puts around each
// collective call, in every layout that its versions have written.
#pragma once

#include <simdjson.h>

#include "trace/import/pytorch/capture.h"

namespace chakra::pytorch {

// What was odd about a call.
struct CommOddities {
  bool no_name = false;        // no collective's name anywhere
  bool splits_differ = false;  // the split sizes do not divide the buffer
};

// Reads a call from its arguments (`values` and `types` side by side; `types`
// may be shorter or missing) and the attributes of 1.1.0 and later, which win
// where both speak. What each argument is follows from its type and its place
// relative to the collective's name, not from the version:
//   [tensors] seq|[seq, is_p2p] pg|[name, desc] rank NAME in_split out_split [[start stride] world]
// "rank" is the root of broadcast, reduce, gather and scatter, the peer of send
// and recv, both inside the group, and the caller elsewhere (PyTorch,
// ProcessGroupNCCL.cpp). Absent arguments leave the fields' defaults.
CommCall ReadCommCall(simdjson::dom::array values, simdjson::dom::array types, simdjson::dom::array attrs,
                      CommOddities* odd);

}  // namespace chakra::pytorch
