// rocprofv3's JSON and rocpd: both schemas give the same job, calls launch kernels, RCCL's calls have groups
// and sizes, and damaged or hostile files are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/rocpd_builder.h"
#include "trace/import/reader.h"
#include "trace/import/rocprof/importer.h"
#include "trace/import/rocprof/rocpd.h"
#include "trace/io/file.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::rocprof::CHAKRA_FILE {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing_rocpd::Database;
using testing_rocpd::Schema;

// A file in a folder of this test: other tests run at the same time.
std::string At(const std::string& name) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/rocprof_",
                                          testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  return absl::StrCat(folder, "/", name);
}

// Two ranks: a copy, a kernel, an all-reduce of 1,024 floats in each. Rank 1 comes to the all-reduce 5 us
// later.
std::string WriteRank(Schema schema, int rank) {
  const std::string path =
      At(absl::StrCat("job_", schema == Schema::kRows ? "rows" : "tracks", "_rank", rank, ".db"));
  Database db(path, schema, rank, 2);
  const int64_t base = 1'000'000'000'000 + rank * 5'000;
  const std::string comm = absl::StrCat("0x7f3a5c00d01", rank);
  db.Call("RCCL_API", "ncclCommInitRank", base - 9'000, base - 8'000, 10,
          {{"comm", comm}, {"nranks", "2"}, {"rank", absl::StrCat(rank)}});
  db.Call("HIP_RUNTIME_API", "hipMemcpyAsync", base, base + 3'000, 11);
  db.Copy(base + 4'000, base + 9'000, 11, 4096);
  db.Call("HIP_RUNTIME_API", "hipModuleLaunchKernel", base + 10'000, base + 12'000, 12);
  db.Kernel("Cijk_Ailk_Bljk_BBS_BH_MT64x32x256", base + 16'000, base + 26'000, 12);
  db.Call("RCCL_API", "ncclAllReduce", base + 20'000, base + 30'000, 13,
          {{"count", "1024"}, {"datatype", "7"}, {"op", "0"}, {"comm", comm}});
  db.Call("HIP_RUNTIME_API", "hipExtLaunchKernel", base + 22'000, base + 28'000, 14);
  db.Kernel("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", base + 32'000, 1'000'000'060'000, 14,
            9);
  db.Mark("iteration 3", base + 1'000, base + 31'000);
  return path;
}

// The nodes of all ranks, as text.
std::string Describe(const TraceSet& set) {
  std::string out;
  for (const RankTrace& rank : set.ranks) {
    const Graph& g = *rank.graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      if (g.type[row] == NodeType::kMetadata) continue;
      absl::StrAppend(&out, rank.rank, " ", g.name_of(row), " ", static_cast<int>(g.type[row]), " ",
                      g.is_cpu(row) ? "host" : "device", " ", g.duration[row].picos(), "\n");
    }
  }
  return out;
}

TEST(Rocprof, BothRocpdSchemasGiveTheSameJob) {
  std::string described[2];
  for (const Schema schema : {Schema::kRows, Schema::kTracks}) {
    const auto set = ReadTraceSet({WriteRank(schema, 0), WriteRank(schema, 1)}, {});
    ASSERT_TRUE(set.ok()) << set.status();
    ASSERT_THAT(set->ranks, SizeIs(2));
    described[static_cast<int>(schema)] = Describe(*set);
    // The kernel's name does not say which collective runs; RCCL's call does.
    for (const RankTrace& rank : set->ranks) {
      const Graph& g = *rank.graph;
      int collectives = 0;
      for (uint32_t row = 0; row < g.size(); ++row) {
        if (g.type[row] != NodeType::kCollective) continue;
        ++collectives;
        EXPECT_TRUE(absl::StartsWith(g.name_of(row), "ncclDevKernel_Generic"));
      }
      EXPECT_EQ(collectives, 1) << described[static_cast<int>(schema)];
    }
  }
  EXPECT_EQ(described[0], described[1]);
  EXPECT_THAT(described[0], AllOf(HasSubstr("Memcpy HtoD"), HasSubstr("hipModuleLaunchKernel"),
                                  HasSubstr("ProfilerStep#3")));
}

