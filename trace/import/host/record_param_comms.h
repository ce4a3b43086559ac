// Reads the arguments of record_param_comms, the node that PyTorch puts around each collective call, in the
// layouts of all versions of PyTorch.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// simdjson's texts are of the standard library's type.
inline absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// Oddities of a call.
struct CommOddities {
  bool no_name = false;        // no collective's name anywhere
  bool splits_differ = false;  // the split sizes do not divide the buffer
};

// Reads a call from its arguments (types[i] belongs to values[i]; `types` may be shorter or missing) and from
// the attributes of 1.1.0 and later, which take precedence. The type of an argument and its place relative to
// the collective's name tell its meaning; the version does not:
//   [tensors] seq|[seq, is_p2p] pg|[name, desc] rank NAME in_split out_split [[start stride] world]
// "rank" is the root of broadcast, reduce, gather and scatter and the peer of send and recv, both as ranks
// inside the group; for other calls it is the caller (PyTorch, ProcessGroupNCCL.cpp). Fields of absent
// arguments keep their defaults.
CommCall ReadCommCall(simdjson::dom::array values, simdjson::dom::array types, simdjson::dom::array attrs,
                      CommOddities* odd);

}  // namespace chakra::pytorch
