// Bad exports: refused with the reason, or read with a count of the rows left out. No SQL of a file ever
// runs.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "bench/nsys_generator.h"
#include "test/trace/nsys_sql.h"
#include "trace/import/nsys/export_file.h"
#include "trace/import/nsys/importer.h"
#include "trace/import/reader.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys::CHAKRA_FILE {
namespace {

using testing::Contains;
using testing::HasSubstr;

class NsysBad : public testing::Test {
 protected:
  std::string Least(const std::string& change = "") const {
    static int n = 0;
    const std::string path = folder_.At(absl::StrCat("least", ++n, ".sqlite"));
    RunSql(path, kLeast);
    if (!change.empty()) RunSql(path, change);
    return path;
  }
  static std::string ErrorOf(const std::string& path) {
    return std::string(ReadExports({path}, ReadOptions()).status().message());
  }
  void Refuses(const std::string& path, const std::vector<std::string>& texts) const {
    const std::string error = ErrorOf(path);
    for (const std::string& text : texts) EXPECT_THAT(error, HasSubstr(text));
    EXPECT_THAT(error, HasSubstr(std::filesystem::path(path).filename().string()));
  }
  static std::map<std::string, uint64_t> Notes(const std::string& path) {
    std::map<std::string, uint64_t> out;
    const absl::StatusOr<pytorch::Capture> capture = ReadExports({path}, ReadOptions());
    EXPECT_TRUE(capture.ok()) << capture.status();
    if (!capture.ok()) return out;
    for (const proto::ConversionNote& note : capture->report.notes()) out[note.kind()] += note.count();
    return out;
  }

