// Reads rows of plain tables directly from the pages of an SQLite file, several times faster than SQLite's
// virtual machine. Format: https://www.sqlite.org/fileformat2.html. Tables are B-trees of pages, and rows are
// records in the leaves. The file is not trusted: each position is checked before it is read. Thread-safe:
// each scan has its own buffers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Whether each row of the table that `sql` creates is a record of all of its columns in their order: no
// column is computed, has a default value for rows that lack it, or is an alias of the row number.
bool IsPlainRecord(absl::string_view sql);

// The pages of a file that must not change meanwhile.
class SqlitePages {
 public:
  static constexpr size_t kHeader = 100;  // bytes of the file's header
  // Reads a big-endian number of at most 4 bytes from the header.
  static uint32_t Number(absl::string_view header, size_t at, size_t bytes);

  // `head`: the first kHeader bytes of the file. Returns null if the file cannot be opened, or if its texts
  // are not UTF-8 or its page size is invalid.
  static std::unique_ptr<SqlitePages> OfFile(const std::string& path, absl::string_view head);
  // `bytes` must outlive the object.
  static std::unique_ptr<SqlitePages> OfBytes(absl::string_view bytes);
  ~SqlitePages();
  SqlitePages(const SqlitePages&) = delete;
  SqlitePages& operator=(const SqlitePages&) = delete;

  // Whether page `root` is the root of a table whose rows have numbers.
  bool IsTable(uint32_t root) const;
  // Returns the leaves of the table whose root is page `root`, in the order of rows. Errors give the page and
  // what is wrong with it. Precondition: IsTable().
  absl::StatusOr<std::vector<uint32_t>> Leaves(uint32_t root) const;

  uint32_t page_bytes() const { return page_; }
  uint32_t usable_bytes() const { return usable_; }  // of each page
  uint64_t file_bytes() const { return bytes_; }
  // Returns the bytes of `count` pages from `number` on, which are in memory or are read into `buffer`.
  // Errors: the file has no such page, or the system's reason.
  absl::StatusOr<const unsigned char*> Get(uint32_t number, uint32_t count, std::string* buffer) const;

 private:
  SqlitePages(absl::string_view head, uint64_t bytes);
  absl::Status Children(uint32_t number, std::vector<uint32_t>* out) const;

  int fd_ = -1;               // of the file; -1: the pages are in memory_
  absl::string_view memory_;  // else the whole file in memory
  uint64_t bytes_ = 0;
  uint32_t page_ = 0, usable_ = 0;
};

// A scan of the rows in `leaves`. A value is absent if the row lacks the column or if the value is not of the
// type that was asked for.
class SqliteRows {
 public:
  // `columns`: the positions of the requested columns in a row; below 0: the column is always absent.
  SqliteRows(const SqlitePages* pages, std::vector<uint32_t> leaves, const std::vector<int>& columns);

  // Goes to the next row. Returns false if there is none. Errors give the page and what is wrong with it.
  absl::StatusOr<bool> Next() {
    if (cell_ == cells_) {
      const absl::StatusOr<bool> more = NextLeaf();
      if (!more.ok() || !*more) return more;
    }
    absl::Status row = ReadCell();
    if (!row.ok()) return row;
    return true;
  }
  // `column`: an index into `columns`.
  bool Int(int column, int64_t* out) const {
    const Value& value = values_[static_cast<size_t>(column)];
    switch (value.type) {
      case 1:
        *out = static_cast<int8_t>(*value.at);
        return true;
      case 2:
        *out = static_cast<int16_t>(Load<uint16_t>(value.at));
        return true;
      case 3:
        *out = int64_t{static_cast<int8_t>(value.at[0])} * 65536 + Load<uint16_t>(value.at + 1);
        return true;
      case 4:
        *out = static_cast<int32_t>(Load<uint32_t>(value.at));
        return true;
      case 5:
        *out = int64_t{static_cast<int16_t>(Load<uint16_t>(value.at))} * (int64_t{1} << 32) +
               Load<uint32_t>(value.at + 2);
        return true;
      case 6:
        *out = static_cast<int64_t>(Load<uint64_t>(value.at));
        return true;
      case 8:
      case 9:
        *out = value.type == 9;
        return true;
      default:
        return false;
    }
  }
  bool Has(int column) const { return values_[static_cast<size_t>(column)].type != 0; }
  absl::string_view Text(int column) const;  // text or bytes; valid until Next()

 private:
  // A value in a record: its serial type (0: absent) and its bytes.
  struct Value {
    uint64_t type = 0;
    const unsigned char* at = nullptr;
  };
  // Reads a big-endian number.
  template <typename T>
  static T Load(const unsigned char* at) {
    T v;
    std::memcpy(&v, at, sizeof(T));
    if constexpr (std::endian::native == std::endian::big) return v;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(v);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
  }
  absl::StatusOr<bool> NextLeaf();
  absl::Status ReadCell();
  absl::Status ReadRecord(const unsigned char* at, uint64_t bytes);
  absl::Status Gather(const unsigned char* at, uint64_t bytes, uint64_t local);
  absl::Status Bad(absl::string_view what) const;

  const SqlitePages* pages_;
  std::vector<uint32_t> leaves_;
  std::vector<int> slot_of_;   // by column of the table, up to the last requested one; below 0: not requested
  std::vector<Value> values_;  // by requested column
  std::vector<int> symmetric_;  // pairs: an index in `columns`, and an earlier index of the same column
  size_t leaf_ = 0;            // index of the next leaf
  std::string run_, record_, overflow_;
  uint64_t overflow_pages_ = 0;            // number of overflow pages read so far
  const unsigned char* loaded_ = nullptr;  // next unread leaf of those that were read together
  uint32_t left_ = 0;                      // number of these that are left
  const unsigned char* page_ = nullptr;
  uint32_t number_ = 0, cell_ = 0, cells_ = 0;
};

}  // namespace chakra
