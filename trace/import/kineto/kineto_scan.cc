#include "trace/import/kineto/kineto_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace chakra::pytorch::kineto {
namespace {

constexpr size_t kBlock = size_t{4} << 20;  // bytes read at a time
// Bytes of a batch of events; small, so that simdjson's index stays in cache.
constexpr size_t kBatch = size_t{256} << 10;
// Largest event or member; anything larger is a string that never ends.
constexpr size_t kMaxHeld = size_t{64} << 20;
constexpr size_t kMaxKey = 4096;
constexpr size_t kHead = 64;  // free bytes before the text, for the '[' of a batch

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

struct Masks {
  uint64_t quote = 0, backslash = 0, open = 0, close = 0;
};

// Bit i of each mask describes p[i]. Setting bit 5 of a byte turns '[' into '{' and ']' into '}', and no
// other byte into these.
Masks Classify(const char* p) {
  Masks m;
#ifdef __SSE2__
  for (int k = 0; k < 4; ++k) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * k));
    const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
    const auto bits = [k](__m128i eq) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(eq))) << (16 * k);
    };
    m.quote |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    m.backslash |= bits(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    m.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    m.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
#else
  for (int i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (p[i] == '"') m.quote |= bit;
    if (p[i] == '\\') m.backslash |= bit;
    if ((p[i] | 0x20) == '{') m.open |= bit;
    if ((p[i] | 0x20) == '}') m.close |= bit;
  }
#endif
  return m;
}

// Bit i of the result is the parity of bits 0 to i.
uint64_t PrefixXor(uint64_t x) {
  for (int shift = 1; shift < 64; shift *= 2) x ^= x << shift;
  return x;
}

// Bit i of the result: a backslash escapes byte i. `carry`: 1 if the last of the `n` bytes escapes the next.
uint64_t Escaped(uint64_t backslash, size_t n, uint64_t* carry) {
  uint64_t escaped = *carry;
  *carry = 0;
  while (backslash != 0) {
    const int i = __builtin_ctzll(backslash);
    backslash &= backslash - 1;
    if (escaped >> i & 1) continue;
    if (static_cast<size_t>(i) + 1 == n) {
      *carry = 1;
    } else {
      escaped |= uint64_t{1} << (i + 1);
    }
  }
  return escaped;
}

}  // namespace

const char* BracketScan::Find(const char* p, const char* end) {
  while (p < end) {
    const size_t n = std::min<size_t>(64, static_cast<size_t>(end - p));
    Masks m;
    if (n == 64) {
      m = Classify(p);
    } else {
      char tail[64] = {};
      std::memcpy(tail, p, n);
      m = Classify(tail);
    }
    const uint64_t escaped = (m.backslash | escaped_) == 0 ? 0 : Escaped(m.backslash, n, &escaped_);
    const uint64_t inside = PrefixXor(m.quote & ~escaped) ^ in_string_;
    in_string_ = 0 - (inside >> (n - 1) & 1);
    const uint64_t open = m.open & ~inside, close = m.close & ~inside;
    for (uint64_t both = open | close; both != 0; both &= both - 1) {
      const int i = __builtin_ctzll(both);
      depth_ += open >> i & 1 ? 1 : -1;
      if (depth_ <= 0) {
        Reset();
        return p + i + 1;
      }
    }
    p += n;
  }
  return nullptr;
}

absl::Status Scan::Error(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file_, ": byte ", FileByte(pos_), ": ", what));
}

absl::StatusOr<bool> Scan::Refill(size_t* keep) {
  if (eof_) return false;
  const size_t kept = end_ - *keep;
  if (kept > kMaxHeld) {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": byte ", FileByte(*keep),
                                                   ": an event or member of more than ", kMaxHeld,
                                                   " bytes; expected its end (is a quote missing?)"));
  }
  buffer_.set_size(end_);  // growing must keep these bytes
  // Reserve more than is needed now, so that a slightly longer rest does not move the buffer again.
  const uint64_t hint = source_->SizeHint();
  const size_t block = hint == 0 ? kBlock : std::clamp<uint64_t>(hint + 1, 4096, kBlock);
  const size_t need = kHead + kept + block + EventBatch::kPadding;
  if (need > buffer_.capacity() && !buffer_.Reserve(need + kept + block / 4)) {
    return absl::ResourceExhaustedError(absl::StrCat(file_, ": no memory to read it"));
  }
  const size_t shift = *keep - kHead;  // wraps around at the very start, and base_ with it
  if (kept > 0) std::memmove(buffer_.data() + kHead, buffer_.data() + *keep, kept);
  base_ += shift;
  pos_ -= shift;
  event_ -= shift;
  *keep = kHead;
  end_ = kHead + kept;
  ASSIGN_OR_RETURN(auto n, ReadFully(source_, buffer_.data() + end_, block));
  eof_ = n < block;
  end_ += n;
  std::memset(buffer_.data() + end_, 0, EventBatch::kPadding);
  return n > 0;
}