TEST(Rocprof, CallsLaunchTheirKernels) {
  const auto capture = ReadRecordings({WriteRank(Schema::kRows, 0), WriteRank(Schema::kRows, 1)}, {});
  ASSERT_TRUE(capture.ok()) << capture.status();
  for (const proto::RankConversion& rank : capture->report.ranks()) {
    EXPECT_EQ(rank.device_events(), 3u);
    EXPECT_EQ(rank.launched(), 3u);
    EXPECT_EQ(rank.comm_nodes(), 1u);
    EXPECT_EQ(rank.comm_node_bytes(), 4096u);
    EXPECT_EQ(rank.steps(), 1u);
  }
  EXPECT_EQ(capture->report.world_size(), 2);
  EXPECT_EQ(capture->report.warnings_size(), 0);
}

TEST(Rocprof, WarnsOfMissingRecords) {
  const std::string path = At("kernels_only.db");
  Database db(path, Schema::kRows, 0, 1);
  db.Kernel("ncclDevKernel_Generic_1", 1'000'000, 2'000'000, 1);
  db.Close();
  const auto capture = ReadRecordings({path}, {});
  ASSERT_TRUE(capture.ok()) << capture.status();
  std::string warnings;
  for (const std::string& w : capture->report.warnings()) warnings += w;
  EXPECT_THAT(warnings, AllOf(HasSubstr("--hip-trace"), HasSubstr("--rccl-trace"),
                              HasSubstr("1 communication kernels")));
}

// The JSON that rocprofv3 writes for the same job as WriteRank(kRows, 0), by the names in generateJSON.cpp
// (ROCm/rocprofiler-sdk, source/lib/output).
std::string Json(absl::string_view records) {
  return absl::StrCat(
      R"({"rocprofiler-sdk-tool": [{"metadata": {"node": {"hostname": "node0"}, "pid": 77, "init_time": 1, "fini_time": 2},
 "agents": [{"id": {"handle": 1}, "type": 1, "name": "EPYC"},
            {"id": {"handle": 2}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "logical_node_type_id": 0}],
 "strings": {"buffer_records": [{"kind": "NONE", "operations": []},
                                {"kind": "HIP_RUNTIME_API", "operations": ["hipMemcpyAsync", "hipModuleLaunchKernel"]},
                                {"kind": "RCCL_API", "operations": ["ncclAllReduce"]}], "marker_api": [{"key": 5, "value": "step 1"}]},
 "kernel_symbols": [{"kernel_id": 7, "formatted_kernel_name": "gemm", "kernel_name": "gemm.kd"}],
 "buffer_records": )",
      records, "}]}");
}

std::string Dispatch(int64_t begin, int64_t end, int64_t correlation, int64_t kernel = 7, int64_t agent = 2) {
  return absl::StrCat(
      R"({"kind": 11, "operation": 2, "thread_id": 77, "correlation_id": {"internal": )", correlation,
      R"(, "external": 0}, "start_timestamp": )", begin, R"(, "end_timestamp": )", end,
      R"(, "dispatch_info": {"agent_id": {"handle": )", agent,
      R"(}, "queue_id": {"handle": 3}, "kernel_id": )", kernel,
      R"(, "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 1024, "y": 1, "z": 1}}, "stream_id": {"handle": 4}})");
}

absl::StatusOr<pytorch::Capture> ReadText(const std::string& text) {
  const std::string path = At("results.json");
  std::ofstream(path, std::ios::binary) << text;
  return ReadRecordings({path}, {});
}

TEST(Rocprof, ReadsLaunchesCopiesAndMarksOfJson) {
  const auto capture =
      ReadText(Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(20'000, 30'000, 2), R"(],
 "hip_api": [{"kind": 1, "operation": 0, "thread_id": 77, "correlation_id": {"internal": 1}, "start_timestamp": 10000, "end_timestamp": 11000},
             {"kind": 1, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 2}, "start_timestamp": 12000, "end_timestamp": 13000}],
 "memory_copy": [{"kind": 8, "operation": 2, "thread_id": 77, "correlation_id": {"internal": 1}, "start_timestamp": 14000, "end_timestamp": 15000,
                  "src_agent_id": {"handle": 1}, "dst_agent_id": {"handle": 2}, "bytes": 512, "stream_id": {"handle": 4}}],
 "marker_api": [{"kind": 3, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 5}, "start_timestamp": 9000, "end_timestamp": 31000}]})")));
  ASSERT_TRUE(capture.ok()) << capture.status();
  const pytorch::DeviceTrace& d = *capture->ranks[0].device;
  EXPECT_EQ(capture->report.ranks(0).launched(), 2u);
  EXPECT_EQ(capture->report.ranks(0).steps(), 1u);
  EXPECT_EQ(d.devices[0], "AMD Instinct MI300X");
  for (const pytorch::Event& e : d.events) {
    if (e.kind == pytorch::EventKind::kKernel) {
      EXPECT_EQ(d.device[e.extra].grid[0], 4u);  // blocks, not work items
    } else if (e.kind == pytorch::EventKind::kMemcpy) {
      EXPECT_EQ(d.device[e.extra].bytes, 512);
    }
  }
}

