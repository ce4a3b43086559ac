// The node attributes that the trace model knows, and how to read their values.
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
  kCommGroup,     // comm_group: the older form of pg_name, a number
  kInvolvedDims,  // involved_dim, involve_dims
  kStream,
  kTid,
  kRoot,  // root, comm_root, root_rank
  kDurationNs,
  kStartNs,
  kTransferNs,      // transfer_ns, of communication: the time after the last rank arrived
  kAnyOrder,        // any_order: the lane has no recorded order
  kEager,           // eager, on a send
  kDepDelays,       // dep_delay_ns: one entry for each of data_deps, then for each of ctrl_deps
  kDepUnexplained,  // dep_unexplained_ns: entries as dep_delay_ns
  kDepRelease,      // dep_release: entries as dep_delay_ns
  kDepKinds,        // dep_kinds: one word for each of data_deps
  kCategory,        // category: the profiler's name for this kind of operation
  kKernelHash,      // kernel_hash: hash of the code that a compiler made for the node
  kTimeFactor,      // time_factor: factor of times that are not recorded
};

// An AttributeProto, split into name and value. value.number is 0 if the attribute has no value.
struct Attribute {
  absl::string_view name;
  wire::Field value = {};
};

AttributeKey FindAttributeKey(absl::string_view name);

// Reads an AttributeProto. Returns null, or a text that says what is wrong; *at is then the position of the
// error.
const char* ReadAttribute(wire::Cursor c, Attribute* out, const uint8_t** at);

// Converts any integer or bool, an integral double or float, or decimal text. Returns false for any other
// value.
bool ToInteger(const Attribute& a, __int128* out);

// Converts text, or an integer to decimal text. Returns false for any other value.
bool ToText(const Attribute& a, std::string* out);

// Reads a list of bools or integers as a mask: bit i is set if entry i is not 0. Returns false for any other
// value, and for a list of more than 32 entries.
bool ToMask(const Attribute& a, uint32_t* mask, uint8_t* count);

// Reads a list of integers or bools. Returns false for any other value.
bool ToIntegers(const Attribute& a, std::vector<int64_t>* out);

// Returns the schema's name of a value field, such as "string_val"; "no value" if `number` is not a value
// field.
std::string ValueKind(uint32_t number);

}  // namespace chakra