absl::StatusOr<int> Scan::Peek() {
  for (;;) {
    while (pos_ < end_ && IsSpace(buffer_.data()[pos_])) ++pos_;
    if (pos_ < end_) return static_cast<unsigned char>(buffer_.data()[pos_]);
    size_t keep = pos_;
    ASSIGN_OR_RETURN(auto more, Refill(&keep));
    if (!more) return -1;
  }
}

Scan::Item Scan::Truncated() {
  truncated_ = true;
  state_ = State::kDone;
  byte_ = FileByte(end_);
  return Item::kEnd;
}

absl::Status Scan::Begin() {
  auto c = Peek();
  if (!c.ok()) return c.status();
  if (*c == 0xef && end_ - pos_ >= 3 && std::memcmp(buffer_.data() + pos_, "\xef\xbb\xbf", 3) == 0) {
    pos_ += 3;
    c = Peek();
    if (!c.ok()) return c.status();
  }
  if (*c != '{' && *c != '[') {
    return Error(*c < 0 ? "empty; expected a Kineto trace"
                        : "not JSON; expected a Kineto trace ('{' or '[')");
  }
  ++pos_;
  bare_ = *c == '[';
  has_events_ = bare_;
  state_ = bare_ ? State::kEvents : State::kKeyOrEnd;
  return absl::OkStatus();
}

absl::StatusOr<bool> Scan::ReadKey() {
  size_t at = ++pos_;  // after the quote
  for (;; ++at) {
    if (at == end_) {
      const size_t read = at - pos_;
      size_t keep = pos_;
      auto more = Refill(&keep);
      if (!more.ok() || !*more) return more;
      at = keep + read;
    }
    if (at - pos_ > kMaxKey) return Error("a top-level name of more than 4096 bytes");
    if (buffer_.data()[at] == '\\') return Error("a top-level name with an escape; expected a plain one");
    if (buffer_.data()[at] == '"') break;
  }
  key_.assign(buffer_.data() + pos_, at - pos_);
  pos_ = at + 1;
  auto c = Peek();
  if (!c.ok()) return c.status();
  if (*c < 0) return false;
  if (*c != ':') return Error(absl::StrCat("expected ':' after \"", key_, "\""));
  ++pos_;
  c = Peek();
  if (!c.ok()) return c.status();
  return *c >= 0;
}

absl::StatusOr<bool> Scan::ReadValue(bool keep) {
  size_t begin = pos_;
  const char first = buffer_.data()[pos_];
  byte_ = FileByte(pos_);
  const bool container = first == '{' || first == '[';
  BracketScan brackets;
  bool escaped = false;
  for (bool done = false; !done;) {
    const char *p = buffer_.data() + pos_, *end = buffer_.data() + end_;
    if (container) {
      const char* found = brackets.Find(p, end);
      done = found != nullptr;
      p = done ? found : end;
    } else if (first == '"') {
      for (p += byte_ == FileByte(pos_) ? 1 : 0; p < end && !done; ++p) {
        done = *p == '"' && !escaped;
        escaped = *p == '\\' && !escaped;
      }
    } else {
      while (p < end && !IsSpace(*p) && *p != ',' && *p != '}' && *p != ']') ++p;
      done = p < end;
    }
    pos_ = static_cast<size_t>(p - buffer_.data());
    if (done) break;
    size_t from = keep ? begin : pos_;
    auto more = Refill(&from);
    if (!more.ok() || !*more) return more;
    begin = from;
  }
  if (keep) value_ = absl::string_view(buffer_.data() + begin, pos_ - begin);
  if (FileByte(pos_) == byte_) return Error(absl::StrCat("expected the value of \"", key_, "\""));
  return true;
}

