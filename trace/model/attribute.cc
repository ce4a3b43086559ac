#include "trace/model/attribute.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

constexpr uint32_t kFirstValue = 3;
constexpr uint32_t kLastValue = 32;

struct Kind {
  const char* name;
  uint8_t wire;  // wire type of the scalar; a list is always kBytes
};
// Scalar kinds have the field numbers 3, 5, 7, ...; the list of a kind has the next number.
constexpr Kind kKinds[] = {{"double", 1},   {"float", 5},    {"int32", 0},  {"int64", 0},   {"uint32", 0},
                           {"uint64", 0},   {"sint32", 0},   {"sint64", 0}, {"fixed32", 5}, {"fixed64", 1},
                           {"sfixed32", 5}, {"sfixed64", 1}, {"bool", 0},   {"string", 2},  {"bytes", 2}};
enum Scalar : uint32_t {
  kDouble,
  kFloat,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kSint32,
  kSint64,
  kFixed32,
  kFixed64,
  kSfixed32,
  kSfixed64,
  kBool,
  kString,
  kBytes
};

uint32_t WireOf(uint32_t number) {
  return number % 2 == 1 ? kKinds[(number - kFirstValue) / 2].wire : static_cast<uint32_t>(wire::kBytes);
}

// Precondition: `d` comes from a proto double or float.
bool FromReal(double d, __int128* out) {
  if (!(std::fabs(d) < 18446744073709551616.0) || d != std::trunc(d)) return false;
  *out = static_cast<__int128>(d);
  return true;
}

bool FromText(absl::string_view s, __int128* out) {
  const bool negative = !s.empty() && s[0] == '-';
  if (negative || (!s.empty() && s[0] == '+')) s.remove_prefix(1);
  if (s.empty() || s.size() > 20) return false;
  __int128 v = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return false;
    v = v * 10 + (c - '0');
  }
  *out = negative ? -v : v;
  return true;
}

bool FromScalar(uint32_t kind, uint64_t bits, __int128* out) {
  switch (kind) {
    case kInt32:
    case kSfixed32:
      *out = static_cast<int32_t>(bits);
      return true;
    case kInt64:
    case kSfixed64:
      *out = static_cast<int64_t>(bits);
      return true;
    case kUint32:
    case kFixed32:
      *out = static_cast<uint32_t>(bits);
      return true;
    case kUint64:
    case kFixed64:
      *out = bits;
      return true;
    case kSint32:
    case kSint64:
      *out = static_cast<int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
      return true;
    case kBool:
      *out = bits != 0;
      return true;
    default:
      return false;
  }
}

}  // namespace

AttributeKey FindAttributeKey(absl::string_view s) {
  using K = AttributeKey;
  switch (s.size()) {
    case 3:
      return s == "tid" ? K::kTid : K::kOther;
    case 4:
      return s == "root" ? K::kRoot : K::kOther;
    case 5:
      return s == "eager" ? K::kEager : K::kOther;
    case 6:
      return s == "stream" ? K::kStream : K::kOther;
    case 7:
      return s == "num_ops" ? K::kNumOps : s == "pg_name" ? K::kGroupName : K::kOther;
    case 8:
      if (s[0] == 's') return s == "start_ns" ? K::kStartNs : K::kOther;
      if (s[1] == 'a') return s == "category" ? K::kCategory : K::kOther;
      return s == "comm_src"   ? K::kCommSrc
             : s == "comm_dst" ? K::kCommDst
             : s == "comm_tag" ? K::kCommTag
                               : K::kOther;
    case 9:
      return s == "is_cpu_op"                       ? K::kIsCpuOp
             : s == "any_order"                     ? K::kAnyOrder
             : s == "comm_size"                     ? K::kCommSize
             : s == "comm_type"                     ? K::kCommType
             : s == "dep_kinds"                     ? K::kDepKinds
             : s == "comm_kind"                     ? K::kCommKind
             : s == "comm_root" || s == "root_rank" ? K::kRoot
                                                    : K::kOther;
    case 10:
      return s == "comm_group" ? K::kCommGroup : K::kOther;
    case 11:
      return s == "tensor_size"   ? K::kTensorSize
             : s == "duration_ns" ? K::kDurationNs
             : s == "transfer_ns" ? K::kTransferNs
             : s == "dep_release" ? K::kDepRelease
             : s == "kernel_hash" ? K::kKernelHash
             : s == "time_factor" ? K::kTimeFactor
                                  : K::kOther;
    case 12:
      return s == "involved_dim" || s == "involve_dims" ? K::kInvolvedDims
             : s == "dep_delay_ns"                      ? K::kDepDelays
                                                        : K::kOther;
    case 13:
      return s == "comm_priority" ? K::kCommPriority : K::kOther;
    case 18:
      return s == "dep_unexplained_ns" ? K::kDepUnexplained : K::kOther;
    default:
      return K::kOther;
  }
}

