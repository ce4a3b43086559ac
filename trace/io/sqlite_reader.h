// Reads tables of an SQLite file that nobody vouches for.
//
// Nothing in the file is run: the connection is read-only, views, triggers, virtual tables and functions in
// the schema are refused, and an authorizer lets statements do nothing but read the tables that were listed
// as plain tables when the file was opened. Columns go by name; what a table lacks reads as absent. Tables
// whose rows are plain records (sqlite_pages.h) are read without SQLite.
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

// Whether bytes begin as a file of SQLite 3 does.
bool LooksLikeSqlite(absl::string_view head);

// What messages say of the files of a format.
struct SqliteFormat {
  absl::string_view expected;  // "the export of `nsys export -t sqlite`"
  absl::string_view program;   // that writes them: "nsys"
  absl::string_view remedy;    // for a file that is damaged: "export it again"
};

// What a row's value must be for the row to count; a value that is no number is none of these.
struct SqliteCondition {
  absl::string_view column;  // that is known to be there
  int64_t min = INT64_MIN, max = INT64_MAX;
  std::vector<int64_t> any_of = {};  // empty: any
  bool any_value = false;            // all but NULL will do, numbers or not
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
  // A further reader of the same content, which this one must outlive: a reader serves one thread at a time.
  absl::StatusOr<std::unique_ptr<SqliteReader>> Again() const;
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
  // `where`: what holds of all rows that Next() gives.
  // Errors: the table or a column that must be there is not; the table is a view or a virtual table.
  absl::StatusOr<SqliteScan> Read(absl::string_view table, const std::vector<absl::string_view>& columns,
                                  const std::vector<SqliteCondition>& where = {}) const;
  // Whether Read() takes the table's rows from their pages. False for a table that is not there.
  bool IsDirect(absl::string_view table) const;
  // The same, always through SQLite: what tests compare Read() with.
  absl::StatusOr<SqliteScan> ReadThroughSqlite(absl::string_view table,
                                               const std::vector<absl::string_view>& columns,
                                               const std::vector<SqliteCondition>& where = {}) const;

 private:
  struct Table {
    std::map<std::string, int> columns;  // by name: the place in a row
    uint32_t root = 0;                   // page; 0: rows are not plain records
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
  Buffer content_;                      // unpacked
  absl::string_view memory_;            // what is read, if it is no file
  std::unique_ptr<SqlitePages> pages_;  // null: of a layout that only SQLite reads
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
  // Goes to the next row that counts; false: there is none. Errors: the file is damaged, with the table and
  // the row.
  absl::StatusOr<bool> Next();
  bool Int(int column, int64_t* out) const {
    return direct_ != nullptr ? direct_->Int(column, out) : IntOfStatement(column, out);
  }
  int64_t IntOr(int column, int64_t otherwise) const {
    int64_t v = 0;
    return Int(column, &v) ? v : otherwise;
  }
  bool Has(int column) const;  // any value but NULL
  // Text or bytes, until Next(); empty: absent.
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
  sqlite3_stmt* statement_ = nullptr;   // or
  std::unique_ptr<SqliteRows> direct_;  // this
  uint64_t rows_ = 0;                   // that NextRow() gave
};

}  // namespace chakra