TEST(Rocprof, BadJsonIsRefused) {
  const std::string good = Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(10, 20, 1), "]}"));
  ASSERT_TRUE(ReadText(good).ok());
  const std::pair<std::string, const char*> cases[] = {
      {good.substr(0, good.size() - 1), "expected the whole JSON"},
      {good.substr(0, good.size() / 2), "expected the whole JSON"},
      {R"({"rocprofiler-sdk-tool": 3})", "expected the whole JSON"},
      {R"({"rocprofiler-sdk-tool": []})", "no kernel dispatch"},
      {R"({"rocprofiler-sdk-tool": [{}]})", "no kernel dispatch"},
      {R"({"rocprofiler-sdk-tool": [7]})", "expected the whole JSON"},
      {Json("[]"), "expected the whole JSON"},
      {Json("{}"), "no kernel dispatch"},
      {Json(R"({"kernel_dispatch": {}})"), "expected the whole JSON"},
      {Json(R"({"kernel_dispatch": [{}]})"), "kernel_dispatch[0]"},
      {Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(10, 20, 1), ",", Dispatch(-5, 20, 1), "]}")),
       "kernel_dispatch[1]: start_timestamp -5"},
      {Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(10, INT64_MAX, 1), "]}")), "below 2^61"},
      {absl::StrReplaceAll(good, {{"\"start_timestamp\": 10", "\"start_timestamp\": \"ten\""}}),
       "start_timestamp 0"},
      {absl::StrReplaceAll(good, {{"\"start_timestamp\": 10", "\"start_timestamp\": 1e400"}}),
       "results.json"},
      {absl::StrReplaceAll(good, {{"[{\"metadata\"", "[{\"metadata\" 3"}}), "expected the whole JSON"},
      {good.substr(0, good.size() * 3 / 4), "expected the whole JSON"},
      {good.substr(0, good.find("kernel_symbols")), "expected the whole JSON"},
      {good + "]", ""},
      {absl::StrReplaceAll(
           good, {{"\"buffer_records\": {\"kernel_dispatch\"", "\"buffer_records\": [\"kernel_dispatch\""}}),
       ""},
      {absl::StrReplaceAll(good, {{"\"kernel_symbols\": [", "\"kernel_symbols\": [7, "}}), ""},
      {absl::StrReplaceAll(good, {{"\"agents\": [", "\"agents\": [null, "}}), ""},
      {absl::StrReplaceAll(good, {{"\"dispatch_info\": {", "\"dispatch_info\": 3, \"x\": {"}}), ""},
      {absl::StrReplaceAll(good, {{"\"end_timestamp\": 20", "\"end_timestamp\": -20"}}), ""},
      {absl::StrReplaceAll(good, {{"\"end_timestamp\": 20", "\"end_timestamp\": null"}}), ""},
      {absl::StrReplaceAll(good, {{"\"start_timestamp\": 10", "\"start_timestamp\": 99999999999999999999"}}),
       ""},
      {absl::StrReplaceAll(good, {{"\"strings\": {", "\"strings\": [{"}}), ""},
  };
  for (const auto& [text, says] : cases) {
    const auto capture = ReadText(text);
    EXPECT_FALSE(capture.ok()) << text;
    EXPECT_THAT(std::string(capture.status().message()), AllOf(HasSubstr("results.json"), HasSubstr(says)));
  }
  // Repaired, and counted.
  const std::pair<std::string, const char*> repaired[] = {
      {Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(20, 10, 1), "]}")),
       "rocprof_negative_duration"},
      {Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(10, 20, 1, 99), "]}")),
       "rocprof_dangling_kernel"},
      {Json(absl::StrCat(R"({"kernel_dispatch": [)", Dispatch(10, 20, 1, 7, 99), "]}")),
       "rocprof_dangling_agent"},
      {Json(absl::StrCat(
           R"({"kernel_dispatch": [)", Dispatch(10, 20, 1),
           R"(], "hip_api": [{"kind": 40, "operation": 2, "start_timestamp": 5, "end_timestamp": 6}]})")),
       "rocprof_unknown_operation"},
  };
  for (const auto& [text, kind] : repaired) {
    const auto capture = ReadText(text);
    ASSERT_TRUE(capture.ok()) << capture.status();
    bool found = false;
    for (const proto::ConversionNote& note : capture->report.notes()) found = found || note.kind() == kind;
    EXPECT_TRUE(found) << kind;
  }
}

