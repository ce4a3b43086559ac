// Reads the arguments of record_param_comms, the node that PyTorch puts around each collective call, in the
// layouts of all versions of PyTorch.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// simdjson's texts have the standard library's type.
inline absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// Oddities of a call.
struct CommOddities {
  bool no_name = false;        // no argument or attribute has the name of a known collective
  bool splits_differ = false;  // the split sizes do not add up to the buffer
};

// Reads a call from its arguments (types[i] belongs to values[i]; `types` may be shorter or missing) and from
// the attributes of schema 1.1.0 and later, which take precedence. The meaning of an argument follows from
// its type and its place relative to the collective's name, not from the version:
//   [tensors] seq|[seq, is_p2p] pg|[name, desc] rank NAME in_split out_split [[start stride] world]
// "rank" is the root of broadcast, reduce, gather and scatter and the peer of send and recv, both as ranks
// inside the group; for other calls it is the caller's rank (PyTorch, ProcessGroupNCCL.cpp). Fields of absent
// arguments keep their defaults.
CommCall ReadCommCall(simdjson::dom::array values, simdjson::dom::array types, simdjson::dom::array attrs,
                      CommOddities* odd);

}  // namespace chakra::pytorch
