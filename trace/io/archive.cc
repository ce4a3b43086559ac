#include "trace/io/archive.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kMaxText = 1 << 20;  // maximum size of a long name or of a pax header

uint64_t Padded(uint64_t n) { return (n + kBlock - 1) / kBlock * kBlock; }

// Parses an octal number, or GNU's base-256 form. Returns false if `field` is neither.
bool ParseNumber(absl::string_view field, uint64_t* out) {
  *out = 0;
  if ((field[0] & 0x80) != 0) {
    for (size_t i = 1; i < field.size(); ++i) {
      if (*out >> 55 != 0) return false;
      *out = *out << 8 | static_cast<unsigned char>(field[i]);
    }
    return (field[0] & 0x7f) == 0;
  }
  size_t i = 0;
  while (i < field.size() && field[i] == ' ') ++i;
  for (; i < field.size() && field[i] != ' ' && field[i] != '\0'; ++i) {
    if (field[i] < '0' || field[i] > '7') return false;
    *out = *out << 3 | static_cast<uint64_t>(field[i] - '0');
  }
  return true;
}

std::string Text(absl::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

bool ChecksumOk(absl::string_view h) {
  uint64_t want = 0;
  if (!ParseNumber(h.substr(148, 8), &want)) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(h[i]);
  return sum == want;
}

// The contents of a pax header, which describe the next member: records of the form "LENGTH KEY=VALUE\n".
struct Pax {
  std::string path;
  std::optional<uint64_t> size;
  bool sparse = false;
};

void ParsePax(absl::string_view text, Pax* out) {
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    uint64_t n = 0;
    if (blank == text.npos || !absl::SimpleAtoi(text.substr(0, blank), &n)) return;
    if (n <= blank + 1 || n > text.size()) return;
    absl::string_view record = text.substr(blank + 1, n - blank - 2);
    text.remove_prefix(n);
    if (absl::ConsumePrefix(&record, "GNU.sparse.")) {
      out->sparse = true;
      if (absl::ConsumePrefix(&record, "name=")) out->path = std::string(record);
    } else if (absl::ConsumePrefix(&record, "path=")) {
      if (!out->sparse) out->path = std::string(record);
    } else if (absl::ConsumePrefix(&record, "size=")) {
      uint64_t size = 0;
      out->size = absl::SimpleAtoi(record, &size) ? std::optional(size) : std::nullopt;
    }
  }
}

}  // namespace

bool LooksLikeTar(absl::string_view head) {
  return head.size() >= kBlock && head[0] != '\0' && ChecksumOk(head.substr(0, kBlock));
}

absl::Status TarReader::Error(uint64_t at, absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(file_, ": tar archive, byte ", at, ": ", what));
}

absl::Status TarReader::ReadExact(char* out, size_t n) {
  ASSIGN_OR_RETURN(size_t got, ReadFully(source_, out, n));
  at_ += got;
  if (got == n) return absl::OkStatus();
  return Error(at_, absl::StrCat("truncated: expected ", n - got, " more bytes",
                                 name_.empty() ? "" : absl::StrCat(" in or after ", name_)));
}

absl::Status TarReader::Skip(uint64_t n) {
  std::vector<char> sink(static_cast<size_t>(std::min<uint64_t>(n, 1 << 16)));
  while (n > 0) {
    const size_t k = static_cast<size_t>(std::min<uint64_t>(n, sink.size()));
    RETURN_IF_ERROR(ReadExact(sink.data(), k));
    n -= k;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TarReader::ReadText(uint64_t size) {
  if (size > kMaxText) return Error(at_, "a header record of more than 1 MiB");
  std::string text(static_cast<size_t>(Padded(size)), '\0');
  RETURN_IF_ERROR(ReadExact(text.data(), text.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

// The GNU header of a sparse member lists the stored pieces. If they do not fit there, blocks with more of
// them follow; this skips those blocks.
absl::Status TarReader::SkipSparseMap(bool more) {
  while (more) {
    char block[kBlock];
    RETURN_IF_ERROR(ReadExact(block, kBlock));
    more = block[504] != '\0';
  }
  return absl::OkStatus();
}

absl::Status TarReader::CheckWhole() const {
  if (!sparse_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file_, "!", name_, ": stored as a sparse file; expected an archive made without tar's --sparse"));
}

absl::StatusOr<bool> TarReader::Next() {
  RETURN_IF_ERROR(Skip(pending_));
  pending_ = 0;
  Pax pax;
  for (;;) {
    char block[kBlock];
    RETURN_IF_ERROR(ReadExact(block, kBlock));
    const absl::string_view h(block, kBlock);
    if (h.find_first_not_of('\0') == h.npos) return false;
    uint64_t size = 0;
    if (!ChecksumOk(h) || !ParseNumber(h.substr(124, 12), &size)) {
      return Error(at_ - kBlock, "expected the header of a member; its checksum or size is wrong");
    }
    const char type = h[156];
    if (type == 'L' || type == 'x') {
      ASSIGN_OR_RETURN(std::string text, ReadText(size));
      if (type == 'L') pax.path = Text(text);
      if (type == 'x') ParsePax(text, &pax);
      continue;
    }
    size = pax.size.value_or(size);
    if (size > uint64_t{1} << 60) return Error(at_ - kBlock, "a member of more than 2^60 bytes");
    name_ = Text(h.substr(0, 100));
    const std::string prefix = h.substr(257, 5) == "ustar" && h[262] == '\0' ? Text(h.substr(345, 155)) : "";
    if (!prefix.empty()) name_ = absl::StrCat(prefix, "/", name_);
    if (!pax.path.empty()) name_ = pax.path;
    size_ = size;
    sparse_ = pax.sparse || type == 'S';
    if (type == 'S') {
      RETURN_IF_ERROR(SkipSparseMap(h[482] != '\0'));
    }
    pending_ = Padded(size);
    if (type == '0' || type == '\0' || type == '7' || type == 'S') return true;
    // Links, devices and folders have no data; members of unknown types may have some.
    if (type >= '1' && type <= '6') pending_ = 0;
    RETURN_IF_ERROR(Skip(pending_));
    pending_ = 0;
    pax = Pax();
  }
}

absl::Status TarReader::ReadMember(Buffer* out) {
  out->set_size(0);
  // The buffer grows as bytes arrive, because a damaged header may claim any size.
  while (out->size() < size_) {
    const size_t left = static_cast<size_t>(size_ - out->size());
    const size_t step = std::min(left, std::max(out->size(), size_t{16} << 20));
    if (!out->Reserve(out->size() + step)) {
      return absl::ResourceExhaustedError(absl::StrCat(file_, ": no memory for ", name_));
    }
    RETURN_IF_ERROR(ReadExact(out->data() + out->size(), step));
    out->set_size(out->size() + step);
    RETURN_IF_ERROR(CheckUnpacked(*source_, absl::StrCat(file_, "!", name_), out->size()));
  }
  pending_ = Padded(size_) - size_;
  return absl::OkStatus();
}

absl::Status ForEachMember(const std::string& path, const std::function<absl::Status(TarReader*)>& each,
                           std::string* sha256, uint64_t* bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> tar, OpenContent(disk.get(), path));
  TarReader reader(tar.get(), path);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) return disk->Finish(sha256, bytes);
    RETURN_IF_ERROR(each(&reader));
  }
}

}  // namespace chakra