const char* ReadAttribute(wire::Cursor c, Attribute* out, const uint8_t** at) {
  wire::Field f;
  while (!c.done()) {
    *at = c.p;
    if (const char* wrong = wire::ReadField(&c, &f)) return wrong;
    if (f.number <= 2) {
      if (f.type != wire::kBytes) return "the wrong wire type for the text of an attribute";
      if (f.number == 1) out->name = f.text();
    } else if (f.number <= kLastValue) {
      if (f.type != WireOf(f.number)) return "the wrong wire type for the value of an attribute";
      out->value = f;
    }
  }
  return nullptr;
}

bool ToInteger(const Attribute& a, __int128* out) {
  const uint32_t n = a.value.number;
  if (n < kFirstValue || n % 2 == 0) return false;
  const uint32_t kind = (n - kFirstValue) / 2;
  if (kind == kDouble) {
    double d;
    std::memcpy(&d, &a.value.bits, 8);
    return FromReal(d, out);
  }
  if (kind == kFloat) {
    const auto bits = static_cast<uint32_t>(a.value.bits);
    float x;
    std::memcpy(&x, &bits, 4);
    return FromReal(x, out);
  }
  if (kind == kString || kind == kBytes) return FromText(a.value.text(), out);
  return FromScalar(kind, a.value.bits, out);
}

bool ToText(const Attribute& a, std::string* out) {
  if (a.value.number == 29 || a.value.number == 31) {
    *out = std::string(a.value.text());
    return true;
  }
  __int128 v;
  if (!ToInteger(a, &v)) return false;
  *out = v < 0 ? absl::StrCat(static_cast<int64_t>(v)) : absl::StrCat(static_cast<uint64_t>(v));
  return true;
}

namespace {

// Calls add(bits, kind) for each entry of a list of integers or bools, until add() returns false. Returns
// false if add() did, and for any other value.
template <typename Add>
bool ForEachEntry(const Attribute& a, const Add& add) {
  const uint32_t n = a.value.number;
  if (n < kFirstValue || n % 2 == 1 || n > 28) return false;
  const uint32_t kind = (n - kFirstValue) / 2;
  if (kind == kDouble || kind == kFloat) return false;
  wire::Cursor c = a.value.message();
  wire::Field f;
  while (!c.done()) {
    if (wire::ReadField(&c, &f) != nullptr) return false;
    if (f.number != 1) continue;
    if (f.type == kKinds[kind].wire) {
      if (!add(f.bits, kind)) return false;
      continue;
    }
    if (f.type != wire::kBytes) return false;
    wire::Cursor packed = f.message();
    while (!packed.done()) {
      uint64_t v = 0;
      if (kKinds[kind].wire == wire::kVarint) {
        if (!wire::ReadVarint(&packed, &v)) return false;
      } else {
        const size_t width = kKinds[kind].wire == wire::kFixed64 ? 8 : 4;
        if (packed.left() < width) return false;
        std::memcpy(&v, packed.p, width);
        packed.p += width;
      }
      if (!add(v, kind)) return false;
    }
  }
  return true;
}

}  // namespace

bool ToMask(const Attribute& a, uint32_t* mask, uint8_t* count) {
  *mask = 0;
  *count = 0;
  return ForEachEntry(a, [&](uint64_t bits, uint32_t) {
    if (*count == 32) return false;
    *mask |= (bits != 0 ? 1u : 0u) << (*count)++;
    return true;
  });
}

bool ToIntegers(const Attribute& a, std::vector<int64_t>* out) {
  out->clear();
  return ForEachEntry(a, [&](uint64_t bits, uint32_t kind) {
    __int128 v = 0;
    if (!FromScalar(kind, bits, &v) || v < INT64_MIN || v > INT64_MAX) return false;
    out->push_back(static_cast<int64_t>(v));
    return true;
  });
}

std::string ValueKind(uint32_t number) {
  if (number < kFirstValue || number > kLastValue) return "no value";
  return absl::StrCat(kKinds[(number - kFirstValue) / 2].name, number % 2 == 1 ? "_val" : "_list");
}

}  // namespace chakra
