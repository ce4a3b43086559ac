// The protobuf wire format: reads fields in place, and appends fields one by one.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The unread part of a message.
struct Cursor {
  const uint8_t* p;
  const uint8_t* end;
  bool done() const { return p == end; }
  size_t left() const { return static_cast<size_t>(end - p); }
};

inline Cursor CursorOf(absl::string_view message) {
  const auto* p = reinterpret_cast<const uint8_t*>(message.data());
  return {p, p + message.size()};
}

// A field: its number, type and value. `bits` holds a scalar value; the value of a kBytes field is at [p, p +
// bits).
struct Field {
  const uint8_t* at = nullptr;  // where the field's tag begins
  uint32_t number = 0;
  uint32_t type = 0;
  uint64_t bits = 0;
  const uint8_t* p = nullptr;
  absl::string_view text() const { return {reinterpret_cast<const char*>(p), static_cast<size_t>(bits)}; }
  Cursor message() const { return {p, p + bits}; }
};

// Returns false if the bytes end early or the varint is longer than 10 bytes; the cursor is then unspecified.
inline bool ReadVarint(Cursor* c, uint64_t* out) {
  const uint8_t* p = c->p;
  if (p == c->end) return false;
  uint64_t v = *p++;
  if (v >= 0x80) {
    v &= 0x7f;
    for (int shift = 7;; shift += 7) {
      if (p == c->end || shift > 63) return false;
      const uint64_t byte = *p++;
      v |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  c->p = p;
  *out = v;
  return true;
}

// Reads the next field. Returns null, or a text that says what is wrong. Precondition: the cursor is not
// done.
inline const char* ReadField(Cursor* c, Field* f) {
  f->at = c->p;
  uint64_t tag;
  if (!ReadVarint(c, &tag) || tag >> 32 != 0) return "a damaged field tag";
  f->number = static_cast<uint32_t>(tag >> 3);
  f->type = tag & 7;
  if (f->number == 0) return "field number 0";
  switch (f->type) {
    case kVarint:
      return ReadVarint(c, &f->bits) ? nullptr : "a varint that does not end";
    case kBytes:
      if (!ReadVarint(c, &f->bits)) return "a field length that does not end";
      if (f->bits > c->left()) return "a field longer than the message that holds it";
      f->p = c->p;
      c->p += f->bits;
      return nullptr;
    case kFixed64:
      if (c->left() < 8) return "an 8-byte field that is cut short";
      std::memcpy(&f->bits, c->p, 8);
      c->p += 8;
      return nullptr;
    case kFixed32: {
      if (c->left() < 4) return "a 4-byte field that is cut short";
      uint32_t v;
      std::memcpy(&v, c->p, 4);
      f->bits = v;
      c->p += 4;
      return nullptr;
    }
    case 3:
    case 4:
      return "a group, which no Chakra message has";
    default:
      return "an unknown wire type";
  }
}

// The number of bytes that AppendVarint() appends.
inline size_t VarintSize(uint64_t v) {
  size_t n = 1;
  for (; v >= 0x80; v >>= 7) ++n;
  return n;
}

inline void AppendVarint(uint64_t v, std::string* out) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

inline void AppendTag(uint32_t field, Type type, std::string* out) { AppendVarint(field << 3 | type, out); }

// Appends a varint field.
inline void AppendNumber(uint32_t field, uint64_t v, std::string* out) {
  AppendTag(field, kVarint, out);
  AppendVarint(v, out);
}

// Appends a field that holds a string or a message.
inline void AppendText(uint32_t field, absl::string_view text, std::string* out) {
  AppendTag(field, kBytes, out);
  AppendVarint(text.size(), out);
  out->append(text.data(), text.size());
}

}  // namespace chakra::wire
