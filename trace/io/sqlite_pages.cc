#include "trace/io/sqlite_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"

namespace chakra {
namespace {

constexpr unsigned char kInterior = 5, kLeaf = 13;  // types of pages of tables whose rows have numbers
constexpr size_t kInteriorHeader = 12, kLeafHeader = 8;
constexpr int kDeepest = 20;                   // maximum depth of a tree, as in SQLite
constexpr uint32_t kRun = 32;                  // maximum number of pages that are read together
constexpr uint64_t kMostRowBytes = 256 << 20;  // maximum size of a row
constexpr uint32_t kUtf8 = 1;

uint32_t BigEndian(const unsigned char* at, size_t bytes) {
  uint32_t v = 0;
  for (size_t i = 0; i < bytes; ++i) v = v << 8 | at[i];
  return v;
}

// Reads a number of 1 to 9 bytes. Returns null if the number does not end before `end`.
inline const unsigned char* Varint(const unsigned char* at, const unsigned char* end, uint64_t* out) {
  if (at < end && *at < 0x80) {
    *out = *at;
    return at + 1;
  }
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i, ++at) {
    if (at >= end) return nullptr;
    v = v << 7 | (*at & 0x7f);
    if (*at < 0x80) {
      *out = v;
      return at + 1;
    }
  }
  if (at >= end) return nullptr;
  *out = v << 8 | *at;
  return at + 1;
}

constexpr std::array<uint8_t, 12> kBytesOf = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};  // by serial type
inline uint64_t BytesOf(uint64_t type) { return type < 12 ? kBytesOf[type] : (type - 12) / 2; }

}  // namespace

bool IsPlainRecord(absl::string_view sql) {
  std::string word;
  for (size_t i = 0; i <= sql.size(); ++i) {
    const char c = i < sql.size() ? sql[i] : ' ';
    const absl::string_view two = sql.substr(std::min(i, sql.size()), 2);
    if (two == "--" || two == "/*") {
      const absl::string_view close = two == "--" ? "\n" : "*/";
      const size_t end = sql.find(close, i + 2);
      if (end == sql.npos) return false;
      i = end + close.size() - 1;
    } else if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += absl::ascii_toupper(static_cast<unsigned char>(c));
      continue;
    }
    for (const absl::string_view other : {"PRIMARY", "WITHOUT", "DEFAULT", "GENERATED", "AS"}) {
      if (word == other) return false;
    }
    word.clear();
  }
  return true;
}

uint32_t SqlitePages::Number(absl::string_view header, size_t at, size_t bytes) {
  return BigEndian(reinterpret_cast<const unsigned char*>(header.data()) + at, bytes);
}

SqlitePages::SqlitePages(absl::string_view head, uint64_t bytes) : bytes_(bytes) {
  page_ = Number(head, 16, 2);
  if (page_ == 1) page_ = 65536;
  usable_ = page_ - Number(head, 20, 1);
}

SqlitePages::~SqlitePages() {
  if (fd_ >= 0) close(fd_);
}

namespace {

// Whether the header describes a layout that this file can read.
bool IsKnown(absl::string_view head) {
  if (head.size() < SqlitePages::kHeader) return false;
  const uint32_t page = SqlitePages::Number(head, 16, 2), reserved = SqlitePages::Number(head, 20, 1);
  return SqlitePages::Number(head, 56, 4) == kUtf8 &&
         (page == 1 || (page >= 512 && (page & (page - 1)) == 0 && page - reserved >= 480));
}

}  // namespace

std::unique_ptr<SqlitePages> SqlitePages::OfFile(const std::string& path, absl::string_view head) {
  if (!IsKnown(head)) return nullptr;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat is {};
  std::unique_ptr<SqlitePages> out(
      new SqlitePages(head, fstat(fd, &is) == 0 ? static_cast<uint64_t>(is.st_size) : 0));
  out->fd_ = fd;
  return out;
}

std::unique_ptr<SqlitePages> SqlitePages::OfBytes(absl::string_view bytes) {
  if (!IsKnown(bytes.substr(0, kHeader))) return nullptr;
  std::unique_ptr<SqlitePages> out(new SqlitePages(bytes.substr(0, kHeader), bytes.size()));
  out->memory_ = bytes;
  return out;
}

