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
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

constexpr absl::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kHeader = SqlitePages::kHeader;
constexpr int kMostBytes = 256 << 20;  // maximum size of a value: NVTX texts are short, payloads small
constexpr int kMostColumns = 1000;
// The minimum size of a row in a page: its position, its size, its number, a header.
constexpr uint64_t kLeastRow = 4;
// Positions of columns in a row: of a column that the table lacks, and of a column whose values SQLite
// converts.
constexpr int kAbsent = -1, kConverted = -2;

// Checks that the page count in the header fits the file. The count is valid only if the two change counters
// are equal.
absl::Status CheckHeader(absl::string_view head, uint64_t bytes, absl::string_view name,
                         const SqliteFormat& format) {
  if (head.size() < kHeader || !LooksLikeSqlite(head)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not an SQLite 3 file; expected ", format.expected));
  }
  uint64_t page = SqlitePages::Number(head, 16, 2);
  if (page == 1) page = 65536;
  const uint64_t pages = SqlitePages::Number(head, 28, 4);
  if (page < 512 || (page & (page - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": its header is damaged: pages of ", page, " bytes; expected 512 to 65536"));
  }
  const bool valid = pages > 0 && SqlitePages::Number(head, 24, 4) == SqlitePages::Number(head, 92, 4);
  if (valid && pages * page > bytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": the file was cut short: its header says ",
                                                   pages * page, " bytes, it has ", bytes,
                                                   "; copy it again, or ", format.remedy));
  }
  return absl::OkStatus();
}

// Returns `path` as a URI for SQLite.
std::string UriOf(const std::string& path) {
  std::error_code error;
  const std::string full = std::filesystem::absolute(path, error).string();
  std::string uri = "file:";
  for (const char c : error ? path : full) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/._-~", c)) {
      uri += c;
    } else {
      absl::StrAppend(&uri, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string Quoted(absl::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

bool IsVirtual(absl::string_view sql) {
  const std::string upper = absl::AsciiStrToUpper(sql.substr(0, 64));
  return absl::StartsWith(upper, "CREATE VIRTUAL");
}

// Whether SQLite converts the integers of a column to floating point when it reads them, by the rules of
// section 3.1 of https://www.sqlite.org/datatype3.html.
bool IsReal(const char* declared) {
  const std::string type = absl::AsciiStrToUpper(declared == nullptr ? "" : declared);
  for (const absl::string_view other : {"INT", "CHAR", "CLOB", "TEXT", "BLOB"}) {
    if (absl::StrContains(type, other)) return false;
  }
  return absl::StrContains(type, "REAL") || absl::StrContains(type, "FLOA") ||
         absl::StrContains(type, "DOUB");
}

absl::string_view TextAt(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_blob(statement, column));
  if (text == nullptr) return "";
  return absl::string_view(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

}  // namespace

bool LooksLikeSqlite(absl::string_view head) { return absl::StartsWith(head, kMagic); }

absl::Status SqliteReader::Fail(absl::string_view doing) const {
  const int code = db_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db_);
  const std::string what = db_ == nullptr ? "no memory" : sqlite3_errmsg(db_);
  if (code == SQLITE_INTERRUPT) return CheckStop();
  if (code == SQLITE_NOMEM)
    return absl::ResourceExhaustedError(absl::StrCat(name_, ": ", doing, ": no memory"));
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": ", doing, ": the file is damaged (", what, "); ", format_.remedy));
  }
  return absl::InvalidArgumentError(absl::StrCat(name_, ": ", doing, ": ", what));
}

int SqliteReader::Authorize(void* self, int action, const char* a, const char*, const char* schema,
                            const char*) {
  const auto* db = static_cast<const SqliteReader*>(self);
  if (action == SQLITE_SELECT) return SQLITE_OK;
  if (action != SQLITE_READ || a == nullptr || schema == nullptr || absl::string_view(schema) != "main")
    return SQLITE_DENY;
  return db->readable_.contains(absl::AsciiStrToLower(a)) ? SQLITE_OK : SQLITE_DENY;
}

