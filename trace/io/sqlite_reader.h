// Reads tables of an SQLite file that nobody vouches for.
//
// Nothing in the file is run: the connection is read-only, views, triggers, virtual tables and functions in
// the schema are refused, and an authorizer lets statements do nothing but read the tables that were listed
// as plain tables when the file was opened. Columns go by name; what a table lacks reads as absent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/byte_source.h"

struct sqlite3;
struct sqlite3_stmt;

namespace chakra {

// Whether bytes begin as a file of SQLite 3 does.
bool LooksLikeSqlite(absl::string_view head);

// What messages say of the files of a format.
struct SqliteFormat {
  absl::string_view expected;  // "the export of `nsys export -t sqlite`"
  absl::string_view program;   // that writes them: "nsys"
  absl::string_view remedy;    // for a file that is damaged: "export it again"
};

class SqliteScan;

class SqliteReader {
 public:
  // Opens a file, plain or compressed (which is unpacked into memory). Errors name the file: it cannot be
  // read, is no SQLite 3, is shorter than its header says, has a journal (-wal) that was not written back.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> Open(const std::string& path,
                                                            const SqliteFormat& format);
  // The same of bytes in memory, which must outlive the object. `name` is for messages.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> OfBytes(absl::string_view bytes,
                                                               absl::string_view name,
                                                               const SqliteFormat& format);
  ~SqliteReader();
  SqliteReader(const SqliteReader&) = delete;
  SqliteReader& operator=(const SqliteReader&) = delete;

  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }
  // Whether the file has a plain table of this name.
  bool Has(absl::string_view table) const;
  // Whether it does, with this column.
  bool Has(absl::string_view table, absl::string_view column) const;
  // Names of the plain tables, ascending.
  std::vector<std::string> Tables() const;
  // Triggers and views that lie in the file. They are never run.
  int triggers() const { return triggers_; }
  int views() const { return views_; }
  // Error if `table` exists and is a view or a virtual table; OK otherwise.
  absl::Status CheckPlain(absl::string_view table) const;

  // A pass over a table. `columns` are read in this order; a name that begins with '!' must be there.
  // `where`: a condition on columns that are known to be there, without a value from outside; "": all rows.
  // Errors: the table or a column that must be there is not; the table is a view or a virtual table.
  absl::StatusOr<SqliteScan> Read(absl::string_view table, const std::vector<absl::string_view>& columns,
                                  const std::string& where = "") const;

 private:
  struct Table {
    std::set<std::string> columns;
  };
  SqliteReader(std::string name, const SqliteFormat& format) : name_(std::move(name)), format_(format) {}
  absl::Status Harden();
  absl::Status ReadSchema();
  absl::Status Fail(absl::string_view doing) const;
  static int Authorize(void* self, int action, const char* a, const char* b, const char* c, const char* d);

  std::string name_;
  const SqliteFormat format_;
  uint64_t bytes_ = 0;
  Buffer content_;  // unpacked
  sqlite3* db_ = nullptr;
  std::map<std::string, Table> tables_;
  std::map<std::string, std::string> strange_;  // name to what it is: "a view", "a virtual table"
  std::set<std::string> readable_;              // lower case, for the authorizer
  int triggers_ = 0, views_ = 0;

  friend class SqliteScan;
};

// A pass over rows. Values of another type than asked for, and those of columns that the table lacks, are
// absent.
class SqliteScan {
 public:
  SqliteScan(SqliteScan&& o) noexcept;
  SqliteScan& operator=(SqliteScan&&) = delete;
  ~SqliteScan();
  // Goes to the next row; false: there is none. Errors: the file is damaged, with the table and the row.
  absl::StatusOr<bool> Next();
  uint64_t rows() const { return rows_; }  // that Next() gave
  bool Int(int column, int64_t* out) const;
  int64_t IntOr(int column, int64_t otherwise) const {
    int64_t v = 0;
    return Int(column, &v) ? v : otherwise;
  }
  bool Has(int column) const;  // any value but NULL
  // Text or bytes, until Next(); empty: absent.
  absl::string_view Text(int column) const;

 private:
  friend class SqliteReader;
  SqliteScan(const SqliteReader* db, std::string table, sqlite3_stmt* statement)
      : db_(db), table_(std::move(table)), statement_(statement) {}

  const SqliteReader* db_;
  std::string table_;
  sqlite3_stmt* statement_;
  uint64_t rows_ = 0;
};

}  // namespace chakra
