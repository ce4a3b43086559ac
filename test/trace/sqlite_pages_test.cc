// Rows that are read from pages equal the rows that SQLite reads.
#include "trace/io/sqlite_pages.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/trace/nsys_sql.h"
#include "trace/base/splitmix.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

constexpr SqliteFormat kFormat = {.expected = "a test's", .program = "a test", .remedy = "write it again"};

class SqlitePagesRead : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_.At(name); }
  std::string Make(const std::string& sql) const {
    static int n = 0;
    const std::string path = At(absl::StrCat("t", ++n, ".sqlite"));
    nsys::RunSql(path, sql);
    return path;
  }
  const nsys::ScratchFolder folder_;
};

// All rows of a scan as text: of each column whether it is there, its number and its text.
std::vector<std::string> Rows(absl::StatusOr<SqliteScan> scan, size_t columns, std::string* error = nullptr) {
  std::vector<std::string> out;
  EXPECT_TRUE(scan.ok() || error != nullptr) << scan.status();
  while (scan.ok()) {
    const absl::StatusOr<bool> more = scan->Next();
    if (!more.ok() && error != nullptr) *error = std::string(more.status().message());
    EXPECT_TRUE(more.ok() || error != nullptr) << more.status();
    if (!more.ok() || !*more) return out;
    std::string& row = out.emplace_back();
    for (int i = 0; i < static_cast<int>(columns); ++i) {
      int64_t v = 0;
      absl::StrAppend(&row, "|", scan->Has(i) ? "+" : "-", scan->Int(i, &v) ? absl::StrCat(v) : "", " ",
                      scan->Text(i));
    }
  }
  if (error != nullptr) *error = std::string(scan.status().message());
  return out;
}

// A value as SQL has it: numbers of all widths, none, text, bytes, fractions; some longer than a page.
std::string Value(uint64_t* random) {
  const uint64_t bits = NextSplitMix(random);
  switch (NextSplitMix(random) % 10) {
    case 0:
      return "NULL";
    case 1:
      return absl::StrCat(bits % 2);
    case 2:
      return absl::StrCat(static_cast<double>(bits % 1000) + 0.25);
    case 3:
      return absl::StrCat("'", std::string(bits % 40, 'x'), "'");
    case 4:
      return absl::StrCat("zeroblob(", bits % 17 == 0 ? bits % 9000 : bits % 30, ")");
    default:
      return absl::StrCat(static_cast<int64_t>(bits) >> (NextSplitMix(random) % 64));
  }
}

void ExpectSame(const std::string& path, const std::vector<SqliteCondition>& where = {}) {
  const std::vector<absl::string_view> columns = {"!b", "!a", "c", "missing", "!d", "a"};
  const auto db = SqliteReader::Open(path, kFormat);
  ASSERT_TRUE(db.ok()) << db.status();
  ASSERT_TRUE((*db)->IsDirect("t"));
  const std::vector<std::string> theirs = Rows((*db)->ReadThroughSqlite("t", columns, where), columns.size());
  EXPECT_EQ(Rows((*db)->Read("t", columns, where), columns.size()), theirs);
  const std::string bytes = nsys::BytesOf(path);
  const auto memory = SqliteReader::OfBytes(bytes, "memory", kFormat);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(Rows((*memory)->Read("t", columns, where), columns.size()), theirs);
}

TEST_F(SqlitePagesRead, ReadsRandomTablesLikeSqlite) {
  uint64_t random = 7;
  for (const int page : {512, 1024, 4096, 65536}) {
    std::string sql =
        absl::StrCat("PRAGMA page_size=", page,
                     ";BEGIN;CREATE TABLE u (x);CREATE TABLE t (a INTEGER, b TEXT, c, d BLOB);");
    for (int i = 0; i < 3000; ++i) {
      absl::StrAppend(&sql, "INSERT INTO t VALUES (", Value(&random), ",", Value(&random), ",",
                      Value(&random), ",", Value(&random), ");");
      if (i % 7 == 0) absl::StrAppend(&sql, "INSERT INTO u VALUES (", Value(&random), ");");
      if (i % 50 == 0) absl::StrAppend(&sql, "DELETE FROM t WHERE rowid = ", i / 2, ";");
    }
    const std::string path = Make(sql + "COMMIT;");
    SCOPED_TRACE(page);
    ExpectSame(path);
    ExpectSame(path, {{.column = "a", .min = -1000, .max = 1 << 20}});
    ExpectSame(path, {{.column = "a", .any_of = {0, 1}}, {.column = "b", .any_value = true}});
  }
}

