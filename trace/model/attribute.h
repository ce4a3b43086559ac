// The node attributes that the trace model keeps, and their values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"

namespace chakra {

enum class AttributeKey : uint8_t {
  kOther,
  kIsCpuOp,
  kNumOps,
  kTensorSize,
  kCommType,
  kCommSize,
  kCommSrc,
  kCommDst,
  kCommTag,
  kCommPriority,
  kCommKind,      // comm_kind, on a COMP node that communicates
  kGroupName,     // pg_name
  kCommGroup,     // comm_group: the older, numeric pg_name
  kInvolvedDims,  // involved_dim, involve_dims
  kStream,
  kTid,
  kRoot,  // root, comm_root, root_rank
  kDurationNs,
  kStartNs,
  kTransferNs,      // transfer_ns: communication: the time from the last arrival on
  kAnyOrder,        // any_order: the lane has no recorded order
  kEager,           // eager, on a send
  kDepDelays,       // dep_delay_ns: one entry for each of data_deps, then for each of ctrl_deps
  kDepUnexplained,  // dep_unexplained_ns: likewise
  kDepRelease,      // dep_release: likewise
  kDepKinds,        // dep_kinds: one word for each of data_deps
  kCategory,        // category: of what the profiler calls an operation
  kKernelHash,      // kernel_hash: of the code that a compiler made for the node
  kTimeFactor,      // time_factor: what the node takes is taken times this
};

// One AttributeProto, split into name and value. value.number is 0 if the attribute has no value.
struct Attribute {
  absl::string_view name;
  wire::Field value = {};
};

AttributeKey FindAttributeKey(absl::string_view name);

// Reads an AttributeProto. Returns null, or what is wrong; *at is then where.
const char* ReadAttribute(wire::Cursor c, Attribute* out, const uint8_t** at);

// Any integer or bool, an integral double or float, or decimal text. False for any other value.
bool ToInteger(const Attribute& a, __int128* out);

// Text, or an integer's decimal text.
bool ToText(const Attribute& a, std::string* out);

// Reads a list of bools or integers as a mask: bit i is set when entry i is not 0. False for any other value
// and for a list of more than 32 entries.
bool ToMask(const Attribute& a, uint32_t* mask, uint8_t* count);

// Reads a list of integers or bools.
bool ToIntegers(const Attribute& a, std::vector<int64_t>* out);

// The schema's name of a value field, such as "string_val"; "no value" for 0.
std::string ValueKind(uint32_t number);

}  // namespace chakra
