#include "trace/edit/node_bytes.h"

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra::edit {
namespace {

using wire::AppendNumber;
using wire::AppendTag;
using wire::AppendText;
using wire::AppendVarint;
using wire::CursorOf;

void AppendBytes(const uint8_t* from, const uint8_t* to, std::string* out) {
  out->append(reinterpret_cast<const char*>(from), static_cast<size_t>(to - from));
}

// Returns `body` with `piece` (a whole field, or nothing) instead of the fields that `is` selects. If it
// selects none, inserts `piece` before the first field with a number greater than `field`.
template <typename Is>
std::string Put(absl::string_view body, uint32_t field, absl::string_view piece, const Is& is) {
  std::string out;
  out.reserve(body.size() + piece.size());
  wire::Cursor c = CursorOf(body);
  wire::Field f;
  bool done = false;
  size_t before_higher = std::string::npos;
  while (!c.done()) {
    if (wire::ReadField(&c, &f) != nullptr) break;
    if (is(f)) {
      if (!done) out.append(piece.data(), piece.size());
      done = true;
      continue;
    }
    if (f.number > field && before_higher == std::string::npos) before_higher = out.size();
    if (f.number <= field) before_higher = std::string::npos;
    AppendBytes(f.at, c.p, &out);
  }
  if (!done)
    out.insert(before_higher == std::string::npos ? out.size() : before_higher, piece.data(), piece.size());
  return out;
}

std::string PutField(absl::string_view body, uint32_t field, absl::string_view piece) {
  return Put(body, field, piece, [&](const wire::Field& f) { return f.number == field; });
}

// A fast test: whether an attribute consists of a name other than `name` and one value, as nearly all do.
bool IsOther(absl::string_view text, absl::string_view name) {
  if (text.size() < 2 || text[0] != 0x0a || static_cast<uint8_t>(text[1]) >= 0x80) return false;
  const auto n = static_cast<size_t>(text[1]);
  if (n + 2 > text.size() || text.substr(2, n) == name) return false;
  wire::Cursor rest = CursorOf(text.substr(2 + n));
  wire::Field value;
  return !rest.done() && wire::ReadField(&rest, &value) == nullptr && rest.done() && value.number > 2;
}

// The attributes called `name` in a message: begin and end of the first, and their number.
struct Found {
  const uint8_t *begin = nullptr, *end = nullptr;
  int count = 0;
  Attribute last;
};
Found FindAttributes(absl::string_view body, uint32_t attr, absl::string_view name) {
  Found out;
  wire::Cursor c = CursorOf(body);
  wire::Field f;
  while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
    if (f.number != attr || f.type != wire::kBytes || IsOther(f.text(), name)) continue;
    Attribute a;
    const uint8_t* at = nullptr;
    if (ReadAttribute(f.message(), &a, &at) != nullptr || a.name != name) continue;
    if (++out.count == 1) {
      out.begin = f.at;
      out.end = c.p;
    }
    out.last = a;
  }
  return out;
}

// `value` is the encoded value field of an AttributeProto.
std::string PutAttribute(absl::string_view body, uint32_t attr, absl::string_view name,
                         absl::string_view value, const Found& found) {
  std::string message, piece;
  AppendText(kAttrName, name, &message);
  message.append(value.data(), value.size());
  AppendText(attr, message, &piece);
  if (found.count == 1) {  // replace it in its position
    std::string out;
    out.reserve(body.size() + piece.size());
    AppendBytes(CursorOf(body).p, found.begin, &out);
    out += piece;
    AppendBytes(found.end, CursorOf(body).end, &out);
    return out;
  }
  return Put(body, attr, piece, [&](const wire::Field& f) {
    if (found.count == 0 || f.number != attr || f.type != wire::kBytes) return false;
    Attribute a;
    const uint8_t* at = nullptr;
    return ReadAttribute(f.message(), &a, &at) == nullptr && a.name == name;
  });
}
std::string PutAttribute(absl::string_view body, uint32_t attr, absl::string_view name,
                         absl::string_view value) {
  return PutAttribute(body, attr, name, value, FindAttributes(body, attr, name));
}

template <typename T>
void AppendFixed(T v, std::string* out) {
  char raw[sizeof(T)];
  std::memcpy(raw, &v, sizeof(T));
  out->append(raw, sizeof(T));
}

bool Fits(__int128 v, __int128 low, __int128 high) { return v >= low && v <= high; }

// Appends an integer as the value field `number` of AttributeProto. Returns false if the integer does not
// fit.
bool AppendInteger(uint32_t number, __int128 v, std::string* out) {
  const auto bits = static_cast<uint64_t>(v);
  const bool fits_signed = Fits(v, INT64_MIN, INT64_MAX), fits32 = Fits(v, INT32_MIN, INT32_MAX);
  const bool fits_unsigned = Fits(v, 0, UINT64_MAX), fits_u32 = Fits(v, 0, UINT32_MAX);
  const auto varint = [&](bool fits, uint64_t value) {
    if (fits) AppendNumber(number, value, out);
    return fits;
  };
  const auto fixed = [&](bool fits, wire::Type type, auto value) {
    AppendTag(number, type, out);
    AppendFixed(value, out);
    return fits;
  };
  const uint64_t zigzag = bits << 1 ^ (v < 0 ? ~uint64_t{0} : 0);
  switch (number) {
    case 3:
      return fixed(static_cast<__int128>(static_cast<double>(v)) == v, wire::kFixed64,
                   static_cast<double>(v));
    case 7:
      return varint(fits32, bits);
    case 9:
      return varint(fits_signed, bits);
    case 11:
      return varint(fits_u32, bits);
    case 13:
      return varint(fits_unsigned, bits);
    case 15:
      return varint(fits32, zigzag);
    case 17:
      return varint(fits_signed, zigzag);
    case 19:
      return fixed(fits_u32, wire::kFixed32, static_cast<uint32_t>(bits));
    case 21:
      return fixed(fits_unsigned, wire::kFixed64, bits);
    case 23:
      return fixed(fits32, wire::kFixed32, static_cast<uint32_t>(bits));
    case 25:
      return fixed(fits_signed, wire::kFixed64, bits);
    case 27:
      return varint(Fits(v, 0, 1), bits);
    case 29:
      AppendText(number, v < 0 ? absl::StrCat(static_cast<int64_t>(v)) : absl::StrCat(bits), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string WithNumber(absl::string_view body, uint32_t field, uint64_t v) {
  std::string piece;
  if (v != 0) AppendNumber(field, v, &piece);
  return PutField(body, field, piece);
}

std::string WithText(absl::string_view body, uint32_t field, absl::string_view text) {
  std::string piece;
  if (!text.empty()) AppendText(field, text, &piece);
  return PutField(body, field, piece);
}

std::string WithNumbers(absl::string_view body, uint32_t field, const std::vector<uint64_t>& values) {
  std::string packed, piece;
  for (const uint64_t v : values) AppendVarint(v, &packed);
  if (!values.empty()) AppendText(field, packed, &piece);
  return PutField(body, field, piece);
}

void SetInteger(std::string* body, uint32_t attr, absl::string_view name, ValueField field, __int128 v) {
  const Found found = FindAttributes(*body, attr, name);
  std::string value;
  if (found.count > 0 && AppendInteger(found.last.value.number, v, &value)) {
    const uint8_t* at = found.last.value.at;
    if (found.count == 1 && static_cast<size_t>(found.end - at) == value.size()) {  // same length as before
      std::memcpy(body->data() + (at - CursorOf(*body).p), value.data(), value.size());
    } else {
      *body = PutAttribute(*body, attr, name, value, found);
    }
    return;
  }
  for (const ValueField kind : {field, ValueField::kInt64, ValueField::kUint64}) {
    value.clear();
    if (AppendInteger(static_cast<uint32_t>(kind), v, &value)) break;
  }
  *body = PutAttribute(*body, attr, name, value, found);
}

std::string WithInteger(absl::string_view body, uint32_t attr, absl::string_view name, ValueField field,
                        __int128 v) {
  std::string out(body);
  SetInteger(&out, attr, name, field, v);
  return out;
}

std::string WithReal(absl::string_view body, uint32_t attr, absl::string_view name, double v) {
  std::string value;
  AppendTag(static_cast<uint32_t>(ValueField::kDouble), wire::kFixed64, &value);
  AppendFixed(v, &value);
  return PutAttribute(body, attr, name, value);
}

std::string WithString(absl::string_view body, uint32_t attr, absl::string_view name, absl::string_view v) {
  std::string value;
  AppendText(static_cast<uint32_t>(ValueField::kString), v, &value);
  return PutAttribute(body, attr, name, value);
}

std::string WithIntegers(absl::string_view body, uint32_t attr, absl::string_view name,
                         const std::vector<int64_t>& v) {
  std::string packed, list, value;
  for (const int64_t x : v) AppendVarint(static_cast<uint64_t>(x), &packed);
  AppendText(kListValues, packed, &list);
  AppendText(static_cast<uint32_t>(ValueField::kInt64List), list, &value);
  return PutAttribute(body, attr, name, value);
}

std::string WithStrings(absl::string_view body, uint32_t attr, absl::string_view name,
                        const std::vector<std::string>& v) {
  std::string list, value;
  for (const std::string& s : v) AppendText(kListValues, s, &list);
  AppendText(static_cast<uint32_t>(ValueField::kStringList), list, &value);
  return PutAttribute(body, attr, name, value);
}

std::string WithoutAttribute(absl::string_view body, uint32_t attr, absl::string_view name) {
  return Put(body, attr, "", [&](const wire::Field& f) {
    Attribute a;
    const uint8_t* at = nullptr;
    return f.number == attr && f.type == wire::kBytes && ReadAttribute(f.message(), &a, &at) == nullptr &&
           a.name == name;
  });
}

bool FindAttribute(absl::string_view body, uint32_t attr, absl::string_view name, Attribute* out) {
  const Found found = FindAttributes(body, attr, name);
  if (found.count > 0) *out = found.last;
  return found.count > 0;
}

std::string AttributeText(const Attribute& a) {
  std::string text;
  if (ToText(a, &text)) return text;
  double real = 0;
  if (AttributeNumber(a, &real)) return absl::StrCat(real);
  std::vector<int64_t> list;
  if (ToIntegers(a, &list)) return absl::StrCat("[", absl::StrJoin(list, ", "), "]");
  if (a.value.number == static_cast<uint32_t>(ValueField::kStringList)) {
    std::vector<absl::string_view> items;
    wire::Cursor c = a.value.message();
    wire::Field f;
    while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
      if (f.number == 1 && f.type == wire::kBytes) items.push_back(f.text());
    }
    return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
  }
  return "";
}

bool AttributeNumber(const Attribute& a, double* out) {
  __int128 v = 0;
  if (ToInteger(a, &v)) {
    *out = static_cast<double>(v);
    return true;
  }
  if (a.value.number == 3) {
    std::memcpy(out, &a.value.bits, sizeof(double));
    return true;
  }
  if (a.value.number == 5) {
    const auto bits = static_cast<uint32_t>(a.value.bits);
    float x = 0;
    std::memcpy(&x, &bits, sizeof(x));
    *out = static_cast<double>(x);
    return true;
  }
  return a.value.number == static_cast<uint32_t>(ValueField::kString) &&
         absl::SimpleAtod(a.value.text(), out);
}

}  // namespace chakra::edit