absl::StatusOr<bool> Scan::Member(Item* item) {
  ASSIGN_OR_RETURN(auto c, Peek());
  if (c == '}' && state_ != State::kKey) {
    ++pos_;
    state_ = State::kTail;
    return false;
  }
  if (state_ == State::kAfterValue && c >= 0) {
    if (c != ',') return Error(absl::StrCat("expected ',' or '}' after the value of \"", key_, "\""));
    ++pos_;
    state_ = State::kKey;
    return false;
  }
  if (c >= 0 && c != '"') return Error("expected the name of a top-level member");
  auto more = c < 0 ? absl::StatusOr<bool>(false) : ReadKey();
  if (!more.ok()) return more.status();
  if (*more && key_ == "traceEvents") {
    if (buffer_.data()[pos_] != '[') return Error("\"traceEvents\" is not an array");
    ++pos_;
    has_events_ = true;
    state_ = State::kEvents;
    expect_ = Expect::kEventOrEnd;
    return false;
  }
  const bool wanted = std::find(wanted_.begin(), wanted_.end(), key_) != wanted_.end();
  if (*more) {
    more = ReadValue(wanted);
    if (!more.ok()) return more.status();
  }
  if (!*more) {
    *item = Truncated();
    return true;
  }
  state_ = State::kAfterValue;
  *item = Item::kMember;
  return wanted;
}

absl::Status Scan::Cut(size_t* batch_begin, size_t* batch_end) {
  const char* data = buffer_.data();
  *batch_begin = *batch_end = 0;
  for (;;) {
    if (expect_ == Expect::kInEvent) {
      const char* found = brackets_.Find(data + pos_, data + end_);
      pos_ = found == nullptr ? end_ : static_cast<size_t>(found - data);
      if (found == nullptr) return absl::OkStatus();
      if (*batch_begin == 0) *batch_begin = event_;
      starts_.push_back(static_cast<uint32_t>(event_ - *batch_begin + 1));
      *batch_end = pos_;
      expect_ = Expect::kCommaOrEnd;
      if (*batch_end - *batch_begin >= kBatch) return absl::OkStatus();
    }
    while (pos_ < end_ && IsSpace(data[pos_])) ++pos_;
    if (pos_ == end_) return absl::OkStatus();
    const char c = data[pos_];
    if (expect_ == Expect::kCommaOrEnd && c == ',') {
      expect_ = Expect::kEvent;
    } else if (c == ']') {
      if (expect_ == Expect::kEvent) ++trailing_commas_;
      state_ = bare_ ? State::kTail : State::kAfterValue;
      ++pos_;
      return absl::OkStatus();
    } else if (expect_ != Expect::kCommaOrEnd && c == '{') {
      event_ = pos_;
      expect_ = Expect::kInEvent;
      continue;
    } else {
      const uint64_t n = events_ + starts_.size();
      return Error(expect_ == Expect::kCommaOrEnd
                       ? absl::StrCat("expected ',' or ']' after event ", n - 1)
                       : absl::StrCat("event ", n, " is not an object; expected '{'"));
    }
    ++pos_;
  }
}

bool Scan::Emit(size_t begin, size_t end) {
  if (starts_.empty()) return false;
  char* data = buffer_.data();
  saved_at_ = end;
  saved_ = data[end];
  data[begin - 1] = '[';  // overwrites a byte that has been read
  data[end] = ']';
  batch_ = {data + begin - 1, end - begin + 2, &starts_, events_, FileByte(begin - 1)};
  events_ += starts_.size();
  return true;
}

absl::StatusOr<bool> Scan::Events(Item* item) {
  starts_.clear();
  size_t begin = 0, end = 0;
  RETURN_IF_ERROR(Cut(&begin, &end));
  *item = Item::kEvents;
  if (Emit(begin, end)) return true;
  if (state_ != State::kEvents) return false;
  size_t keep = expect_ == Expect::kInEvent ? event_ : pos_;
  ASSIGN_OR_RETURN(auto more, Refill(&keep));
  if (more) return false;
  *item = Truncated();
  return true;
}

absl::StatusOr<Scan::Item> Scan::Next() {
  if (saved_at_ != 0) buffer_.data()[std::exchange(saved_at_, 0)] = saved_;
  for (;;) {
    Item item = Item::kEnd;
    absl::StatusOr<bool> found = false;
    switch (state_) {
      case State::kStart: {
        RETURN_IF_ERROR(Begin());
        break;
      }
      case State::kKeyOrEnd:
      case State::kKey:
      case State::kAfterValue:
        found = Member(&item);
        break;
      case State::kEvents:
        found = Events(&item);
        break;
      case State::kTail: {
        ASSIGN_OR_RETURN(auto c, Peek());
        if (c >= 0) {
          return Error(
              "bytes after the end of the trace; expected one trace for each file: split the file here, or "
              "give each trace its own file");
        }
        state_ = State::kDone;
        byte_ = FileByte(end_);
        return Item::kEnd;
      }
      case State::kDone:
        return Item::kEnd;
    }
    if (!found.ok()) return found.status();
    if (*found) return item;
  }
}

}  // namespace chakra::pytorch::kineto
