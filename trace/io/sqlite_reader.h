// Reads SQLite files of other programs, which may be damaged or hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace chakra {

// One row of a table, of the columns that were asked for, in their order. Valid until the next row.
class SqliteRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  // Whether the column has a value: it is in the table, and is not null.
  bool has(int column) const;
  // 0 where there is none, and of what is no number.
  int64_t Int(int column) const;
  // "" where there is none.
  absl::string_view Text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// A file opened read-only and immutable, with the schema distrusted: only ordinary tables are read, one whole
// table at a time. Views, virtual tables and triggers are never run, and no SQL comes from the file or from
// its user.
class SqliteReader {
 public:
  // Errors name the file: it cannot be opened; it is no SQLite file; its schema is damaged.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> Open(const std::string& path);
  // The same of a file in memory, which must outlive the reader. `file` is for messages.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> OpenMemory(absl::string_view bytes,
                                                                  const std::string& file);
  ~SqliteReader();
  SqliteReader(const SqliteReader&) = delete;
  SqliteReader& operator=(const SqliteReader&) = delete;

  // The ordinary tables, sorted.
  const std::vector<std::string>& tables() const { return tables_; }
  bool HasTable(absl::string_view table) const;
  // The names of its columns; none if there is no such table.
  absl::StatusOr<std::vector<std::string>> Columns(absl::string_view table) const;

  // Calls `row` for each row of `table`, in the order of the file, until it fails. Columns that the table
  // lacks have no value. Errors name file and table: it is not there; it is damaged.
  absl::Status ForEach(absl::string_view table, const std::vector<std::string>& columns,
                       const std::function<absl::Status(const SqliteRow&)>& row) const;

 private:
  explicit SqliteReader(std::string file) : file_(std::move(file)) {}
  absl::Status Begin(uint64_t bytes);
  absl::Status Error(absl::string_view doing) const;

  std::string file_;
  sqlite3* db_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<std::string> tables_;
};

// Whether content begins like a SQLite file.
bool LooksLikeSqlite(absl::string_view head);

}  // namespace chakra