// SQL that changes a good database, and the reader's error; "" if there is none.
TEST(Rocprof, BadDatabasesAreRefused) {
  const std::string good = WriteRank(Schema::kTracks, 0);
  const std::string id = testing_rocpd::kId;
  const auto table = [&](absl::string_view name) { return absl::StrCat("rocpd_", name, "_", id); };
  const std::pair<std::string, const char*> cases[] = {
      {absl::StrCat("DROP TABLE ", table("kernel_dispatch"), "; DROP TABLE ", table("region")),
       "not a rocpd database"},
      {absl::StrCat("DELETE FROM ", table("kernel_dispatch"), "; DELETE FROM ", table("region"),
                    "; DELETE FROM ", table("memory_copy")),
       "no kernel dispatch"},
      {absl::StrCat("DROP TABLE ", table("timestamp")), "no times"},
      {absl::StrCat("DELETE FROM ", table("timestamp"), " WHERE id = 3"), "no times"},
      {absl::StrCat("UPDATE ", table("timestamp"), " SET value = -7 WHERE id = 3"), "above 0"},
      {absl::StrCat("UPDATE ", table("timestamp"), " SET value = 9223372036854775807 WHERE id = 3"),
       "below 2^61"},
      {absl::StrCat("UPDATE ", table("timestamp"), " SET value = 'soon'"), "start 0"},
      {absl::StrCat("UPDATE ", table("kernel_dispatch"), " SET start_id = 999999"), "no times"},
      // Views in place of tables: never run.
      {absl::StrCat("ALTER TABLE ", table("kernel_dispatch"), " RENAME TO hidden; CREATE VIEW ",
                    table("kernel_dispatch"), " AS SELECT * FROM hidden; DROP TABLE ", table("region"),
                    "; DROP TABLE ", table("memory_copy")),
       "not a rocpd database"},
      {absl::StrCat("DROP TABLE ", table("kernel_dispatch"), "; DROP TABLE ", table("region"),
                    "; CREATE VIRTUAL TABLE ", table("kernel_dispatch"), " USING fts5(id, kernel_id)"),
       "not a rocpd database"},
      {absl::StrCat("DROP TABLE ", table("memory_copy"), "; DROP TABLE ", table("region"), "; DROP TABLE ",
                    table("kernel_dispatch"), "; CREATE TABLE ", table("kernel_dispatch"),
                    "(id, kernel_id, start_id AS (randomblob(1 << 30)), end_id, start, end)"),
       ""},
  };
  for (const auto& [sql, says] : cases) {
    const std::string path = At("bad.db");
    std::filesystem::copy_file(good, path, std::filesystem::copy_options::overwrite_existing);
    testing_rocpd::Execute(path, sql);
    const auto capture = ReadRecordings({path}, {});
    EXPECT_FALSE(capture.ok()) << sql;
    EXPECT_THAT(std::string(capture.status().message()), AllOf(HasSubstr("bad.db"), HasSubstr(says))) << sql;
  }
  const std::pair<std::string, const char*> repaired[] = {
      {absl::StrCat("DELETE FROM ", table("string"), " WHERE string LIKE 'hip%'"), "rocprof_dangling_string"},
      {absl::StrCat("DELETE FROM ", table("event")), "rocprof_dangling_event"},
      {absl::StrCat("DELETE FROM ", table("track")), "rocprof_dangling_track"},
      {absl::StrCat("DELETE FROM ", table("info_kernel_symbol")), "rocprof_dangling_kernel"},
      {absl::StrCat("DELETE FROM ", table("info_agent")), "rocprof_dangling_agent"},
  };
  for (const auto& [sql, kind] : repaired) {
    const std::string path = At("bad.db");
    std::filesystem::copy_file(good, path, std::filesystem::copy_options::overwrite_existing);
    testing_rocpd::Execute(path, sql);
    const auto capture = ReadRecordings({path}, {});
    ASSERT_TRUE(capture.ok()) << sql << ": " << capture.status();
    bool found = false;
    for (const proto::ConversionNote& note : capture->report.notes()) found = found || note.kind() == kind;
    EXPECT_TRUE(found) << kind;
  }
  // A trigger and a table of another name change nothing.
  const std::string path = At("bad.db");
  std::filesystem::copy_file(good, path, std::filesystem::copy_options::overwrite_existing);
  testing_rocpd::Execute(
      path, absl::StrCat("CREATE TRIGGER t AFTER INSERT ON ", table("event"), " BEGIN DELETE FROM ",
                         table("event"), "; END; CREATE TABLE rocpd_regional(x)"));
  const auto before = ReadFileAsItIs(path);
  EXPECT_TRUE(ReadRecordings({path}, {}).ok());
  EXPECT_EQ(*before, *ReadFileAsItIs(path));  // nothing is written into the file or next to it
}

