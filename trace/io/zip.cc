#include "trace/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Sizes of records without their variable parts: APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.16, 4.3.15
// and 4.3.14.
constexpr size_t kLocal = 30, kCentral = 46, kEnd = 22, kLocator = 20, kEnd64 = 56;
constexpr size_t kMostComment = 0xffff;
constexpr uint32_t kIn64 = 0xffffffff;  // the value is in the extra field
constexpr size_t kTarBlock = 512;       // block size of tar

struct Member {
  std::string name;
  uint64_t packed = 0, size = 0, at = 0;  // at: position of its data
  uint32_t crc = 0;
  int method = 0;
};

// Reads a little-endian number from a record; the caller has checked the record's length.
uint64_t LittleEndian(absl::string_view record, size_t at, size_t bytes) {
  uint64_t v = 0;
  for (size_t i = bytes; i-- > 0;) v = v << 8 | static_cast<unsigned char>(record[at + i]);
  return v;
}

// The directory of an archive in memory.
class Directory {
 public:
  Directory(absl::string_view zip, absl::string_view file) : zip_(zip), file_(file) {}

  absl::StatusOr<std::vector<Member>> Read() {
    uint64_t count = 0, at = 0;
    RETURN_IF_ERROR(FindEnd(&count, &at));
    std::vector<Member> members;
    for (uint64_t i = 0; i < count; ++i) {
      Member member;
      RETURN_IF_ERROR(ReadEntry(&at, &member));
      if (!absl::EndsWith(member.name, "/")) members.push_back(std::move(member));
    }
    return members;
  }

 private:
  absl::Status Error(uint64_t at, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": zip archive, byte ", at, ": ", what));
  }
  // Returns the record at `at`, or an error that names `what`.
  absl::StatusOr<absl::string_view> Record(uint64_t at, size_t size, absl::string_view magic,
                                           absl::string_view what) const {
    if (at > zip_.size() || zip_.size() - at < size || zip_.substr(at, 4) != magic)
      return Error(std::min<uint64_t>(at, zip_.size()), absl::StrCat("expected ", what));
    return zip_.substr(at, size);
  }

  absl::Status FindEnd(uint64_t* count, uint64_t* at) const {
    const size_t from = zip_.size() < kEnd + kMostComment ? 0 : zip_.size() - kEnd - kMostComment;
    const size_t end = zip_.rfind("PK\x05\x06");
    if (end == zip_.npos || end < from || zip_.size() - end < kEnd)
      return Error(zip_.size(), "there is no directory at the end; the file was cut short");
    *count = LittleEndian(zip_, end + 10, 2);
    *at = LittleEndian(zip_, end + 16, 4);
    if (*count != 0xffff && *at != kIn64) return absl::OkStatus();
    if (end < kLocator || zip_.substr(end - kLocator, 4) != "PK\x06\x07") return absl::OkStatus();
    ASSIGN_OR_RETURN(const auto record, Record(LittleEndian(zip_, end - kLocator + 8, 8), kEnd64,
                                               "PK\x06\x06", "the end of its directory"));
    *count = LittleEndian(record, 32, 8);
    *at = LittleEndian(record, 48, 8);
    return absl::OkStatus();
  }

  absl::Status ReadEntry(uint64_t* at, Member* m) const {
    ASSIGN_OR_RETURN(const auto entry, Record(*at, kCentral, "PK\x01\x02", "an entry of its directory"));
    const size_t name = LittleEndian(entry, 28, 2), extra = LittleEndian(entry, 30, 2),
                 comment = LittleEndian(entry, 32, 2);
    if (zip_.size() - *at - kCentral < name + extra + comment) return Error(*at, "an entry that ends early");
    m->name = std::string(zip_.substr(*at + kCentral, name));
    m->method = static_cast<int>(LittleEndian(entry, 10, 2));
    m->crc = static_cast<uint32_t>(LittleEndian(entry, 16, 4));
    m->packed = LittleEndian(entry, 20, 4);
    m->size = LittleEndian(entry, 24, 4);
    uint64_t local = LittleEndian(entry, 42, 4);
    TakeExtra(zip_.substr(*at + kCentral + name, extra), {&m->size, &m->packed, &local});
    if ((LittleEndian(entry, 8, 2) & 1) != 0)
      return Error(*at, absl::StrCat(m->name, " is encrypted; expected an archive without a password"));
    if (m->method != 0 && m->method != 8) {
      return Error(*at, absl::StrCat(m->name, " is packed by method ", m->method,
                                     "; expected 8 (deflate) or 0 (stored)"));
    }
    *at += kCentral + name + extra + comment;
    ASSIGN_OR_RETURN(const auto head,
                     Record(local, kLocal, "PK\x03\x04", absl::StrCat("the header of ", m->name)));
    m->at = local + kLocal + LittleEndian(head, 26, 2) + LittleEndian(head, 28, 2);
    if (m->at > zip_.size() || zip_.size() - m->at < m->packed)
      return Error(local, absl::StrCat(m->name, " ends after the end of the file"));
    if (m->method == 0 && m->size != m->packed)
      return Error(local, absl::StrCat(m->name, " is stored without compression, but in ", m->packed,
                                       " bytes of ", m->size));
    return absl::OkStatus();
  }

  // Reads the zip64 values: those that did not fit in 32 bits, in this order.
  static void TakeExtra(absl::string_view extra, const std::vector<uint64_t*>& values) {
    while (extra.size() >= 4) {
      const size_t id = LittleEndian(extra, 0, 2), size = LittleEndian(extra, 2, 2);
      absl::string_view data = extra.substr(4, size);
      for (uint64_t* v : values) {
        if (id != 1 || *v != kIn64 || data.size() < 8) continue;
        *v = LittleEndian(data, 0, 8);
        data.remove_prefix(8);
      }
      extra.remove_prefix(std::min(extra.size(), 4 + size));
    }
  }

  absl::string_view zip_, file_;
};

