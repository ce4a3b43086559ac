#include "trace/import/collective_logs/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "simdjson.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra::collective_logs {
namespace {

// Opcodes that plain data do not need, with Python's names for them, for error messages.
struct RefusedOpcode {
  uint8_t code;
  const char* name;
};
constexpr RefusedOpcode kRefused[] = {{'c', "GLOBAL"},
                                      {0x93, "STACK_GLOBAL"},
                                      {'R', "REDUCE"},
                                      {'b', "BUILD"},
                                      {'i', "INST"},
                                      {'o', "OBJ"},
                                      {0x81, "NEWOBJ"},
                                      {0x92, "NEWOBJ_EX"},
                                      {0x82, "EXT1"},
                                      {0x83, "EXT2"},
                                      {0x84, "EXT4"},
                                      {'P', "PERSID"},
                                      {'Q', "BINPERSID"},
                                      {'0', "POP"},
                                      {'1', "POP_MARK"},
                                      {'2', "DUP"},
                                      {'I', "INT"},
                                      {'L', "LONG"},
                                      {'F', "FLOAT"},
                                      {'S', "STRING"},
                                      {'T', "BINSTRING"},
                                      {'U', "SHORT_BINSTRING"},
                                      {'V', "UNICODE"},
                                      {'p', "PUT"},
                                      {'g', "GET"},
                                      {'l', "LIST"},
                                      {'d', "DICT"},
                                      {'B', "BINBYTES"},
                                      {'C', "SHORT_BINBYTES"},
                                      {0x8e, "BINBYTES8"},
                                      {0x96, "BYTEARRAY8"},
                                      {0x8f, "EMPTY_SET"},
                                      {0x90, "ADDITEMS"},
                                      {0x91, "FROZENSET"},
                                      {0x97, "NEXT_BUFFER"},
                                      {0x98, "READONLY_BUFFER"}};

class PickleReader {
 public:
  PickleReader(absl::string_view bytes, absl::string_view file) : bytes_(bytes), file_(file) {}
  absl::StatusOr<PlainData> Run();

 private:
  static constexpr uint32_t kMark = 0xffffffff;

  absl::Status Fail(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": pickle, byte ", op_at_, ": ", what));
  }
  absl::Status Short() const { return Fail("the operand of an opcode ends early; is the file cut short?"); }
  absl::Status Refuse(uint8_t code) const;
  bool Number(size_t width, uint64_t* out);
  void Push(const PlainData::Value& value) { stack_.push_back(data_.Add(value)); }
  absl::Status Step(uint8_t code);
  absl::Status Scalar(uint8_t code);
  absl::Status Integer(uint8_t code);
  absl::Status Text(size_t width);
  absl::Status Tuple(size_t count);
  absl::Status FindMark(size_t* after) const;
  absl::Status Fill(bool dict, bool many);
  absl::Status Keep(uint64_t key);
  absl::Status Recall(uint64_t key);

  absl::string_view bytes_, file_;
  size_t at_ = 0, op_at_ = 0;
  PlainData data_;
  std::vector<uint32_t> stack_;  // values, and kMark
  // The memo: values by key. Keys usually count from 0; other keys are in sparse_memo_.
  std::vector<uint32_t> memo_;
  absl::flat_hash_map<uint64_t, uint32_t> sparse_memo_;
  bool done_ = false;
};

absl::Status PickleReader::Refuse(uint8_t code) const {
  for (const RefusedOpcode& r : kRefused) {
    if (r.code != code) continue;
    return Fail(absl::StrCat("opcode ", r.name,
                             ", which plain data does not need; pickles are not executed. Expected "
                             "a dump of the Flight Recorder as PyTorch writes it"));
  }
  return Fail(absl::StrCat("0x", absl::Hex(code), " is not an opcode of a pickle"));
}

// Reads a little-endian number of `width` bytes.
bool PickleReader::Number(size_t width, uint64_t* out) {
  if (bytes_.size() - at_ < width) return false;
  *out = 0;
  std::memcpy(out, bytes_.data() + at_, width);
  at_ += width;
  return true;
}