absl::Status SqliteReader::Harden() {
  int now = 0;
  bool good = true;
  for (const auto& [what, value] :
       std::vector<std::pair<int, int>>{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}}) {
    good = good && sqlite3_db_config(db_, what, value, &now) == SQLITE_OK;
  }
  for (const auto& [what, most] : std::vector<std::pair<int, int>>{{SQLITE_LIMIT_LENGTH, kMostBytes},
                                                                   {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                                                   {SQLITE_LIMIT_COLUMN, kMostColumns},
                                                                   {SQLITE_LIMIT_EXPR_DEPTH, 20},
                                                                   {SQLITE_LIMIT_ATTACHED, 0},
                                                                   {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                                   {SQLITE_LIMIT_WORKER_THREADS, 0}}) {
    sqlite3_limit(db_, what, most);
  }
  // Cells that overlap are detected before they are read.
  good = good && sqlite3_exec(db_, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr) == SQLITE_OK;
  readable_ = {"sqlite_master", "sqlite_schema"};
  good = good && sqlite3_set_authorizer(db_, Authorize, this) == SQLITE_OK;
  // Check every few milliseconds whether to stop.
  sqlite3_progress_handler(
      db_, 100'000, [](void*) { return StopRequested() ? 1 : 0; }, nullptr);
  return good ? absl::OkStatus() : Fail("cannot be opened read-only");
}

absl::Status SqliteReader::ReadSchema() {
  sqlite3_stmt* list = nullptr;
  if (sqlite3_prepare_v2(db_, "SELECT type, name, sql, rootpage FROM sqlite_master", -1, &list, nullptr) !=
      SQLITE_OK)
    return Fail("its list of tables cannot be read");
  std::vector<std::pair<std::string, uint32_t>> plain;  // name, and root page or 0: see Table::root
  int code;
  while ((code = sqlite3_step(list)) == SQLITE_ROW) {
    const std::string type(TextAt(list, 0)), name(TextAt(list, 1));
    if (type == "trigger") ++triggers_;
    if (type == "view") {
      ++views_;
      strange_.emplace(name, "a view");
    }
    if (type != "table") continue;
    if (IsVirtual(TextAt(list, 2))) {
      strange_.emplace(name, "a virtual table");
    } else {
      const sqlite3_int64 root = sqlite3_column_int64(list, 3);
      const bool direct = pages_ != nullptr && root <= UINT32_MAX && IsPlainRecord(TextAt(list, 2)) &&
                          pages_->IsTable(static_cast<uint32_t>(root));
      plain.emplace_back(name, direct ? static_cast<uint32_t>(root) : 0);
    }
  }
  sqlite3_finalize(list);
  if (code != SQLITE_DONE) return Fail("its list of tables cannot be read");
  for (const auto& [name, root] : plain) readable_.insert(absl::AsciiStrToLower(name));
  for (const auto& [name, root] : plain) {
    sqlite3_stmt* none = nullptr;
    const std::string sql = absl::StrCat("SELECT * FROM main.", Quoted(name), " LIMIT 0");
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &none, nullptr) != SQLITE_OK) {
      strange_.emplace(name, absl::StrCat("a table that cannot be read (", sqlite3_errmsg(db_), ")"));
      continue;
    }
    Table& table = tables_[name];
    table.root = root;
    for (int i = 0; i < sqlite3_column_count(none); ++i) {
      if (const char* column = sqlite3_column_name(none, i); column != nullptr)
        table.columns.emplace(column, IsReal(sqlite3_column_decltype(none, i)) ? kConverted : i);
    }
    sqlite3_finalize(none);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::Open(const std::string& path,
                                                                 const SqliteFormat& format) {
  std::error_code error;
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(path);
  if (!disk.ok()) return disk.status();
  std::string head(kHeader, '\0');
  ASSIGN_OR_RETURN(size_t read, ReadFully(disk->get(), head.data(), head.size()));
  head.resize(read);
  if (LooksCompressed(head)) {
    disk = FileSource::Open(path);
    if (!disk.ok()) return disk.status();
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk->get(), path));
    Buffer unpacked;
    RETURN_IF_ERROR(ReadAll(content.get(), path, &unpacked));
    absl::StatusOr<std::unique_ptr<SqliteReader>> db = OfBytes(unpacked.view(), path, format);
    if (db.ok()) (*db)->content_ = std::move(unpacked);  // moving does not move the bytes
    return db;
  }
  const uint64_t bytes = (*disk)->SizeHint();
  RETURN_IF_ERROR(CheckHeader(head, bytes, path, format));
  if (std::filesystem::file_size(path + "-wal", error) > 0 && !error) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", path, "-wal has changes that are not in the file yet; write them back first: sqlite3 ",
        path, " 'PRAGMA wal_checkpoint(TRUNCATE)'"));
  }
  std::unique_ptr<SqliteReader> db(new SqliteReader(path, format));
  db->bytes_ = bytes;
  db->pages_ = SqlitePages::OfFile(path, head);
  constexpr int kHow =
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2(UriOf(path).c_str(), &db->db_, kHow, nullptr) != SQLITE_OK)
    return db->Fail("cannot be opened");
  RETURN_IF_ERROR(db->Harden());
  RETURN_IF_ERROR(db->ReadSchema());
  return db;
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::OfBytes(absl::string_view bytes,
                                                                    absl::string_view name,
                                                                    const SqliteFormat& format) {
  RETURN_IF_ERROR(CheckHeader(bytes.substr(0, kHeader), bytes.size(), name, format));
  std::unique_ptr<SqliteReader> db(new SqliteReader(std::string(name), format));
  db->bytes_ = bytes.size();
  db->memory_ = bytes;
  db->pages_ = SqlitePages::OfBytes(bytes);
  constexpr int kHow = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY;
  if (sqlite3_open_v2(":memory:", &db->db_, kHow, nullptr) != SQLITE_OK) return db->Fail("cannot be opened");
  auto* data = reinterpret_cast<unsigned char*>(
      const_cast<char*>(bytes.data()));  // SQLite only reads it, because of the flag
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(db->db_, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return db->Fail("cannot be opened");
  RETURN_IF_ERROR(db->Harden());
  RETURN_IF_ERROR(db->ReadSchema());
  return db;
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::Again() const {
  return memory_.empty() ? Open(name_, format_) : OfBytes(memory_, name_, format_);
}

SqliteReader::~SqliteReader() { sqlite3_close(db_); }

bool SqliteReader::Has(absl::string_view table) const { return tables_.contains(std::string(table)); }

bool SqliteReader::Has(absl::string_view table, absl::string_view column) const {
  const auto it = tables_.find(std::string(table));
  return it != tables_.end() && it->second.columns.contains(std::string(column));
}

std::vector<std::string> SqliteReader::Tables() const {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

absl::Status SqliteReader::CheckPlain(absl::string_view table) const {
  const auto it = strange_.find(std::string(table));
  if (it == strange_.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name_, ": ", table, " is ", it->second,
                                                 "; expected a plain table, as ", format_.program,
                                                 " writes it"));
}

bool SqliteReader::IsDirect(absl::string_view table) const {
  const auto it = tables_.find(std::string(table));
  return it != tables_.end() && it->second.root > 0;
}

absl::StatusOr<SqliteScan> SqliteReader::Read(absl::string_view table,
                                              const std::vector<absl::string_view>& columns,
                                              const std::vector<SqliteCondition>& where) const {
  return Scan(table, columns, where, true);
}

absl::StatusOr<SqliteScan> SqliteReader::ReadThroughSqlite(absl::string_view table,
                                                           const std::vector<absl::string_view>& columns,
                                                           const std::vector<SqliteCondition>& where) const {
  return Scan(table, columns, where, false);
}

absl::StatusOr<SqliteScan> SqliteReader::Scan(absl::string_view table, std::vector<absl::string_view> columns,
                                              const std::vector<SqliteCondition>& where, bool direct) const {
  RETURN_IF_ERROR(CheckPlain(table));
  const auto it = tables_.find(std::string(table));
  if (it == tables_.end()) return absl::NotFoundError(absl::StrCat(name_, ": it has no table ", table));
  std::vector<SqliteScan::Condition> conditions;
  for (const SqliteCondition& condition : where) {
    conditions.push_back({condition, static_cast<int>(columns.size())});
    columns.push_back(condition.column);
  }
  std::vector<std::string> selected;
  std::vector<int> places;
  for (absl::string_view column : columns) {
    const bool needed = column.front() == '!';
    if (needed) column.remove_prefix(1);
    const auto place = it->second.columns.find(std::string(column));
    if (place == it->second.columns.end() && needed) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": table ", table, " has no column ", column, "; it has ",
          absl::StrJoin(it->second.columns, ", ", [](std::string* out, const auto& c) { *out += c.first; }),
          ": this version of ", format_.program, " is unknown, or another program wrote the table"));
    }
    const bool there = place != it->second.columns.end();
    places.push_back(there ? place->second : kAbsent);
    direct = direct && places.back() != kConverted;
    selected.push_back(there ? Quoted(column) : "NULL");
  }
  SqliteScan scan(this, std::string(table), std::move(conditions));
  if (direct && it->second.root > 0) {
    absl::StatusOr<std::vector<uint32_t>> leaves = pages_->Leaves(it->second.root);
    if (!leaves.ok()) return scan.Damaged(leaves.status());
    scan.direct_ = std::make_unique<SqliteRows>(pages_.get(), *std::move(leaves), places);
    return scan;
  }
  const std::string sql = absl::StrCat("SELECT ", absl::StrJoin(selected, ","), " FROM main.", Quoted(table));
  if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &scan.statement_, nullptr) != SQLITE_OK)
    return Fail(absl::StrCat("table ", table));
  return scan;
}

