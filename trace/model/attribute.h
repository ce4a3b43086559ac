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
  kGroupName,     // pg_name
  kCommGroup,     // comm_group: the older, numeric pg_name
  kInvolvedDims,  // involved_dim, involve_dims
  kStream,
  kTid,
  kRoot,  // root, comm_root, root_rank
  kDurationNs,
  kStartNs,
  kTransferNs,  // transfer_ns: of a communication node, what it took once everyone was there
  kEager,       // eager: of a send
  kDepDelays,   // dep_delay_ns: a list, beside data_deps and then ctrl_deps
};

// One AttributeProto, not yet understood. value.number is 0 when it has none.
struct Attribute {
  absl::string_view name;
  wire::Field value = {};
};

AttributeKey FindAttributeKey(absl::string_view name);

// Reads an AttributeProto; null, or what is wrong (at *at).
const char* ReadAttribute(wire::Cursor c, Attribute* out, const uint8_t** at);

// Any integer or bool, an integral double or float, or decimal text. False for
// everything else.
bool ToInteger(const Attribute& a, __int128* out);

// Text, or an integer's decimal text.
bool ToText(const Attribute& a, std::string* out);

// A list of bools or integers as a mask of the entries that are not 0. False
// when it is no such list, or has more than 32 entries.
bool ToMask(const Attribute& a, uint32_t* mask, uint8_t* count);

// A list of integers or bools, as they are.
bool ToIntegers(const Attribute& a, std::vector<int64_t>* out);

// "string_val": the schema's name of a value field; "no value" for 0.
std::string ValueKind(uint32_t number);

}  // namespace chakra