absl::Status PickleReader::Integer(uint8_t code) {
  uint64_t n = 0;
  if (code == 0x8a) {  // LONG1
    if (!Number(1, &n)) return Short();
    if (n > 8) return Fail(absl::StrCat("an integer of ", n, " bytes; expected at most 8"));
    const size_t width = n;
    if (!Number(width, &n)) return Short();
    if (width > 0 && width < 8 && (n >> (8 * width - 1) & 1) != 0) n |= ~uint64_t{0} << 8 * width;
  } else {
    if (!Number(code == 'J' ? 4 : code == 'M' ? 2 : 1, &n)) return Short();
    if (code == 'J') n = static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(n))});
  }
  Push(PlainData::Value::Integer(static_cast<int64_t>(n)));
  return absl::OkStatus();
}

absl::Status PickleReader::Scalar(uint8_t code) {
  if (code == 'G') {  // BINFLOAT: big-endian
    uint64_t bits = 0;
    if (!Number(8, &bits)) return Short();
    Push(PlainData::Value::Real(std::bit_cast<double>(__builtin_bswap64(bits))));
  } else {  // NONE, NEWTRUE, NEWFALSE
    Push(code == 'N' ? PlainData::Value::Null() : PlainData::Value::Bool(code == 0x88));
  }
  return absl::OkStatus();
}

absl::Status PickleReader::Text(size_t width) {
  uint64_t n = 0;
  if (!Number(width, &n) || n > bytes_.size() - at_) return Short();
  if (n > UINT32_MAX) return Fail(absl::StrCat("a text of ", n, " bytes; expected fewer than 2^32"));
  const absl::string_view text = bytes_.substr(at_, n);
  at_ += n;
  if (ValidUtf8Prefix(text) != text.size()) return Fail("text that is not UTF-8");
  Push(PlainData::Value::Text(text));
  return absl::OkStatus();
}

// Finds the values behind the last MARK: they begin at `after`.
absl::Status PickleReader::FindMark(size_t* after) const {
  *after = stack_.size();
  while (*after > 0 && stack_[*after - 1] != kMark) --*after;
  return *after > 0 ? absl::OkStatus() : Fail("no MARK on the stack; expected one before the items");
}

absl::Status PickleReader::Tuple(size_t count) {
  size_t first = 0;
  const bool marked = count == 4;  // TUPLE
  if (marked) {
    RETURN_IF_ERROR(FindMark(&first));
  } else {
    if (stack_.size() < count) return Fail("a tuple with more values than the stack");
    first = stack_.size() - count;
    for (size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i] == kMark) return Fail("a MARK in a tuple");
    }
  }
  const uint32_t tuple = data_.Add(PlainData::Value::Container(PlainData::kList));
  data_.AddItems(tuple, absl::MakeConstSpan(stack_).subspan(first));
  stack_.resize(first - (marked ? 1 : 0));
  stack_.push_back(tuple);
  return absl::OkStatus();
}

// APPEND, APPENDS, SETITEM, SETITEMS.
absl::Status PickleReader::Fill(bool dict, bool many) {
  size_t first = 0, rest = 0;  // in the stack: where items begin, and how many values remain
  if (many) {
    RETURN_IF_ERROR(FindMark(&first));
    rest = first - 1;
  } else {
    const size_t count = dict ? 2 : 1;
    if (stack_.size() < count) return Fail("fewer values on the stack than the opcode takes");
    first = rest = stack_.size() - count;
    for (size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i] == kMark) return Fail("a MARK where a value was expected");
    }
  }
  if (dict && (stack_.size() - first) % 2 != 0) return Fail("a key without a value");
  const bool there = rest > 0 && stack_[rest - 1] != kMark;
  if (!there || data_.at(stack_[rest - 1]).kind() != (dict ? PlainData::kDict : PlainData::kList))
    return Fail(absl::StrCat("items for a value that is not a ", dict ? "dictionary" : "list"));
  data_.AddItems(stack_[rest - 1], absl::MakeConstSpan(stack_).subspan(first));
  stack_.resize(rest);
  return absl::OkStatus();
}