SqliteScan::SqliteScan(SqliteScan&& o) noexcept
    : db_(o.db_),
      table_(std::move(o.table_)),
      where_(std::move(o.where_)),
      statement_(std::exchange(o.statement_, nullptr)),
      direct_(std::move(o.direct_)),
      rows_(o.rows_) {}

SqliteScan::~SqliteScan() { sqlite3_finalize(statement_); }

absl::Status SqliteScan::Damaged(const absl::Status& why) const {
  if (absl::IsCancelled(why)) return why;
  return absl::InvalidArgumentError(absl::StrCat(db_->name_, ": table ", table_, ", after ", rows_,
                                                 " rows: the file is damaged (", why.message(), "); ",
                                                 db_->format_.remedy));
}

absl::StatusOr<bool> SqliteScan::NextRow() {
  if (direct_ != nullptr) {
    absl::StatusOr<bool> more = direct_->Next();
    if (!more.ok()) return Damaged(more.status());
    if (!*more) return false;
  } else {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_ROW) return db_->Fail(absl::StrCat("table ", table_, ", after ", rows_, " rows"));
  }
  // Pages that form a cycle, or many pointers to the same page, would make the scan almost endless.
  if (++rows_ > db_->bytes_ / kLeastRow) {
    return absl::InvalidArgumentError(absl::StrCat(db_->name_, ": table ", table_,
                                                   ": more rows than a file of ", db_->bytes_,
                                                   " bytes can hold: it is damaged; ", db_->format_.remedy));
  }
  return true;
}

