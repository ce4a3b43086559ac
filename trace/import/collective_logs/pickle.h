// Reads the plain data of a Python pickle: None, booleans, numbers, texts, lists, tuples and dictionaries.
//
// Nothing in a pickle is ever executed. The reader knows the opcodes that build plain data, of protocols 2 to
// 5 (Python's pickletools names them), and refuses every other opcode, with its name and place. Opcodes that
// import or call (GLOBAL, STACK_GLOBAL, REDUCE, BUILD, INST, OBJ, NEWOBJ, EXT*, PERSID, ...) are among the
// refused ones.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra::collective_logs {

// Plain data, as a graph: a value may be an item of several values, and of itself.
class PlainData {
 public:
  enum Kind : uint8_t { kNull, kBool, kInteger, kReal, kText, kList, kDict };
  class Value {
   public:
    static Value Null() { return Value(kNull); }
    static Value Bool(bool b) { return Integral(kBool, b ? 1 : 0); }
    static Value Integer(int64_t n) { return Integral(kInteger, n); }
    static Value Real(double d) {
      Value v(kReal);
      v.real_ = d;
      return v;
    }
    // The bytes must outlive the value; there are fewer than 2^32.
    static Value Text(absl::string_view text) {
      Value v(kText);
      v.chars_ = text.data();
      v.size_ = static_cast<uint32_t>(text.size());
      return v;
    }
    // A list or dictionary without items.
    static Value Container(Kind list_or_dict) { return Integral(list_or_dict, 0); }

    Kind kind() const { return kind_; }
    int64_t integer() const { return integer_; }                // kBool, kInteger
    double real() const { return real_; }                       // kReal
    absl::string_view text() const { return {chars_, size_}; }  // kText

   private:
    friend class PlainData;
    explicit Value(Kind kind) : integer_(0), kind_(kind) {}
    static Value Integral(Kind kind, int64_t n) {
      Value v(kind);
      v.integer_ = n;
      return v;
    }
    union {
      int64_t integer_;
      double real_;
      const char* chars_;
      uint64_t first_;  // of the items in items_
    };
    uint32_t size_ = 0;  // bytes of the text, or number of items
    Kind kind_;
  };

  const Value& root() const { return values_[root_]; }
  const Value& at(uint32_t i) const { return values_[i]; }
  // kList: values; kDict: key, value, key, value, ... Valid until items are added.
  absl::Span<const uint32_t> items(const Value& v) const {
    if (v.kind_ < kList) return {};
    return {items_.data() + v.first_, v.size_};
  }
  // Returns the value of a text key; null: `dict` is no dictionary, or has no such key. If a key occurs
  // several times, its last value counts.
  const Value* Find(const Value& dict, absl::string_view key) const;

  uint32_t Add(const Value& value) {
    values_.push_back(value);
    return static_cast<uint32_t>(values_.size() - 1);
  }
  // Adds items to a list or dictionary. `items` must not point into this object.
  void AddItems(uint32_t to, absl::Span<const uint32_t> items);
  void set_root(uint32_t i) { root_ = i; }
  // Keeps the owner of the texts' bytes alive.
  void KeepAlive(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

 private:
  std::vector<Value> values_;
  std::vector<uint32_t> items_;  // each container has room for the next power of 2
  uint32_t root_ = 0;
  std::shared_ptr<const void> owner_;
};

// Whether a file that begins with `head` is a pickle of protocol 2 to 5. It may have other data than a
// dictionary: ReadPickle() reports what is wrong.
bool LooksLikePickle(absl::string_view head);

// Reads a pickle. `bytes` must outlive the result. Errors (InvalidArgument) name `file`, the byte, the opcode
// and what was expected: an opcode that plain data do not need; an operand that ends early; a stack or memo
// without the value that an opcode needs; text that is not UTF-8; an integer of more than 64 bits; bytes
// after the end.
absl::StatusOr<PlainData> ReadPickle(absl::string_view bytes, absl::string_view file);

// Reads the same data from JSON. Errors name `file`.
absl::StatusOr<PlainData> ReadPlainJson(absl::string_view text, absl::string_view file);

}  // namespace chakra::collective_logs