TEST(Rocprof, RefusesDatabasesOfOtherPrograms) {
  const std::string path = At("other.db");
  std::filesystem::remove(path);
  testing_rocpd::Execute(path,
                         "CREATE TABLE settings(schema_version TEXT); INSERT INTO settings VALUES ('3')");
  const std::string head = ReadFileAsItIs(path)->substr(0, Importer::kSniffed);
  EXPECT_TRUE(LooksLikeRocpd(head));
  EXPECT_FALSE(kImporter.Takes(path, head));
  EXPECT_TRUE(kImporter.Takes(path, *ReadFileAsItIs(WriteRank(Schema::kTracks, 0))));
}

TEST(Rocprof, DamagedDatabasesAreRefused) {
  const auto bytes = ReadFileAsItIs(WriteRank(Schema::kRows, 0));
  ASSERT_TRUE(bytes.ok());
  const std::string path = At("damaged.db");
  int refused = 0;
  for (size_t size = 100; size < bytes->size(); size += bytes->size() / 12) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes->substr(0, size);
    const auto cut = ReadRecordings({path}, {});
    refused += cut.ok() ? 0 : 1;
    EXPECT_FALSE(cut.ok()) << size;
  }
  EXPECT_GE(refused, 12);
  for (size_t at = 100; at < bytes->size(); at += 977) {  // an error or a trace, and no crash
    std::string changed = *bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    (void)ReadRecordings({path}, {});
  }
}

TEST(SqliteReader, ReadsOnlyTablesOnDiskAndInMemory) {
  const std::string path = At("plain.db");
  std::filesystem::remove(path);
  testing_rocpd::Execute(
      path,
      "CREATE TABLE \"odd \"\"name\"(a, b); INSERT INTO \"odd \"\"name\" VALUES (1, 'x'), (NULL, 'y');"
      "CREATE VIEW v AS SELECT a FROM \"odd \"\"name\"");
  const auto bytes = ReadFileAsItIs(path);
  for (const bool memory : {false, true}) {
    const auto db =
        memory ? SqliteReader::OfBytes(*bytes, "memory", kRocpd) : SqliteReader::Open(path, kRocpd);
    ASSERT_TRUE(db.ok()) << db.status();
    EXPECT_THAT((*db)->Tables(), testing::ElementsAre("odd \"name"));
    std::string rows;
    auto scan = (*db)->Read("odd \"name", {"b", "a", "c"});
    ASSERT_TRUE(scan.ok()) << scan.status();
    while (*scan->Next())
      absl::StrAppend(&rows, scan->Text(0), scan->Has(1) ? "1" : "-", scan->IntOr(1, 0),
                      scan->Has(2) ? "1" : "-", ";");
    EXPECT_EQ(rows, "x11-;y-0-;");
    EXPECT_THAT(std::string((*db)->Read("v", {"a"}).status().message()),
                HasSubstr("v is a view; expected a plain table, as rocprofv3 writes it"));
  }
}

}  // namespace
}  // namespace chakra::rocprof::CHAKRA_FILE