TEST_F(SqlitePagesRead, ReadsColumnsAddedOrDroppedLater) {
  ExpectSame(
      Make("CREATE TABLE t (a INTEGER, b TEXT, x); INSERT INTO t VALUES (1,'one',9),(2,'two',8);"
           "ALTER TABLE t ADD COLUMN d INTEGER; INSERT INTO t VALUES (3,'three',7,300);"
           "ALTER TABLE t DROP COLUMN x; ALTER TABLE t RENAME COLUMN d TO e; ALTER TABLE t ADD COLUMN d"));
  ExpectSame(Make("CREATE TABLE t (a INTEGER, b TEXT, d)"));  // without rows
}

struct Other {
  const char* name;
  const char* sql;
  bool direct;
};

// SQLite reads tables whose records are not plain; the result is the same.
TEST_F(SqlitePagesRead, ReadsOtherTablesThroughSqlite) {
  const Other others[] = {
      {"numbered by a column", "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (7,1),(9,2)",
       false},
      {"without numbers",
       "CREATE TABLE t (a INTEGER PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (7,1)", false},
      {"computed", "CREATE TABLE t (b, a INTEGER AS (b+1)); INSERT INTO t VALUES (5)", false},
      {"a default", "CREATE TABLE t (b); INSERT INTO t VALUES (5); ALTER TABLE t ADD COLUMN a DEFAULT 8",
       false},
      {"fractions", "CREATE TABLE t (a REAL, b); INSERT INTO t VALUES (5,6)", true},
      {"words in comments and names",
       "CREATE TABLE t (a, -- PRIMARY KEY\n b /* WITHOUT ROWID */, alias_default)", true},
  };
  for (const Other& other : others) {
    SCOPED_TRACE(other.name);
    const auto db = SqliteReader::Open(Make(other.sql), kFormat);
    ASSERT_TRUE(db.ok()) << db.status();
    EXPECT_EQ((*db)->IsDirect("t"), other.direct);
    EXPECT_EQ(Rows((*db)->Read("t", {"!a", "!b"}), 2), Rows((*db)->ReadThroughSqlite("t", {"!a", "!b"}), 2));
  }
}

// Each byte in turn: rows or an error that names file and table, never a crash, never more rows than fit.
TEST_F(SqlitePagesRead, DamageErrorsNameTheTableAndThePage) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT, c, d);";
  for (int i = 0; i < 60; ++i)
    absl::StrAppend(&sql, "INSERT INTO t VALUES (", i, ",'row',zeroblob(", i * 20, "),2);");
  const std::string whole = nsys::BytesOf(Make(sql));
  int refused = 0;
  for (size_t at = 512; at < whole.size(); at += 7) {
    for (const unsigned char bits : {0xff, 0x04}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ bits);
      const auto db = SqliteReader::OfBytes(bytes, "damaged.sqlite", kFormat);
      if (!db.ok() || !(*db)->IsDirect("t")) continue;
      std::string error;
      EXPECT_LE(Rows((*db)->Read("t", {"!a", "!b", "!c", "!d"}), 4, &error).size(), bytes.size());
      if (error.empty()) continue;
      ++refused;
      EXPECT_THAT(error, HasSubstr("damaged.sqlite: table t, after "));
      EXPECT_THAT(error, HasSubstr("write it again"));
    }
  }
  EXPECT_GT(refused, 50);
}

// Reading ends if the pages of a tree point at each other.
TEST_F(SqlitePagesRead, RefusesACyclicTree) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t (a INTEGER, b TEXT, c, d);";
  for (int i = 0; i < 400; ++i)
    absl::StrAppend(&sql, "INSERT INTO t VALUES (", i, ",'a row of some length',3,2);");
  std::string bytes = nsys::BytesOf(Make(sql));
  ASSERT_EQ(bytes[512], 5);  // the root is an inner page: its last child becomes itself
  bytes.replace(512 + 8, 4, std::string("\0\0\0\2", 4));
  const auto db = SqliteReader::OfBytes(bytes, "circle.sqlite", kFormat);
  ASSERT_TRUE(db.ok());
  std::string error;
  Rows((*db)->Read("t", {"!a"}), 1, &error);
  EXPECT_THAT(error, HasSubstr("circle.sqlite: table t, after"));
  EXPECT_THAT(error, HasSubstr("page 2"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