absl::Status PickleReader::Keep(uint64_t key) {
  if (stack_.empty() || stack_.back() == kMark) return Fail("nothing on the stack to remember");
  if (key < memo_.size()) {
    memo_[key] = stack_.back();
  } else if (key == memo_.size()) {
    memo_.push_back(stack_.back());
    if (!sparse_memo_.empty()) sparse_memo_.erase(key);
  } else {
    sparse_memo_[key] = stack_.back();
  }
  return absl::OkStatus();
}

absl::Status PickleReader::Recall(uint64_t key) {
  const auto it = key < memo_.size() ? sparse_memo_.end() : sparse_memo_.find(key);
  if (key >= memo_.size() && it == sparse_memo_.end())
    return Fail(absl::StrCat("entry ", key, " of the memo, which was never set"));
  stack_.push_back(key < memo_.size() ? memo_[key] : it->second);
  return absl::OkStatus();
}

absl::Status PickleReader::Step(uint8_t code) {
  uint64_t n = 0;
  switch (code) {
    case 0x80:  // PROTO
      if (!Number(1, &n)) return Short();
      if (n < 2 || n > 5) return Fail(absl::StrCat("pickle protocol ", n, ", expected 2 to 5"));
      return absl::OkStatus();
    case 0x95:  // FRAME: the length of a block; its bytes follow as usual
      return Number(8, &n) ? absl::OkStatus() : Short();
    case '.':  // STOP
      if (stack_.size() != 1 || stack_.back() == kMark)
        return Fail(absl::StrCat("the end with ", stack_.size(), " values on the stack; expected 1"));
      data_.set_root(stack_.back());
      done_ = true;
      return absl::OkStatus();
    case '(':
      stack_.push_back(kMark);
      return absl::OkStatus();
    case 'N':
    case 0x88:
    case 0x89:
    case 'G':
      return Scalar(code);
    case 'J':
    case 'K':
    case 'M':
    case 0x8a:
      return Integer(code);
    case 'X':
      return Text(4);
    case 0x8c:
      return Text(1);
    case 0x8d:
      return Text(8);
    case ']':
    case '}':
      Push(PlainData::Value::Container(code == ']' ? PlainData::kList : PlainData::kDict));
      return absl::OkStatus();
    case ')':
      return Tuple(0);
    case 0x85:
    case 0x86:
    case 0x87:
      return Tuple(code - 0x84u);
    case 't':
      return Tuple(4);
    case 'a':
    case 'e':
      return Fill(false, code == 'e');
    case 's':
    case 'u':
      return Fill(true, code == 'u');
    case 'q':
    case 'r':
      return Number(code == 'q' ? 1 : 4, &n) ? Keep(n) : Short();
    case 0x94:  // MEMOIZE
      return Keep(memo_.size() + sparse_memo_.size());
    case 'h':
    case 'j':
      return Number(code == 'h' ? 1 : 4, &n) ? Recall(n) : Short();
    default:
      return Refuse(code);
  }
}

absl::StatusOr<PlainData> PickleReader::Run() {
  while (!done_) {
    op_at_ = at_;
    if (at_ == bytes_.size()) return Fail("the pickle ends before its STOP; is the file cut short?");
    RETURN_IF_ERROR(Step(static_cast<uint8_t>(bytes_[at_++])));
  }
  op_at_ = at_;
  if (at_ != bytes_.size())
    return Fail(absl::StrCat(bytes_.size() - at_, " bytes after the end of the pickle; expected none"));
  return std::move(data_);
}

