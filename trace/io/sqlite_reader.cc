#include "trace/io/sqlite_reader.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace chakra {
namespace {

constexpr absl::string_view kMagic("SQLite format 3\0", 16);

// Allows to read tables and to ask for their columns, and nothing else: no function, no pragma, no write.
int Authorize(void*, int action, const char* first, const char*, const char*, const char* inner) {
  if (inner != nullptr) return SQLITE_DENY;  // what a view or a trigger asks for
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  if (action == SQLITE_PRAGMA && first != nullptr && absl::string_view(first) == "table_info")
    return SQLITE_OK;
  return SQLITE_DENY;
}

std::string Quoted(absl::string_view name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

// The path as a URI, so that the file can be said to be immutable.
std::string UriOf(const std::string& path) {
  std::string out = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/._-", c)) {
      out += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out + "?mode=ro&immutable=1";
}

class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) {
    code_ = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  bool ok() const { return code_ == SQLITE_OK; }
  int Step() { return sqlite3_step(statement_); }
  sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_;
};

}  // namespace

bool SqliteRow::has(int column) const { return sqlite3_column_type(statement_, column) != SQLITE_NULL; }

int64_t SqliteRow::Int(int column) const { return sqlite3_column_int64(statement_, column); }

absl::string_view SqliteRow::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return "";
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

SqliteReader::~SqliteReader() { sqlite3_close(db_); }

absl::Status SqliteReader::Error(absl::string_view doing) const {
  return absl::InvalidArgumentError(absl::StrCat(file_, ": ", std::string(doing), ": ",
                                                 db_ == nullptr ? "no memory" : sqlite3_errmsg(db_)));
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::Open(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  std::unique_ptr<SqliteReader> reader(new SqliteReader(path));
  if (sqlite3_open_v2(UriOf(path).c_str(), &reader->db_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) !=
      SQLITE_OK)
    return reader->Error("cannot be opened");
  if (absl::Status s = reader->Begin(bytes); !s.ok()) return s;
  return reader;
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::OpenMemory(absl::string_view bytes,
                                                                       const std::string& file) {
  std::unique_ptr<SqliteReader> reader(new SqliteReader(file));
  if (!LooksLikeSqlite(bytes)) return absl::InvalidArgumentError(absl::StrCat(file, ": no SQLite file"));
  if (sqlite3_open_v2(":memory:", &reader->db_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
    return reader->Error("cannot be opened");
  // Read-only: SQLite does not write to what is deserialised so.
  auto* content = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(reader->db_, "main", content, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return reader->Error("cannot be opened");
  if (absl::Status s = reader->Begin(bytes.size()); !s.ok()) return s;
  return reader;
}

absl::Status SqliteReader::Begin(uint64_t bytes) {
  bytes_ = bytes;
  constexpr std::pair<int, int> kSettings[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_ENABLE_FKEY, 0},    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
      {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}};
  for (const auto& [setting, value] : kSettings) sqlite3_db_config(db_, setting, value, nullptr);
  constexpr int kMostText = 64 << 20;
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kMostText);
  sqlite3_limit(db_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(db_, Authorize, nullptr);
  // A virtual table has no page of its own.
  Statement schema(db_, "SELECT type, name, rootpage FROM sqlite_master");
  if (!schema.ok()) return Error("its schema cannot be read, expected a whole SQLite file");
  for (;;) {
    const int code = schema.Step();
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) return Error("its schema cannot be read, expected a whole SQLite file");
    const SqliteRow row(schema.get());
    if (row.Text(0) == "table" && row.Int(2) > 0 && !absl::StartsWith(row.Text(1), "sqlite_"))
      tables_.emplace_back(row.Text(1));
  }
  std::sort(tables_.begin(), tables_.end());
  return absl::OkStatus();
}

bool SqliteReader::HasTable(absl::string_view table) const {
  return std::binary_search(tables_.begin(), tables_.end(), table);
}

absl::StatusOr<std::vector<std::string>> SqliteReader::Columns(absl::string_view table) const {
  std::vector<std::string> names;
  if (!HasTable(table)) return names;
  Statement info(db_, absl::StrCat("PRAGMA table_info(", Quoted(table), ")"));
  if (!info.ok()) return Error(absl::StrCat("table ", std::string(table)));
  while (info.Step() == SQLITE_ROW) names.emplace_back(SqliteRow(info.get()).Text(1));
  return names;
}

absl::Status SqliteReader::ForEach(absl::string_view table, const std::vector<std::string>& columns,
                                   const std::function<absl::Status(const SqliteRow&)>& row) const {
  if (!HasTable(table))
    return absl::InvalidArgumentError(absl::StrCat(file_, ": there is no table ", std::string(table)));
  const absl::StatusOr<std::vector<std::string>> there = Columns(table);
  if (!there.ok()) return there.status();
  std::vector<std::string> asked;
  for (const std::string& column : columns) {
    const bool known = std::find(there->begin(), there->end(), column) != there->end();
    asked.push_back(known ? Quoted(column) : "NULL");
  }
  Statement select(db_, absl::StrCat("SELECT ", absl::StrJoin(asked, ", "), " FROM ", Quoted(table)));
  const std::string name = absl::StrCat("table ", std::string(table));
  if (!select.ok()) return Error(name);
  // A row takes 2 bytes at least; pages that are damaged may lead in circles.
  for (uint64_t rows = 0;; ++rows) {
    const int code = select.Step();
    if (code == SQLITE_DONE) return absl::OkStatus();
    if (code != SQLITE_ROW) return Error(name);
    if (rows > bytes_)
      return absl::InvalidArgumentError(
          absl::StrCat(file_, ": ", name, " is damaged: it has more rows than the file has bytes"));
    if (absl::Status s = row(SqliteRow(select.get())); !s.ok()) return s;
  }
}

bool LooksLikeSqlite(absl::string_view head) { return absl::StartsWith(head, kMagic); }

}  // namespace chakra
