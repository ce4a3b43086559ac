// Reads the plain data of a Python pickle: None, booleans, numbers, texts, lists, tuples and dictionaries.
//
// Nothing of a pickle is ever executed: the reader knows the opcodes that build plain data, of protocols 2 to
// 5 (Python's pickletools names them), and refuses every other opcode by its name and place. Opcodes that
// import or call (GLOBAL, STACK_GLOBAL, REDUCE, BUILD, INST, OBJ, NEWOBJ, EXT*, PERSID, ...) are among those.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::collective_logs {

// Plain data, as a graph: a value may be an item of several others, and of itself.
class PlainData {
 public:
  enum Kind : uint8_t { kNull, kBool, kInteger, kReal, kText, kList, kDict };
  struct Value {
    Kind kind = kNull;
    int64_t integer = 0;          // kBool, kInteger
    double real = 0;              // kReal
    absl::string_view text;       // kText: in the bytes that were read
    std::vector<uint32_t> items;  // kList: values; kDict: key, value, key, value, ...
  };

  const Value& root() const { return values_[root_]; }
  const Value& at(uint32_t i) const { return values_[i]; }
  // The value of a text key; null: `dict` is no dictionary, or has no such key. The last one of several.
  const Value* Find(const Value& dict, absl::string_view key) const;

  uint32_t Add(Value value) {
    values_.push_back(std::move(value));
    return static_cast<uint32_t>(values_.size() - 1);
  }
  Value* mutable_at(uint32_t i) { return &values_[i]; }
  void set_root(uint32_t i) { root_ = i; }
  // Keeps what texts lie in.
  void KeepAlive(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

 private:
  std::vector<Value> values_;
  uint32_t root_ = 0;
  std::shared_ptr<const void> owner_;
};

// Whether `head` begins a pickle of protocol 2 to 5 whose value is a dictionary.
bool LooksLikePickle(absl::string_view head);

// `bytes` must outlive the result. Errors (InvalidArgument) name `file`, the byte, the opcode and what was
// expected: an opcode of no plain data, an operand that ends early, a stack or memo that lacks what is asked
// for, text that is no UTF-8, an integer of more than 64 bits, bytes after the end.
absl::StatusOr<PlainData> ReadPickle(absl::string_view bytes, absl::string_view file);

// The same of JSON. Errors name `file`.
absl::StatusOr<PlainData> ReadPlainJson(absl::string_view text, absl::string_view file);

}  // namespace chakra::collective_logs
