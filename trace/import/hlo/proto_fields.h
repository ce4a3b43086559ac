// Reads the fields of XLA's protobuf messages from their bytes. The functions return null, or an error text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"

namespace chakra::hlo {

// The text or the message of a field; empty if the field is of another type, as in damaged files.
inline absl::string_view TextOf(const wire::Field& f) {
  return f.type == wire::kBytes ? f.text() : absl::string_view();
}
inline wire::Cursor MessageOf(const wire::Field& f) {
  return f.type == wire::kBytes ? f.message() : wire::Cursor{nullptr, nullptr};
}

// Reads a number or a text. Error: the field is of another type.
inline const char* TakeNumber(const wire::Field& f, int64_t* out) {
  if (f.type != wire::kVarint) return "a number of another type";
  *out = static_cast<int64_t>(f.bits);
  return nullptr;
}
inline const char* TakeText(const wire::Field& f, std::string* out) {
  if (f.type != wire::kBytes) return "a text of another type";
  *out = std::string(f.text());
  return nullptr;
}

// Calls `each` for all fields of a message, until it returns an error.
template <typename Each>
const char* ForFields(wire::Cursor c, Each each) {
  while (!c.done()) {
    wire::Field f;
    if (const char* wrong = wire::ReadField(&c, &f)) return wrong;
    if (const char* wrong = each(f)) return wrong;
  }
  return nullptr;
}

// Adds the numbers of a repeated field, packed or not.
inline const char* Numbers(const wire::Field& f, std::vector<int64_t>* out) {
  if (f.type == wire::kVarint) {
    out->push_back(static_cast<int64_t>(f.bits));
    return nullptr;
  }
  if (f.type != wire::kBytes) return "numbers of another type";
  wire::Cursor c = MessageOf(f);
  while (!c.done()) {
    uint64_t v = 0;
    if (!wire::ReadVarint(&c, &v)) return "a varint that does not end";
    out->push_back(static_cast<int64_t>(v));
  }
  return nullptr;
}

}  // namespace chakra::hlo
