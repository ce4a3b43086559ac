#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "replay/sweep/export.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep {
namespace {

// `name` quoted as an SQL identifier.
std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

class Database {
 public:
  explicit Database(std::string path) : path_(std::move(path)) {}
  ~Database() {
    sqlite3_finalize(statement_);
    sqlite3_close(db_);
  }

  absl::Status Open() {
    // The file is private until it is renamed, so no journal is needed.
    if (sqlite3_open_v2(path_.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
        SQLITE_OK)
      return Error();
    return Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = NORMAL; BEGIN");
  }
  absl::Status Execute(const std::string& sql) {
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK ? absl::OkStatus()
                                                                                  : Error();
  }
  absl::Status Prepare(const std::string& sql) {
    sqlite3_finalize(statement_);
    statement_ = nullptr;
    at_ = 0;
    return sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement_, nullptr) == SQLITE_OK ? absl::OkStatus()
                                                                                       : Error();
  }
  void Add(const std::string& text) {
    sqlite3_bind_text(statement_, ++at_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void Add(double number) { sqlite3_bind_double(statement_, ++at_, number); }
  void Add(uint64_t number) { sqlite3_bind_int64(statement_, ++at_, static_cast<int64_t>(number)); }
  void Add(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return Add(*number);
    Add(std::get<std::string>(value));
  }
  void AddNull() { sqlite3_bind_null(statement_, ++at_); }
  // Ends a row.
  absl::Status Insert() {
    const bool done = sqlite3_step(statement_) == SQLITE_DONE;
    const absl::Status s = done ? absl::OkStatus() : Error();
    sqlite3_reset(statement_);
    at_ = 0;
    return s;
  }

 private:
  absl::Status Error() const {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", path_, ": ", db_ == nullptr ? "no memory" : sqlite3_errmsg(db_)));
  }

  std::string path_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int at_ = 0;
};

absl::Status WriteSweep(const Results& results, Database* db) {
  RETURN_IF_ERROR(
      db->Execute("CREATE TABLE sweep (name TEXT, description TEXT, source TEXT, version TEXT, spec TEXT)"));
  RETURN_IF_ERROR(db->Prepare("INSERT INTO sweep VALUES (?, ?, ?, ?, ?)"));
  ASSIGN_OR_RETURN(auto spec, FormatMessage(results.start->sweep(), MessageFormat::kText));
  for (const std::string& text : {results.start->sweep().name(), results.start->sweep().description(),
                                  results.start->source(), results.start->version(), spec}) {
    db->Add(text);
  }
  return db->Insert();
}

absl::Status WritePoints(const Results& results, bool wall, Database* db) {
  std::vector<std::string> columns = {"point INTEGER PRIMARY KEY", "id TEXT"};
  std::set<std::string> taken = {"point", "id", "error", "command", "wall_s"};
  // SQL identifiers ignore case: the second column of a name gets a _.
  const auto column = [&](std::string name) {
    while (!taken.insert(absl::AsciiStrToLower(name)).second) name += "_";
    return Quoted(name);
  };
  for (const SweepAxis& axis : results.space->axes()) columns.push_back(column(axis.name));
  for (const std::string& name : results.metrics) columns.push_back(absl::StrCat(column(name), " REAL"));
  columns.emplace_back("error TEXT");
  columns.emplace_back("command TEXT");
  if (wall) columns.emplace_back("wall_s REAL");
  RETURN_IF_ERROR(db->Execute(absl::StrCat("CREATE TABLE point (", absl::StrJoin(columns, ", "), ")")));
  const std::vector<std::string> marks(columns.size(), "?");
  RETURN_IF_ERROR(db->Prepare(absl::StrCat("INSERT INTO point VALUES (", absl::StrJoin(marks, ", "), ")")));
  for (const ResultRow& row : results.rows) {
    ASSIGN_OR_RETURN(auto command, CommandOf(*results.space, row.place));
    db->Add(row.number);
    db->Add(row.id);
    for (size_t a = 0; a < row.place.size(); ++a)
      db->Add(results.space->axes()[a].values[row.place[a]].value);
    for (const std::string& name : results.metrics) {
      const auto found = row.metrics.find(name);
      if (found == row.metrics.end()) {
        db->AddNull();
      } else {
        db->Add(found->second);
      }
    }
    if (row.error.empty()) {
      db->AddNull();
    } else {
      db->Add(row.error);
    }
    db->Add(command);
    if (wall) db->Add(row.record.wall_s());
    RETURN_IF_ERROR(db->Insert());
  }
  return db->Execute("COMMIT");
}

}  // namespace

absl::Status WriteSqlite(const Results& results, bool wall, const std::string& path) {
  const std::string temporary = absl::StrCat(path, ".partial-", getpid());
  absl::Status s;
  {
    Database db(temporary);
    s = db.Open();
    if (s.ok()) s = WriteSweep(results, &db);
    if (s.ok()) s = WritePoints(results, wall, &db);
  }
  if (s.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    s = absl::UnavailableError(absl::StrCat("cannot write ", path));
  }
  if (!s.ok()) unlink(temporary.c_str());
  return s;
}

}  // namespace chakra::sweep
