// Reads tables of an untrusted SQLite file.
//
// Nothing in the file is executed: the connection is read-only; views, triggers, virtual tables and functions
// in the schema are refused; and an authorizer allows statements only to read the tables that were plain
// tables when the file was opened. Columns are accessed by name, and a column that the table lacks is absent.
// Tables whose rows are plain records (sqlite_pages.h) are read without SQLite.
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
#include "trace/io/sqlite_pages.h"

struct sqlite3;
struct sqlite3_stmt;

namespace chakra {

// Whether `head` begins like a file of SQLite 3.
bool LooksLikeSqlite(absl::string_view head);

// Names of a file format, for error messages.
struct SqliteFormat {
  absl::string_view expected;  // "the export of `nsys export -t sqlite`"
  absl::string_view program;   // the program that writes such files: "nsys"
  absl::string_view remedy;    // what to do if a file is damaged: "export it again"
};

// A condition on a value, which a row must meet to be returned. A value that is not a number meets it only if
// `any_value` is set.
struct SqliteCondition {
  absl::string_view column;  // must exist
  int64_t min = INT64_MIN, max = INT64_MAX;
  std::vector<int64_t> any_of = {};  // allowed values; empty: any within the range
  bool any_value = false;            // any value except NULL, also if it is not a number
};

class SqliteScan;

class SqliteReader {
 public:
  // Opens a file, plain or compressed (which is unpacked into memory). Errors give the file and the reason:
  // it cannot be read, is not SQLite 3, is shorter than its header says, or has a journal (-wal) that was not
  // written back.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> Open(const std::string& path,
                                                            const SqliteFormat& format);
  // The same for bytes in memory, which must outlive the object. `name` is for error messages.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> OfBytes(absl::string_view bytes,
                                                               absl::string_view name,
                                                               const SqliteFormat& format);
  // Opens another reader of the same content, for another thread: a reader serves one thread at a time. This
  // reader must outlive the new one.
  absl::StatusOr<std::unique_ptr<SqliteReader>> Again() const;
  ~SqliteReader();
  SqliteReader(const SqliteReader&) = delete;
  SqliteReader& operator=(const SqliteReader&) = delete;

  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }
  // Whether the file has a plain table of this name.
  bool Has(absl::string_view table) const;
  // Whether the file has a plain table of this name with this column.
  bool Has(absl::string_view table, absl::string_view column) const;
  // Names of the plain tables, ascending.
  std::vector<std::string> Tables() const;
  // The number of triggers and views in the file. They are never executed.
  int triggers() const { return triggers_; }
  int views() const { return views_; }
  // Error if `table` exists and is a view or a virtual table; OK otherwise.
  absl::Status CheckPlain(absl::string_view table) const;

  // Starts a scan of a table. `columns` are read in this order; a column whose name has the prefix '!' must
  // exist. Next() returns only rows that meet all conditions in `where`.
  // Errors: the table does not exist or lacks a required column; the table is a view or a virtual table.
  absl::StatusOr<SqliteScan> Read(absl::string_view table, const std::vector<absl::string_view>& columns,
                                  const std::vector<SqliteCondition>& where = {}) const;
  // Whether the rows of the table are plain records, which Read() reads directly from the pages unless SQLite
  // converts a column that is read. False for a table that does not exist.
  bool IsDirect(absl::string_view table) const;
  // Like Read(), but always through SQLite; tests compare both.
  absl::StatusOr<SqliteScan> ReadThroughSqlite(absl::string_view table,
                                               const std::vector<absl::string_view>& columns,
                                               const std::vector<SqliteCondition>& where = {}) const;

 private:
  struct Table {
    std::map<std::string, int> columns;  // by name: position in a row
    uint32_t root = 0;                   // root page; 0: the rows are not plain records
  };
  SqliteReader(std::string name, const SqliteFormat& format) : name_(std::move(name)), format_(format) {}
  absl::Status Harden();
  absl::Status ReadSchema();
  absl::StatusOr<SqliteScan> Scan(absl::string_view table, std::vector<absl::string_view> columns,
                                  const std::vector<SqliteCondition>& where, bool direct) const;
  absl::Status Fail(absl::string_view doing) const;
  static int Authorize(void* self, int action, const char* a, const char* b, const char* c, const char* d);

  std::string name_;
  const SqliteFormat format_;
  uint64_t bytes_ = 0;
  Buffer content_;                      // unpacked content of a compressed file
  absl::string_view memory_;            // the bytes to read, if they are in memory
  std::unique_ptr<SqlitePages> pages_;  // null: only SQLite can read this layout
  sqlite3* db_ = nullptr;
  std::map<std::string, Table> tables_;
  std::map<std::string, std::string> strange_;  // by name: "a view", "a virtual table", ...
  std::set<std::string> readable_;              // names in lower case, for the authorizer
  int triggers_ = 0, views_ = 0;

  friend class SqliteScan;
};

// A scan of the rows of a table. A value is absent if the table lacks the column or if the value is not of
// the type that was asked for.
class SqliteScan {
 public:
  SqliteScan(SqliteScan&& o) noexcept;
  SqliteScan& operator=(SqliteScan&&) = delete;
  ~SqliteScan();
  // Goes to the next row that meets all conditions. Returns false if there is none. Error: the file is
  // damaged; with the table and the number of rows read.
  absl::StatusOr<bool> Next();
  bool Int(int column, int64_t* out) const {
    return direct_ != nullptr ? direct_->Int(column, out) : IntOfStatement(column, out);
  }
  int64_t IntOr(int column, int64_t otherwise) const {
    int64_t v = 0;
    return Int(column, &v) ? v : otherwise;
  }
  bool Has(int column) const;  // whether the value is not NULL
  // Returns text or bytes, valid until Next(); empty if absent.
  absl::string_view Text(int column) const;

 private:
  friend class SqliteReader;
  struct Condition {
    SqliteCondition is;
    int column = 0;
  };
  SqliteScan(const SqliteReader* db, std::string table, std::vector<Condition> where)
      : db_(db), table_(std::move(table)), where_(std::move(where)) {}
  bool IntOfStatement(int column, int64_t* out) const;
  absl::Status Damaged(const absl::Status& why) const;
  absl::StatusOr<bool> NextRow();
  bool Counts() const;

  const SqliteReader* db_;
  std::string table_;
  std::vector<Condition> where_;
  sqlite3_stmt* statement_ = nullptr;   // null if direct_ is set
  std::unique_ptr<SqliteRows> direct_;  // set if the rows are read without SQLite
  uint64_t rows_ = 0;                   // rows that NextRow() returned
};

}  // namespace chakra