// Reads JSON. simdjson limits its depth to 1,024 levels.
class JsonReader {
 public:
  explicit JsonReader(PlainData* data) : data_(data) {}
  uint32_t Add(const simdjson::dom::element& e) {
    using Type = simdjson::dom::element_type;
    switch (e.type()) {
      case Type::ARRAY: {
        const size_t first = stack_.size();
        for (const simdjson::dom::element& item : simdjson::dom::array(e)) Push(Add(item));
        return Container(PlainData::kList, first);
      }
      case Type::OBJECT: {
        const size_t first = stack_.size();
        for (const auto& [key, value] : simdjson::dom::object(e)) {
          Push(data_->Add(PlainData::Value::Text({key.data(), key.size()})));
          Push(Add(value));
        }
        return Container(PlainData::kDict, first);
      }
      case Type::INT64:
        return data_->Add(PlainData::Value::Integer(int64_t(e)));
      case Type::UINT64:  // 2^63 or more: logs have no such number
      case Type::DOUBLE:
        return data_->Add(PlainData::Value::Real(double(e)));
      case Type::STRING: {
        const std::string_view text(e);
        return data_->Add(PlainData::Value::Text({text.data(), text.size()}));
      }
      case Type::BOOL:
        return data_->Add(PlainData::Value::Bool(bool(e)));
      case Type::NULL_VALUE:
        break;
    }
    return data_->Add(PlainData::Value::Null());
  }

 private:
  void Push(uint32_t value) { stack_.push_back(value); }
  // Makes a list or dictionary of the values on the stack from `first` on.
  uint32_t Container(PlainData::Kind kind, size_t first) {
    const uint32_t container = data_->Add(PlainData::Value::Container(kind));
    data_->AddItems(container, absl::MakeConstSpan(stack_).subspan(first));
    stack_.resize(first);
    return container;
  }
  PlainData* data_;
  std::vector<uint32_t> stack_;
};

}  // namespace

void PlainData::AddItems(uint32_t to, absl::Span<const uint32_t> items) {
  Value& v = values_[to];
  const size_t all = v.size_ + items.size();
  if (items.empty()) return;
  if (v.size_ == 0 || all > std::bit_ceil(size_t{v.size_})) {
    const size_t first = items_.size();
    items_.resize(first + std::bit_ceil(all));
    std::copy_n(items_.begin() + static_cast<ptrdiff_t>(v.first_), v.size_,
                items_.begin() + static_cast<ptrdiff_t>(first));
    v.first_ = first;
  }
  std::copy(items.begin(), items.end(), items_.begin() + static_cast<ptrdiff_t>(v.first_ + v.size_));
  v.size_ = static_cast<uint32_t>(all);
}

const PlainData::Value* PlainData::Find(const Value& dict, absl::string_view key) const {
  if (dict.kind_ != kDict) return nullptr;
  const absl::Span<const uint32_t> all = items(dict);
  for (size_t i = all.size(); i >= 2; i -= 2) {
    const Value& name = values_[all[i - 2]];
    if (name.size_ == key.size() && name.kind_ == kText && name.text() == key) return &values_[all[i - 1]];
  }
  return nullptr;
}

bool LooksLikePickle(absl::string_view head) {
  if (head.size() < 3 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return false;
  const size_t first = head[2] == '\x95' ? 11 : 2;  // after a FRAME
  // A dictionary, or a common opcode that does not begin plain data: ReadPickle() reports it by its name.
  return head.size() > first && absl::StrContains("}(]cX\x8c", head[first]);
}

absl::StatusOr<PlainData> ReadPickle(absl::string_view bytes, absl::string_view file) {
  return PickleReader(bytes, file).Run();
}

absl::StatusOr<PlainData> ReadPlainJson(absl::string_view text, absl::string_view file) {
  auto parser = std::make_shared<simdjson::dom::parser>();
  simdjson::dom::element root;
  if (const auto e = parser->parse(text.data(), text.size()).get(root)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": invalid JSON: ", simdjson::error_message(e), "; is the file cut short?"));
  }
  PlainData data;
  data.set_root(JsonReader(&data).Add(root));
  data.KeepAlive(std::move(parser));
  return data;
}

}  // namespace chakra::collective_logs
