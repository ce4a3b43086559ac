// Fields of XLA's protobuf messages, read from their bytes. What reads a field returns null, or what is
// wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"

namespace chakra::hlo {

// What a field of a damaged file holds is looked at only where it is a text or a message.
inline absl::string_view TextOf(const wire::Field& f) {
  return f.type == wire::kBytes ? f.text() : absl::string_view();
}
inline wire::Cursor MessageOf(const wire::Field& f) {
  return f.type == wire::kBytes ? f.message() : wire::Cursor{nullptr, nullptr};
}

// What a field must hold: null, or what is wrong.
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

// Reads all fields of a message. `each` returns null, or what is wrong.
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