absl::StatusOr<const unsigned char*> SqlitePages::Get(uint32_t number, uint32_t count,
                                                      std::string* buffer) const {
  const uint64_t from = (uint64_t{number} - 1) * page_, bytes = uint64_t{count} * page_;
  if (number == 0 || from + bytes > bytes_)
    return absl::InvalidArgumentError(absl::StrCat("there is no page ", uint64_t{number} + count - 1));
  if (fd_ < 0) return reinterpret_cast<const unsigned char*>(memory_.data()) + from;
  if (buffer->size() < bytes) buffer->resize(bytes);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd_, buffer->data() + done, bytes - done, static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "page ", number, " cannot be read: ", n == 0 ? "the file ends" : std::strerror(errno)));
    }
    done += static_cast<uint64_t>(n);
  }
  return reinterpret_cast<const unsigned char*>(buffer->data());
}

// Appends the children of an interior page.
absl::Status SqlitePages::Children(uint32_t number, std::vector<uint32_t>* out) const {
  std::string buffer;
  ASSIGN_OR_RETURN(const unsigned char* const page, Get(number, 1, &buffer));
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("page ", number, ": ", what));
  };
  if (*page != kInterior) return bad("not an inner page of a table");
  const uint32_t cells = BigEndian(page + 3, 2);
  if (kInteriorHeader + 2 * uint64_t{cells} > usable_) return bad("more cells than fit");
  for (uint32_t i = 0; i < cells; ++i) {
    const uint32_t at = BigEndian(page + kInteriorHeader + 2 * size_t{i}, 2);
    if (at + 4 > usable_) return bad("a cell is outside of the page");
    out->push_back(BigEndian(page + at, 4));
  }
  out->push_back(BigEndian(page + 8, 4));
  return absl::OkStatus();
}

bool SqlitePages::IsTable(uint32_t root) const {
  std::string buffer;
  if (root <= 1) return false;  // the first page is the list of tables
  const absl::StatusOr<const unsigned char*> page = Get(root, 1, &buffer);
  return page.ok() && (**page == kInterior || **page == kLeaf);
}

absl::StatusOr<std::vector<uint32_t>> SqlitePages::Leaves(uint32_t root) const {
  std::vector<uint32_t> level = {root}, below;
  std::string buffer;
  uint64_t seen = 0;
  for (int depth = 0; depth < kDeepest; ++depth) {
    ASSIGN_OR_RETURN(const unsigned char* const first, Get(level.front(), 1, &buffer));
    if (*first == kLeaf) return level;
    below.clear();
    for (const uint32_t page : level) {
      RETURN_IF_ERROR(Children(page, &below));
      if (seen + below.size() > bytes_ / page_)  // a valid tree has each page once
        return absl::InvalidArgumentError(
            absl::StrCat("page ", page, ": its table has more pages than the file"));
    }
    seen += below.size();
    level.swap(below);
  }
  return absl::InvalidArgumentError(absl::StrCat("page ", root, ": its tree is deeper than ", kDeepest));
}

SqliteRows::SqliteRows(const SqlitePages* pages, std::vector<uint32_t> leaves,
                       const std::vector<int>& columns)
    : pages_(pages), leaves_(std::move(leaves)), values_(columns.size()) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0) continue;
    const auto column = static_cast<size_t>(columns[i]);
    if (slot_of_.size() <= column) slot_of_.resize(column + 1, -1);
    if (slot_of_[column] < 0) {
      slot_of_[column] = static_cast<int>(i);
    } else {
      symmetric_.insert(symmetric_.end(), {static_cast<int>(i), slot_of_[column]});
    }
  }
}

absl::Status SqliteRows::Bad(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("page ", number_, ": ", what));
}