absl::StatusOr<bool> SqliteScan::Next() {
  for (;;) {
    absl::StatusOr<bool> more = NextRow();
    if (!more.ok() || !*more || Counts()) return more;
  }
}

bool SqliteScan::Counts() const {
  for (const Condition& c : where_) {
    int64_t v = 0;
    if (c.is.any_value) {
      if (!Has(c.column)) return false;
      continue;
    }
    if (!Int(c.column, &v) || v < c.is.min || v > c.is.max) return false;
    if (!c.is.any_of.empty() && std::find(c.is.any_of.begin(), c.is.any_of.end(), v) == c.is.any_of.end())
      return false;
  }
  return true;
}

// Gets the value once and asks it for both type and number. This is safe without a lock, because no other
// thread uses the statement.
bool SqliteScan::IntOfStatement(int column, int64_t* out) const {
  sqlite3_value* value = sqlite3_column_value(statement_, column);
  if (sqlite3_value_type(value) != SQLITE_INTEGER) return false;
  *out = sqlite3_value_int64(value);
  return true;
}

bool SqliteScan::Has(int column) const {
  return direct_ != nullptr ? direct_->Has(column) : sqlite3_column_type(statement_, column) != SQLITE_NULL;
}

absl::string_view SqliteScan::Text(int column) const {
  if (direct_ != nullptr) return direct_->Text(column);
  const int type = sqlite3_column_type(statement_, column);
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return "";
  return TextAt(statement_, column);
}

}  // namespace chakra
