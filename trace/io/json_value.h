// A strict JSON parser (RFC 8259). It records the position of every value and key for later error messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  size_t begin = 0;  // begin and end: byte offsets in the source
  size_t end = 0;
  std::string text;                 // string: decoded, valid UTF-8; number: as written
  std::vector<JsonValue> items;     // array
  std::vector<JsonMember> members;  // object, in the order of the source, keys distinct

  const JsonValue* Find(absl::string_view key) const;
  bool is(Kind k) const { return kind == k; }

  // Converts a number, or a string that holds one (as proto3 JSON writes 64-bit integers), if it is in the
  // range of the type. 4.0 and 4e3 are integers. Returns false for any other value.
  bool ToInt64(int64_t* out) const;
  bool ToUint64(uint64_t* out) const;
  // Converts a finite number; with `allow_special` also the strings "NaN", "Infinity" and "-Infinity".
  bool ToDouble(double* out, bool allow_special = false) const;
};

struct JsonMember {
  std::string key;
  size_t at = 0;  // byte offset of the key
  JsonValue value;
};

// Returns "string", "number", ... for error messages.
absl::string_view Name(JsonValue::Kind kind);

// Reads one value after another from `source`, which must outlive the reader.
class JsonReader {
 public:
  // `name` is the name of the file, for error messages.
  JsonReader(absl::string_view source, absl::string_view name) : source_(source), name_(name) {}

  // Whether only blanks are left.
  bool AtEnd();
  // Reads the next value. Errors (InvalidArgument) say what is wrong, with file:line:column and byte. More
  // than 100 levels of nesting are an error.
  absl::StatusOr<JsonValue> Next();

  // Returns "file:line:column", counted from 1; columns are bytes.
  std::string Where(size_t offset) const;
  // Returns the error "MESSAGE at file:line:column (byte N)" (InvalidArgument).
  absl::Status Error(size_t offset, absl::string_view message) const;
  // The source text of a value.
  absl::string_view Raw(const JsonValue& v) const { return source_.substr(v.begin, v.end - v.begin); }

 private:
  void SkipBlanks();
  absl::Status ReadValue(int depth, JsonValue* out);
  absl::Status ReadObject(int depth, JsonValue* out);
  absl::Status ReadArray(int depth, JsonValue* out);
  absl::Status ReadString(std::string* out);
  absl::Status ReadEscape(std::string* out);
  absl::Status ReadHex4(uint32_t* out);
  absl::Status ReadNumber(JsonValue* out);
  bool Take(char c);
  // Returns the error "expected WHAT, found ..." at the current position.
  absl::Status Expected(absl::string_view what) const;

  absl::string_view source_;
  absl::string_view name_;
  size_t at_ = 0;
};

// Parses a document that is a single value; anything after the value is an error.
absl::StatusOr<JsonValue> ParseJson(absl::string_view source, absl::string_view name);

}  // namespace chakra