// Goes to the next leaf that has rows. Leaves that are adjacent in the file are read together.
absl::StatusOr<bool> SqliteRows::NextLeaf() {
  do {
    if (leaf_ == leaves_.size()) return false;
    number_ = leaves_[leaf_];
    if (left_ == 0) {
      RETURN_IF_ERROR(CheckStop());
      uint32_t count = 1;
      while (count < kRun && leaf_ + count < leaves_.size() && leaves_[leaf_ + count] == number_ + count)
        ++count;
      ASSIGN_OR_RETURN(loaded_, pages_->Get(number_, count, &run_));
      left_ = count;
    }
    page_ = loaded_;
    loaded_ += pages_->page_bytes();
    --left_;
    ++leaf_;
    if (*page_ != kLeaf) return Bad("not a leaf of a table");
    cell_ = 0;
    cells_ = BigEndian(page_ + 3, 2);
    if (kLeafHeader + 2 * uint64_t{cells_} > pages_->usable_bytes()) return Bad("more rows than fit");
  } while (cells_ == 0);
  return true;
}

absl::Status SqliteRows::ReadCell() {
  const uint32_t usable = pages_->usable_bytes();
  const unsigned char* const end = page_ + usable;
  const uint32_t place = BigEndian(page_ + kLeafHeader + 2 * size_t{cell_}, 2);
  ++cell_;
  if (place < kLeafHeader || place >= usable) return Bad("a row is outside of the page");
  const unsigned char* at = page_ + place;
  uint64_t bytes = 0, row = 0;
  at = Varint(at, end, &bytes);
  if (at != nullptr) at = Varint(at, end, &row);
  if (at == nullptr) return Bad("a row is outside of the page");
  const uint64_t most = usable - 35;
  if (bytes <= most) {
    if (bytes > static_cast<uint64_t>(end - at)) return Bad("a row is outside of the page");
    return ReadRecord(at, bytes);
  }
  if (bytes > kMostRowBytes || bytes > pages_->file_bytes()) return Bad("a row is too long");
  const uint64_t least = (usable - 12) * 32 / 255 - 23, fits = least + (bytes - least) % (usable - 4);
  const uint64_t local = fits <= most ? fits : least;
  if (local + 4 > static_cast<uint64_t>(end - at)) return Bad("a row is outside of the page");
  RETURN_IF_ERROR(Gather(at, bytes, local));
  return ReadRecord(reinterpret_cast<const unsigned char*>(record_.data()), bytes);
}

// Assembles a row that continues in overflow pages.
absl::Status SqliteRows::Gather(const unsigned char* at, uint64_t bytes, uint64_t local) {
  record_.assign(reinterpret_cast<const char*>(at), local);
  uint32_t next = BigEndian(at + local, 4);
  while (record_.size() < bytes) {
    if (++overflow_pages_ > pages_->file_bytes() / pages_->page_bytes())
      return Bad("overflow pages belong to several rows, or form a cycle");
    ASSIGN_OR_RETURN(const unsigned char* const page, pages_->Get(next, 1, &overflow_));
    const uint64_t here = std::min<uint64_t>(bytes - record_.size(), pages_->usable_bytes() - 4);
    record_.append(reinterpret_cast<const char*>(page) + 4, here);
    next = BigEndian(page, 4);
  }
  return absl::OkStatus();
}

absl::Status SqliteRows::ReadRecord(const unsigned char* at, uint64_t bytes) {
  for (Value& value : values_) value.type = 0;
  uint64_t header = 0;
  const unsigned char* type_at = Varint(at, at + bytes, &header);
  if (type_at == nullptr || header > bytes) return Bad("a row's header is longer than the row");
  const unsigned char* const types_end = at + header;
  uint64_t offset = header;
  for (const int slot : slot_of_) {
    if (type_at >= types_end) break;  // columns that were added after the row was written
    uint64_t type = 0;
    type_at = Varint(type_at, types_end, &type);
    if (type_at == nullptr) return Bad("a row's header ends early");
    const uint64_t size = BytesOf(type);
    if (size > bytes - offset) return Bad("a value is outside of its row");
    if (slot >= 0 && type != 10 && type != 11) values_[static_cast<size_t>(slot)] = {type, at + offset};
    offset += size;
  }
  for (size_t i = 0; i < symmetric_.size(); i += 2)
    values_[static_cast<size_t>(symmetric_[i])] = values_[static_cast<size_t>(symmetric_[i + 1])];
  return absl::OkStatus();
}

absl::string_view SqliteRows::Text(int column) const {
  const Value& value = values_[static_cast<size_t>(column)];
  if (value.type < 12) return "";
  return {reinterpret_cast<const char*>(value.at), BytesOf(value.type)};
}

}  // namespace chakra