  const ScratchFolder folder_;
};

TEST_F(NsysBad, ReadsTheSmallestExport) {
  const absl::StatusOr<pytorch::Capture> capture = ReadExports({Least()}, ReadOptions());
  ASSERT_TRUE(capture.ok()) << capture.status();
  ASSERT_EQ(capture->ranks.size(), 1u);
  const pytorch::DeviceTrace& trace = *capture->ranks[0].device;
  EXPECT_EQ(trace.events.size(), 6u);
  EXPECT_EQ(trace.base_ns, 1790000000000000000 - 5000000000);
  EXPECT_TRUE(capture->report.notes().empty());
}

// The export's own text says more than the path of a mangled name that no rule fits.
TEST_F(NsysBad, KeepsNamesThatCannotBeDemangled) {
  const std::string file = Least(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN mangledName INTEGER;"
      "INSERT INTO StringIds VALUES (5,'_Z4gemmIDu4oddI$');"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET mangledName = 5");
  const absl::StatusOr<pytorch::Capture> capture = ReadExports({file}, ReadOptions());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const pytorch::DeviceTrace& trace = *capture->ranks[0].device;
  int kernels = 0;
  for (const pytorch::Event& e : trace.events) {
    if (e.kind != pytorch::EventKind::kKernel) continue;
    ++kernels;
    EXPECT_EQ(trace.name_of(e), "gemm(float*)");
  }
  EXPECT_EQ(kernels, 2);
}

struct Change {
  const char* name;
  const char* sql;
  std::vector<std::string> error;
};

// Each change in SQL makes the smallest export invalid.
TEST_F(NsysBad, RefusesFilesThatAreNoExport) {
  const Change changes[] = {
      {"no strings", "DROP TABLE StringIds", {"StringIds", "nsys export -t sqlite"}},
      {"no operations",
       "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL",
       {"no GPU operations were recorded", "--trace=cuda,nvtx"}},
      {"empty tables",
       "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL",
       {"the recording has no operation of a GPU", "--trace=cuda,nvtx"}},
      {"another's database",
       "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE StringIds; CREATE TABLE people (name)",
       {"not an export of Nsight Systems", "people"}},
      {"a newer schema",
       "UPDATE META_DATA_EXPORT SET value='4.0.0' WHERE name='EXPORT_SCHEMA_VERSION'",
       {"version 4.0.0", "expected 3"}},
      {"a schema that is no version",
       "UPDATE META_DATA_EXPORT SET value='x' WHERE name='EXPORT_SCHEMA_VERSION'",
       {"version x"}},
      {"no column of starts",
       "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO begin",
       {"CUPTI_ACTIVITY_KIND_KERNEL has no column start", "begin"}},
      {"no correlations",
       "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN correlationId",
       {"CUPTI_ACTIVITY_KIND_RUNTIME has no column correlationId"}},
      {"a view",
       "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT "
       "* FROM k",
       {"CUPTI_ACTIVITY_KIND_KERNEL is a view", "plain table"}},
      {"a view that never ends",
       "DROP TABLE NVTX_EVENTS; CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL "
       "SELECT start+1 "
       "FROM c) SELECT start, start AS end, 59 AS eventType, 'x' AS text, 1 AS globalTid FROM c",
       {"NVTX_EVENTS is a view"}},
      {"a view of strings",
       "ALTER TABLE StringIds RENAME TO s; CREATE VIEW StringIds AS SELECT * FROM s",
       {"StringIds is a view"}},
      {"a virtual table",
       "DROP TABLE NVTX_EVENTS; CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start, end, eventType)",
       {"NVTX_EVENTS is a virtual table"}},
      {"a virtual table of r-trees",
       "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_RUNTIME USING "
       "rtree(id, a, b)",
       {"CUPTI_ACTIVITY_KIND_RUNTIME is a virtual table"}},
      {"a view of what was recorded",
       "ALTER TABLE META_DATA_EXPORT RENAME TO m; CREATE VIEW META_DATA_EXPORT AS SELECT * FROM m",
       {"META_DATA_EXPORT is a view"}},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.name);
    Refuses(Least(change.sql), change.error);
  }
}

struct Repaired {
  const char* name;
  const char* sql;
  std::map<std::string, uint64_t> notes;
};

// Bad rows are left out, and counted.
TEST_F(NsysBad, LeavesOutAndCountsBadRows) {
  const Repaired cases[] = {
      {"dangling names",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName=99, shortName=98",
       {{"nsys_name_missing", 1}}},
      {"dangling names of calls",
       "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId=77",
       {{"nsys_name_missing", 1}}},
      {"a kernel before time",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start=-9223372036854775807 WHERE correlationId=2",
       {{"nsys_absurd_time", 1}}},
      {"a kernel after time",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start=9223372036854775806, end=9223372036854775807 WHERE "
       "correlationId=2",
       {{"nsys_absurd_time", 1}}},
      {"a kernel that never ends",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end=9223372036854775807 WHERE correlationId=2",
       {{"nsys_absurd_time", 1}}},
      {"a kernel that ends before it starts",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end=start-5 WHERE correlationId=2",
       {{"nsys_negative_duration", 1}}},
      {"a range that never ends",
       "INSERT INTO NVTX_EVENTS (start,eventType,text,globalTid) VALUES (5100000000,59,'x',117440519)",
       {{"nsys_open_range", 1}}},
      {"a range whose end is not known, from a version without NULL",
       "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid) VALUES "
       "(5100000000,-1,59,'x',117440519), "
       "(5100000000,0,59,'y',117440519)",
       {{"nsys_open_range", 2}}},
      {"text for times",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start='soon' WHERE correlationId=2",
       {{"nsys_absurd_time", 1}}},
      {"dangling correlations",
       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId=correlationId+500",
       {{"launched_outside_window", 2}}},
      {"a payload of another",
       "UPDATE NVTX_EVENTS SET text='ncclAllReduce', binaryData=x'00112233445566778899aabbccddeeff00112233'",
       {{"nsys_payload_unknown", 1}}},
      {"a payload cut short",
       "UPDATE NVTX_EVENTS SET text='ncclAllReduce', "
       "binaryData=x'0100000000000000050000010000000018000000000000003800000000'",
       {{"nsys_payload_unknown", 1}}},
  };
  for (const Repaired& c : cases) {
    SCOPED_TRACE(c.name);
    const std::map<std::string, uint64_t> notes = Notes(Least(c.sql));
    for (const auto& [kind, count] : c.notes) {
      ASSERT_TRUE(notes.contains(kind)) << kind;
      EXPECT_EQ(notes.at(kind), count) << kind;
    }
  }
}

// A file with triggers is read; the triggers do not run.
TEST_F(NsysBad, TriggersNeverRun) {
  const std::string file = Least(
      "CREATE TABLE victim (n); INSERT INTO victim VALUES (1);"
      "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM victim; END");
  const std::string before = BytesOf(file);
  EXPECT_TRUE(Notes(file).empty());
  EXPECT_EQ(BytesOf(file), before);
  const absl::StatusOr<std::unique_ptr<SqliteReader>> db = SqliteReader::Open(file, kExports);
  ASSERT_TRUE(db.ok());
  EXPECT_EQ((*db)->triggers(), 1);
}

// Nodes of graphs that are clones of each other, or of themselves, have no operator.
TEST_F(NsysBad, ReadsNodesThatAreClonesOfEachOther) {
  const std::string file = Least(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId INTEGER;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = correlationId;"
      "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, globalTid INTEGER, graphNodeId INTEGER, "
      "originalGraphNodeId "
      "INTEGER); INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES "
      "(5100000000,117440519,1,2),(5100000000,117440519,2,1)");
  const absl::StatusOr<pytorch::Capture> capture = ReadExports({file}, ReadOptions());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_THAT(capture->report.warnings(),
              Contains(HasSubstr("2 of 2 kernels of CUDA graphs have no operator")));
}

TEST_F(NsysBad, RefusesTruncatedFiles) {
  const std::string whole = BytesOf(Least());
  for (const size_t left : {whole.size() - 1, whole.size() / 2, size_t{600}, size_t{100}}) {
    const std::string cut = folder_.At("cut.sqlite");
    WriteBytes(cut, whole.substr(0, left));
    Refuses(cut, {"cut short", absl::StrCat(left)});
  }
  for (const size_t left : {size_t{99}, size_t{16}, size_t{15}, size_t{0}}) {
    const std::string cut = folder_.At("cut.sqlite");
    WriteBytes(cut, whole.substr(0, left));
    EXPECT_FALSE(ErrorOf(cut).empty()) << left;
  }
}

// Every byte of the first page, and others here and there, in turn: an error, or a trace; no crash, no hang.
TEST_F(NsysBad, DamageGivesAnErrorOrATrace) {
  const std::string whole = BytesOf(Least());
  for (size_t at = 16; at < whole.size(); at += at < 512 ? 3 : 37) {
    for (const unsigned char bit : {0xff, 0x01}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const absl::StatusOr<std::unique_ptr<SqliteReader>> db =
          SqliteReader::OfBytes(damaged, "damaged.sqlite", kExports);
      if (!db.ok()) {
        EXPECT_THAT(std::string(db.status().message()), HasSubstr("damaged.sqlite"));
        continue;
      }
      const auto file = ReadExport(**db, {});
      if (!file.ok()) {
        EXPECT_THAT(std::string(file.status().message()), HasSubstr("damaged.sqlite"));
      }
    }
  }
}

TEST_F(NsysBad, AsksToExportReports) {
  const std::string report = folder_.At("job.nsys-rep");
  WriteBytes(report, std::string("\x01\x02 not for us", 14));
  for (const std::string& input : {report, folder_.At("")}) {
    const absl::StatusOr<TraceSet> set = ReadTraceSet({input}, ReadOptions());
    ASSERT_FALSE(set.ok());
    EXPECT_THAT(std::string(set.status().message()),
                HasSubstr("nsys export -t sqlite --include-blobs=true -o"));
    EXPECT_THAT(std::string(set.status().message()), HasSubstr("job.sqlite"));
  }
  const std::string raw = folder_.At("raw.qdstrm");  // no report yet
  WriteBytes(raw, "x");
  const absl::StatusOr<TraceSet> set = ReadTraceSet({raw}, ReadOptions());
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(std::string(set.status().message()),
              AllOf(HasSubstr("QdstrmImporter"), HasSubstr("raw.nsys-rep"), HasSubstr("raw.sqlite")));
}

TEST_F(NsysBad, AsksToWriteBackTheJournal) {
  const std::string file = Least();
  WriteBytes(file + "-wal", "changes");
  Refuses(file, {"-wal", "wal_checkpoint"});
}

TEST_F(NsysBad, RefusesOtherAndMissingFiles) {
  WriteBytes(folder_.At("a.sqlite"), "text");
  Refuses(folder_.At("a.sqlite"), {"not an export of Nsight Systems"});
  EXPECT_FALSE(ReadExports({folder_.At("missing.sqlite")}, ReadOptions()).ok());
}

}  // namespace
}  // namespace chakra::nsys::CHAKRA_FILE