// Returns the header of a member of a tar archive, with the first 100 bytes of its name.
std::string TarHeader(const std::string& name, uint64_t size, char type) {
  std::string h(kTarBlock, '\0');
  const auto put = [&](size_t at, absl::string_view text) { std::memcpy(&h[at], text.data(), text.size()); };
  put(0, absl::string_view(name).substr(0, 100));
  put(100, "0000644");
  put(124, size < (uint64_t{1} << 33) ? absl::StrFormat("%011o", size) : "");
  if (size >= (uint64_t{1} << 33)) {
    h[124] = '\x80';
    for (size_t i = 0; i < 8; ++i) h[135 - i] = static_cast<char>(size >> (8 * i));
  }
  put(148, "        ");
  h[156] = type;
  put(257, absl::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  put(148, absl::StrFormat("%06o", sum));
  h[154] = '\0';
  return h;
}

std::string Padding(uint64_t size) { return std::string((kTarBlock - size % kTarBlock) % kTarBlock, '\0'); }

std::string HeadersOf(const Member& m) {
  std::string out;
  if (m.name.size() > 100) {
    const std::string text = m.name + '\0';
    out = TarHeader("././@LongLink", text.size(), 'L') + text + Padding(text.size());
  }
  return out + TarHeader(m.name, m.size, '0');
}

class ZipSource : public ByteSource {
 public:
  ZipSource(Buffer zip, std::vector<Member> members, absl::string_view file)
      : zip_(std::move(zip)), members_(std::move(members)), file_(file) {}
  ~ZipSource() override {
    if (inflating_) inflateEnd(&z_);
  }

  absl::StatusOr<size_t> Read(char* out, size_t n) override {
    for (;;) {
      if (!text_.empty()) {
        const size_t k = std::min(n, text_.size() - told_);
        std::memcpy(out, text_.data() + told_, k);
        told_ += k;
        if (told_ == text_.size()) text_.clear();
        return k;
      }
      if (in_member_ && left_ > 0) return ReadData(out, n);
      if (in_member_) {
        RETURN_IF_ERROR(EndMember());
      } else if (next_ < members_.size()) {
        BeginMember();
      } else if (!ended_) {
        ended_ = true;
        Tell(std::string(2 * kTarBlock, '\0'));
      } else {
        return 0;
      }
    }
  }
  std::optional<uint64_t> Packed() const override { return zip_.size(); }

 private:
  const Member& member() const { return members_[next_ - 1]; }
  absl::Status Damaged(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": zip archive, byte ", member().at, ": ", member().name, " is damaged: ", what));
  }
  void Tell(std::string text) {
    text_ = std::move(text);
    told_ = 0;
  }
  void BeginMember() {
    const Member& m = members_[next_++];
    Tell(HeadersOf(m));
    in_member_ = true;
    left_ = m.size;
    packed_left_ = m.packed;
    crc_ = crc32(0, nullptr, 0);
    if (m.method == 0) return;
    z_ = {};
    inflating_ = inflateInit2(&z_, -MAX_WBITS) == Z_OK;
  }
  absl::StatusOr<size_t> ReadData(char* out, size_t n) {
    constexpr size_t kMost = size_t{1} << 30;  // zlib counts in 32 bits
    n = static_cast<size_t>(std::min<uint64_t>({n, left_, kMost}));
    const char* from = zip_.data() + member().at + (member().packed - packed_left_);
    if (member().method == 0) {
      std::memcpy(out, from, n);
      packed_left_ -= n;
    } else if (!inflating_) {
      return absl::ResourceExhaustedError(absl::StrCat(file_, ": no memory to unpack ", member().name));
    } else {
      const auto in = static_cast<uInt>(std::min<uint64_t>(packed_left_, kMost));
      z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));  // zlib does not write there
      z_.avail_in = in;
      z_.next_out = reinterpret_cast<Bytef*>(out);
      z_.avail_out = static_cast<uInt>(n);
      const int code = inflate(&z_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END) return Damaged("the compressed data cannot be unpacked");
      n -= z_.avail_out;
      packed_left_ -= in - z_.avail_in;
      if (n == 0) return Damaged("it is shorter than its directory says");
    }
    crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(out), static_cast<uInt>(n));
    left_ -= n;
    return n;
  }
  absl::Status EndMember() {
    in_member_ = false;
    if (inflating_) inflateEnd(&z_);
    inflating_ = false;
    if (crc_ != member().crc) return Damaged("wrong checksum");
    Tell(Padding(member().size));
    return absl::OkStatus();
  }

  Buffer zip_;
  std::vector<Member> members_;
  std::string file_;
  size_t next_ = 0;
  std::string text_;  // headers and padding to return next, from told_ on
  size_t told_ = 0;
  bool in_member_ = false, ended_ = false, inflating_ = false;
  uint64_t left_ = 0, packed_left_ = 0;
  uLong crc_ = 0;
  z_stream z_ = {};
};

}  // namespace

bool LooksLikeZip(absl::string_view head) { return absl::StartsWith(head, "PK\x03\x04"); }

absl::StatusOr<std::unique_ptr<ByteSource>> OpenZip(std::unique_ptr<ByteSource> raw, absl::string_view file) {
  Buffer zip;
  RETURN_IF_ERROR(ReadAll(raw.get(), file, &zip));
  ASSIGN_OR_RETURN(auto members, Directory(zip.view(), file).Read());
  return std::make_unique<ZipSource>(std::move(zip), std::move(members), file);
}

}  // namespace chakra
