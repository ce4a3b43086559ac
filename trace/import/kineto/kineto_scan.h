// Cuts the text of a Kineto file into top-level members and batches of whole events. Knows only the strings
// and brackets of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/byte_source.h"

namespace chakra::pytorch::kineto {

// Whole events as one JSON array. The reader owns the bytes and may change them. At least kPadding readable
// bytes follow them.
struct EventBatch {
  static constexpr size_t kPadding = 64;
  char* text = nullptr;  // '[' ... ']'
  size_t size = 0;
  const std::vector<uint32_t>* starts = nullptr;  // positions in `text` at which events begin
  uint64_t first_event = 0;                       // index of the first event in the file
  uint64_t byte = 0;                              // position of text[0] in the file
};

// Follows the brackets and strings of one object or array through any number of pieces of text.
class BracketScan {
 public:
  // The position after the closing bracket of the container that begins at `p`, or that began in an earlier
  // piece. Null if the container does not end in [p, end).
  const char* Find(const char* p, const char* end);
  void Reset() { *this = BracketScan(); }

 private:
  int64_t depth_ = 0;
  uint64_t in_string_ = 0;  // all ones inside a string
  uint64_t escaped_ = 0;    // 1: the last byte was a backslash that escapes the next byte
};

class Scan {
 public:
  enum class Item {
    kMember,  // key(), value() and byte() are set: one of the wanted members
    kEvents,  // batch() is set
    kEnd,     // end of the file; see truncated()
  };
  // `source` and `file` must outlive the scan. `wanted`: names of top-level members to return.
  Scan(ByteSource* source, absl::string_view file, std::vector<std::string> wanted)
      : source_(source), file_(file), wanted_(std::move(wanted)) {}

  // The next item. Invalidates the results of earlier calls. Errors name the file and the byte.
  absl::StatusOr<Item> Next();

  absl::string_view key() const { return key_; }
  absl::string_view value() const { return value_; }  // JSON text
  const EventBatch& batch() const { return batch_; }
  // The position of the member's value in the file; at kEnd: the length of the file.
  uint64_t byte() const { return byte_; }
  bool truncated() const { return truncated_; }    // the file ends before its JSON does
  bool has_events() const { return has_events_; }  // the file has "traceEvents" or is a bare array
  uint64_t events() const { return events_; }      // number of whole events read
  uint64_t trailing_commas() const { return trailing_commas_; }

 private:
  enum class State { kStart, kKeyOrEnd, kKey, kAfterValue, kEvents, kTail, kDone };
  enum class Expect { kEventOrEnd, kEvent, kInEvent, kCommaOrEnd };

  uint64_t FileByte(size_t i) const { return base_ + i; }
  absl::Status Error(absl::string_view what);
  // Drops the bytes before *keep, moves the rest to the front and reads more. False at the end of the file.
  absl::StatusOr<bool> Refill(size_t* keep);
  // The next byte that is not white space, without consuming it; -1 at the end of the file.
  absl::StatusOr<int> Peek();
  Item Truncated();

  absl::Status Begin();
  absl::StatusOr<bool> ReadKey();             // false: the file ends
  absl::StatusOr<bool> ReadValue(bool keep);  // false: the file ends
  absl::StatusOr<bool> Member(Item* item);    // true: Next() returns `item`
  absl::StatusOr<bool> Events(Item* item);
  // Finds whole events until the batch is full, the array ends or the bytes end.
  absl::Status Cut(size_t* batch_begin, size_t* batch_end);
  bool Emit(size_t begin, size_t end);

  ByteSource* source_;
  absl::string_view file_;
  std::vector<std::string> wanted_;
  Buffer buffer_;
  size_t pos_ = 0, end_ = 0;
  uint64_t base_ = 0;  // position in the file of buffer_[0], modulo 2^64
  bool eof_ = false;
  State state_ = State::kStart;
  Expect expect_ = Expect::kEventOrEnd;
  bool bare_ = false;
  BracketScan brackets_;
  size_t event_ = 0;  // kInEvent: where the event begins
  std::string key_;
  absl::string_view value_;
  EventBatch batch_;
  std::vector<uint32_t> starts_;
  size_t saved_at_ = 0;  // position of the byte that saved_ keeps; 0: none
  char saved_ = 0;
  uint64_t byte_ = 0, events_ = 0, trailing_commas_ = 0;
  bool truncated_ = false, has_events_ = false;
};

}  // namespace chakra::pytorch::kineto
