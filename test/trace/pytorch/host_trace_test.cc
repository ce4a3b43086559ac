#include "trace/import/host/host_trace.h"

#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_files.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// A node of 1.0.1 with arguments of its own.
std::string Flat(int id, int parent, int rf, const std::string& name, const std::string& inputs = "[]",
                 const std::string& types = "[]") {
  return absl::StrCat(
      R"j({"name": ")j", name, R"j(", "id": )j", id, R"j(, "rf_id": )j", rf, R"j(, "parent": )j", parent,
      R"j(, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": "", "inputs": )j",
      inputs, R"j(, "input_shapes": [], "input_types": )j", types,
      R"j(, "outputs": [], "output_shapes": [], "output_types": []})j");
}

// A node of 1.0.2 and later.
std::string Nested(int id, int parent, int rf, const std::string& name, const std::string& values = "[]",
                   const std::string& types = "[]", const std::string& more = "") {
  return absl::StrCat(
      R"j({"id": )j", id, R"j(, "name": ")j", name, R"j(", "ctrl_deps": )j", parent,
      R"j(, "inputs": {"values": )j", values, R"j(, "shapes": [[]], "types": )j", types,
      R"j(, "strides": [[]]}, "outputs": {"values": [], "shapes": [[8]], "types": ["Tensor(float)"]}, )j",
      R"j("attrs": [{"name": "rf_id", "type": "uint64", "value": )j", rf,
      R"j(}, {"name": "fw_parent", "type": "uint64", "value": 3},)j"
      R"j( {"name": "seq_id", "type": "int64", "value": 11}, {"name": "scope", "type": "uint64", "value": 7},)j"
      R"j( {"name": "tid", "type": "uint64", "value": 2}, {"name": "fw_tid", "type": "uint64", "value": 1},)j"
      R"j( {"name": "op_schema", "type": "string", "value": "aten::mm(Tensor self) -> Tensor"})j",
      more, "]}");
}

std::string File(const std::string& schema, const std::vector<std::string>& nodes) {
  std::string text = absl::StrCat(R"j({
  "schema": ")j",
                                  schema, R"j(", "pid": 7, "time": "2024-03-01 10:00:00", "start_ts": 10,
  "nodes": [)j");
  for (size_t i = 0; i < nodes.size(); ++i) absl::StrAppend(&text, i > 0 ? ",\n    " : "\n    ", nodes[i]);
  return absl::StrCat(text, "\n  ],\n  \"finish_ts\": 20\n}\n");
}

std::string Root() { return Flat(1, 1, 0, "[pytorch|profiler|execution_graph|process]"); }
std::string Thread() { return Flat(2, 1, 0, "[pytorch|profiler|execution_graph|thread]"); }

HostTrace Good(const std::string& text) {
  auto t = ReadHostTrace(text, "et.json");
  if (t.ok()) return *std::move(t);
  ADD_FAILURE() << t.status();
  return HostTrace();
}

std::string ErrorOf(const std::string& text) {
  const auto t = ReadHostTrace(text, "et.json");
  return t.ok() ? "no error" : std::string(t.status().message());
}

std::map<std::string, uint64_t> RepairsOf(const HostTrace& t) {
  std::map<std::string, uint64_t> counts;
  for (const Repair& r : t.repairs) counts[r.kind] += r.count;
  return counts;
}

TEST(ReadHostTrace, ReadsFlatNodes) {
  const HostTrace t =
      Good(File("1.0.1", {Thread(),
                          Flat(7, 2, 3, "aten::mm", R"j([[3, 4, 0, 64, 4, "cuda:0"], "inf"])j",
                               R"j(["Tensor(float)", "Double"])j"),
                          Root()}));
  EXPECT_EQ(t.file, "et.json");
  EXPECT_EQ(t.schema, "1.0.1");
  EXPECT_THAT(t.repairs, IsEmpty());
  ASSERT_EQ(t.nodes.size(), 3u);
  EXPECT_EQ(t.nodes[0].id, 1u) << "nodes are written as they end, and sorted by id";
  EXPECT_EQ(t.nodes[1].id, 2u);
  const HostNode& n = t.nodes[2];
  EXPECT_EQ(n.id, 7u);
  EXPECT_EQ(n.parent, 2u);
  EXPECT_EQ(n.rf_id, 3u);
  EXPECT_EQ(n.seq_id, -1);
  EXPECT_EQ(n.tid, 1u);
  EXPECT_EQ(n.comm, kNoRow);
  EXPECT_EQ(t.name_of(n), "aten::mm");
  EXPECT_EQ(t.strings.Get(n.in_values), R"j([[3, 4, 0, 64, 4, "cuda:0"], "inf"])j");
  EXPECT_EQ(t.strings.Get(n.in_types), R"j(["Tensor(float)", "Double"])j");
  EXPECT_EQ(t.Find(7), &n);
  EXPECT_EQ(t.Find(6), nullptr);
  EXPECT_EQ(t.Find(8), nullptr);
}

TEST(ReadHostTrace, ReadsNestedNodes) {
  const HostTrace t = Good(File(
      "1.1.1-chakra.0.0.4", {Nested(7, 7, 9, "aten::mm", "[ 1,2 ]", R"j(["Int","Int"])j",
                                    R"j(, {"name": "kernel_backend", "type": "string", "value": ""})j")}));
  EXPECT_THAT(t.repairs, IsEmpty());
  ASSERT_EQ(t.nodes.size(), 1u);
  const HostNode& n = t.nodes[0];
  EXPECT_EQ(n.parent, 7u);
  EXPECT_EQ(n.rf_id, 9u);
  EXPECT_EQ(n.fw_parent, 3u);
  EXPECT_EQ(n.seq_id, 11);
  EXPECT_EQ(n.scope, 7u);
  EXPECT_EQ(n.tid, 2u);
  EXPECT_EQ(n.fw_tid, 1u);
  EXPECT_EQ(t.strings.Get(n.op_schema), "aten::mm(Tensor self) -> Tensor");
  EXPECT_EQ(t.strings.Get(n.in_values), "[ 1,2 ]");
  EXPECT_EQ(t.strings.Get(n.in_shapes), "[[]]");
  EXPECT_EQ(t.strings.Get(n.out_shapes), "[[8]]");
  EXPECT_EQ(t.strings.Get(n.out_types), R"j(["Tensor(float)"])j");
}

TEST(ReadHostTrace, ReadsUnknownVersions) {
  const HostTrace t = Good(File("9.9", {Root(), Nested(5, 1, 1, "aten::mm")}));
  EXPECT_EQ(t.nodes.size(), 2u);
  EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("unknown_schema", 1)));
  EXPECT_THAT(t.repairs[0].detail, HasSubstr("\"9.9\""));
  EXPECT_EQ(t.repairs[0].file, "et.json");
  EXPECT_THAT(RepairsOf(Good(R"j({"nodes": []})j")), ElementsAre(Pair("unknown_schema", 1)));
}

TEST(ReadHostTrace, ReadsCallsAndGroupsOfEachVersion) {
  const std::string init =
      R"j(["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 4, \"group_count\": 1}]"])j";
  const HostTrace t = Good(File(
      "1.1.0-chakra.0.0.4",
      {Nested(3, 3, 1, "## process_group:init ##", init, R"j(["String"])j"),
       Nested(
           5, 3, 2, "record_param_comms",
           R"j([[[433, 434, 0, 10, 4, "cuda:1"]], 33, ["0", "default_pg"], 1, "allreduce", [], [], 0, 1, 4])j"),
       Nested(6, 3, 3, "record_param_comms",
              R"j([[[433, 434, 0, 10, 4, "cuda:1"]], 34, ["5", "tp"], 0, "allreduce", [], [], 1, 2, 2])j")}));
  EXPECT_THAT(t.repairs, IsEmpty());
  EXPECT_THAT(t.groups, ElementsAre(Pair("0", ElementsAre(0, 1, 2, 3)), Pair("5", ElementsAre(1, 3))));
  EXPECT_EQ(t.rank, 1) << "rank 1 of group 0 and rank 0 of group 5 are the same";
  ASSERT_EQ(t.comms.size(), 2u);
  EXPECT_EQ(t.Find(6)->comm, 1u);
  EXPECT_EQ(t.comms[1].group, "5");
}

TEST(ReadHostTrace, NamesGroupsByTheirBackendPointers) {
  const std::string init =
      R"j(["[{\"pg_name\": \"0\", \"backend_id\": 1234, \"ranks\": [3, 5], \"group_size\": 2}]"])j";
  const HostTrace t =
      Good(File("1.0.2-chakra.0.0.4",
                {Nested(3, 3, 1, "## process_group:init ##", init),
                 Nested(5, 3, 2, "record_param_comms", R"j([9, 1234, 1, "barrier", [], [], 2])j"),
                 Nested(6, 3, 2, "record_param_comms", R"j([9, 99, 0, "barrier", [], [], 2])j")}));
  EXPECT_EQ(t.comms[0].group, "0");
  EXPECT_EQ(t.comms[1].group, "99");
  EXPECT_EQ(t.rank, 5);
}

TEST(ReadHostTrace, CountsAndLeavesOutBadGroups) {
  const auto with = [](const std::string& text) {
    return Good(File("1.0.3-chakra.0.0.4", {Nested(3, 3, 1, "## process_group:init ##", text)}));
  };
  const HostTrace cut = with(R"j(["[{\"pg_name\": \"0\", \"ranks\": [0]}, {\"pg_name\": \"1\", \"ra"])j");
  EXPECT_THAT(cut.groups, ElementsAre(Pair("0", ElementsAre(0))));
  EXPECT_THAT(RepairsOf(cut), ElementsAre(Pair("truncated_process_groups", 1)));
  for (const char* text : {"[]", "[7]", R"j(["none"])j", R"j(["[{}]"])j"}) {
    const HostTrace t = with(text);
    EXPECT_THAT(t.groups, IsEmpty());
    EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("bad_process_groups", 1))) << text;
    EXPECT_EQ(t.repairs[0].first_node, 3u);
  }
  const HostTrace twice =
      with(R"j(["[{\"pg_name\": \"0\", \"ranks\": [0]}, {\"pg_name\": \"0\", \"ranks\": [1]}]"])j");
  EXPECT_FALSE(twice.repairs.empty());
}

TEST(ReadHostTrace, TruncatedFileGivesItsWholeNodes) {
  const std::string whole = File("1.0.1", {Thread(), Flat(5, 2, 1, "a"), Flat(6, 2, 2, "b]}, {"), Root()});
  const size_t first = whole.find('[') + 1;
  const size_t last_bracket = whole.rfind('}');
  std::set<size_t> counts;
  for (size_t n = first; n <= last_bracket; ++n) {
    const auto t = ReadHostTrace(absl::string_view(whole).substr(0, n), "et.json");
    ASSERT_TRUE(t.ok()) << n << ": " << t.status();
    ASSERT_EQ(RepairsOf(*t)["truncated_host_trace"], 1u) << n;
    ASSERT_GE(t->nodes.size(), *std::max_element(counts.insert(0).first, counts.end())) << n;
    counts.insert(t->nodes.size());
  }
  EXPECT_THAT(counts, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(RepairsOf(Good(whole)).count("truncated_host_trace"), 0u);
  // A file system may leave zeros in place of the end.
  EXPECT_EQ(
      RepairsOf(Good(whole.substr(0, last_bracket - 30) + std::string(512, '\0')))["truncated_host_trace"],
      1u);
  // Before the nodes begin there is nothing to recover.
  EXPECT_THAT(ErrorOf(whole.substr(0, first - 4)), HasSubstr("expected the field nodes"));
}

TEST(ReadHostTrace, CountsMissingParents) {
  const HostTrace t =
      Good(File("1.0.1", {Root(), Thread(), Flat(5, 4, 1, "a"), Flat(6, 4, 2, "b"), Flat(7, 2, 3, "c")}));
  EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("missing_parent", 2)));
  EXPECT_EQ(t.repairs[0].first_node, 5u);
  EXPECT_EQ(t.Find(5)->parent, 4u) << "it is kept as written";
}

TEST(ReadHostTrace, ReadsNanAndInfWithoutQuotes) {
  const HostTrace t = Good(File("1.0.1", {Root(), Flat(5, 1, 1, "a\\\" inf", "[-inf, nan, 1.5]")}));
  EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("bare_nan", 1)));
  EXPECT_EQ(t.strings.Get(t.Find(5)->in_values), R"j(["-inf", "nan", 1.5])j");
  EXPECT_EQ(t.name_of(*t.Find(5)), "a\" inf");
}

TEST(ReadHostTrace, CutsHugeArgumentsToValidJson) {
  std::string values = "[";
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&values, i > 0 ? "," : "", "[1234,5678]");
  const HostTrace t = Good(File("1.0.1", {Root(), Flat(5, 1, 1, "a", values + "]")}));
  EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("cut_arguments", 1)));
  const absl::string_view kept = t.strings.Get(t.Find(5)->in_values);
  EXPECT_LE(kept.size(), size_t{64} << 10);
  EXPECT_GT(kept.size(), size_t{63} << 10);
  EXPECT_TRUE(absl::EndsWith(kept, "[1234,5678],[1234]]") || absl::EndsWith(kept, "[1234,5678]]"))
      << kept.substr(kept.size() - 30);
}

TEST(ReadHostTrace, CountsCallsWithoutAName) {
  const HostTrace t =
      Good(File("1.0.1", {Root(), Flat(5, 1, 1, "record_param_comms"),
                          Flat(6, 1, 2, "record_param_comms", R"j([1, 2, 0, "teleport", [], []])j")}));
  EXPECT_THAT(RepairsOf(t), ElementsAre(Pair("unknown_collective", 2)));
  EXPECT_EQ(t.comms[1].name, "teleport");
}

TEST(ReadHostTrace, ErrorsNameFileByteNodeAndField) {
  const std::string twice = File("1.0.1", {Root(), Flat(5, 1, 1, "a"), Flat(5, 1, 2, "b")});
  EXPECT_EQ(ErrorOf(twice),
            absl::StrCat("et.json: byte ", twice.find(R"j({"name": "b")j"),
                         ": node 5 \"b\": field id: expected each id once, found the id before at byte ",
                         twice.find(R"j({"name": "a")j"), " \"a\""));
  const auto with = [](const std::string& node) {
    return ErrorOf(absl::StrCat(R"j({"schema": "1.0.1", "nodes": [)j", node, "]}"));
  };
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "rf_id": -3})j"),
              HasSubstr("et.json: byte 30: node 5 \"x\": field rf_id: expected an integer from 0 to"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "tid": 4294967296})j"),
              HasSubstr("field tid: expected an integer"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "seq_id": 1.5})j"),
              HasSubstr("field seq_id: expected an integer, found 1.5"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "ctrl_deps": [1]})j"), HasSubstr("field ctrl_deps"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "op_schema": 1})j"),
              HasSubstr("field op_schema: expected a text"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "inputs": 1})j"), HasSubstr("field inputs: expected a list"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "inputs": {"types": 1}})j"), HasSubstr("field inputs.types"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "input_types": 1})j"), HasSubstr("field input_types"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "attrs": {}})j"), HasSubstr("field attrs: expected a list"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", "attrs": [1]})j"), HasSubstr("objects with name and value"));
  EXPECT_THAT(with(R"j({"name": "x"})j"), HasSubstr("node \"x\": field id: expected an integer"));
  EXPECT_THAT(with(R"j({"id": 5})j"), HasSubstr("node 5: field name: expected a text"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x", })j"), HasSubstr("byte 30: expected a node as a JSON object"));
  EXPECT_THAT(with("{\"id\": 5, \"name\": \"\xff\"}"), HasSubstr("byte 30: expected a node"));
  EXPECT_THAT(with("7"), HasSubstr("byte 30: not a host execution trace: expected a node, '{', found 7"));
  EXPECT_THAT(with(R"j({"id": 5, "name": "x"} {"id": 6, "name": "y"})j"),
              HasSubstr("expected ',' or ']' after a node"));
}

TEST(ReadHostTrace, RefusesOtherFiles) {
  EXPECT_THAT(
      ErrorOf(""),
      HasSubstr("et.json: byte 0: not a host execution trace: expected a JSON object, found the end"));
  EXPECT_THAT(ErrorOf("[1]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("expected a field's name"));
  EXPECT_THAT(ErrorOf(R"j({"traceEvents": []})j"), HasSubstr("expected the field nodes"));
  EXPECT_THAT(ErrorOf(R"j({"nodes": {}})j"), HasSubstr("expected nodes, a list"));
  EXPECT_THAT(ErrorOf(R"j({"nodes": [], "nodes": []})j"), HasSubstr("one list of nodes"));
  EXPECT_THAT(ErrorOf(R"j({"schema": 1, "nodes": []})j"), HasSubstr("expected schema, a text"));
  EXPECT_THAT(ErrorOf(R"j({"schema" "1"})j"), HasSubstr("expected ':'"));
  EXPECT_THAT(ErrorOf(R"j({"schema": "1.0.1", "nodes": []} more)j"), HasSubstr("nothing after the object"));
}

TEST(LooksLikeHostTrace, RecognisesHostTraces) {
  EXPECT_TRUE(LooksLikeHostTrace(File("1.0.1", {Root()})));
  EXPECT_TRUE(LooksLikeHostTrace(File("1.0.1", {Root()}).substr(0, 140)));
  EXPECT_TRUE(LooksLikeHostTrace(R"j({"nodes": [{"id": 1}], "schema": "1.1.1-chakra.0.0.4"})j"));
  EXPECT_FALSE(LooksLikeHostTrace(R"j({"schemaVersion": 1, "traceEvents": [{"name": "nodes"}]})j"));
  EXPECT_FALSE(LooksLikeHostTrace(R"j({"nodes": [1, 2]})j"));
  EXPECT_FALSE(LooksLikeHostTrace(R"j({"1": [0, 1]})j"));
  EXPECT_FALSE(LooksLikeHostTrace(R"j(["schema", "nodes"])j"));
  EXPECT_FALSE(LooksLikeHostTrace(""));
  EXPECT_FALSE(LooksLikeHostTrace("{"));
}

// ------------------------------------------------------------ public captures

HostTrace SharedTrace(const std::string& file) {
  const std::string text = Unpacked(Shared(file));
  EXPECT_TRUE(LooksLikeHostTrace(absl::string_view(text).substr(0, 64 << 10))) << file;
  return Good(text);
}

// Operators of each thread.
std::map<uint32_t, int> Threads(const HostTrace& t) {
  std::map<uint32_t, int> threads;
  for (const HostNode& n : t.nodes) threads[n.tid] += n.rf_id != 0 ? 1 : 0;
  threads.erase(0);  // the process
  return threads;
}

TEST(PublicCaptures, ReadsDlrmOnEightRanks) {
  SKIP_WITHOUT_SHARED_DATA();
  // splits[r][p]: the parts that rank r sends to p, and receives from p, as rank r records them.
  std::vector<std::vector<int64_t>> sent, received;
  for (int rank = 0; rank < 8; ++rank) {
    const HostTrace t = SharedTrace(absl::StrCat("param/dlrm/et/dlrm_eg_", rank, ".json.gz"));
    EXPECT_EQ(t.schema, "1.0.1");
    EXPECT_EQ(t.rank, rank);
    EXPECT_EQ(t.nodes.size(), 1675u);
    EXPECT_THAT(Threads(t), ElementsAre(Pair(1, 988), Pair(2, 684)));
    EXPECT_THAT(t.repairs, IsEmpty());
    ASSERT_EQ(t.comms.size(), 13u);
    std::vector<int64_t> bytes;
    for (const CommCall& c : t.comms) {
      if (c.op == CommOp::kWait) continue;
      bytes.push_back(c.in_bytes);
      EXPECT_EQ(c.rank, rank);
      EXPECT_NE(c.group, "");
      if (c.seq != 150) continue;
      sent.push_back(c.in_split);
      received.push_back(c.out_split);
    }
    ASSERT_EQ(bytes.size(), 8u);
    EXPECT_EQ(bytes[0], 24576);
    EXPECT_EQ(bytes[1], 24 * 8);
    EXPECT_EQ(bytes[4], 1576964);
    EXPECT_EQ(bytes[6], 448);
    EXPECT_EQ(bytes[7], 907840);
  }
  EXPECT_THAT(sent[0], ElementsAre(96, 224, 288, 1664, 592, 96, 192, 240));
  for (size_t r = 0; r < 8; ++r) {
    for (size_t p = 0; p < 8; ++p) EXPECT_EQ(sent[r][p], received[p][r]) << r << " to " << p;
  }
}

TEST(PublicCaptures, ReadsEverySchema) {
  SKIP_WITHOUT_SHARED_DATA();
  const struct {
    const char* file;
    const char* schema;
    size_t nodes, comms;
    int rank;
    std::map<uint32_t, int> threads;
  } kCases[] = {
      {"hta/simple_add_et.json.gz", "1.0.1", 38, 0, kNoRank, {{1, 36}}},
      {"param/linear_et.json.gz", "1.0.1", 931, 0, kNoRank, {{1, 311}, {2, 617}}},
      {"param/resnet_1gpu_et.1.0.3.json.gz", "1.0.3-chakra.0.0.4", 14391, 27, 0, {{1, 7188}, {2, 7200}}},
      {"param/resnet_2gpu_et.1.1.0.json.gz", "1.1.0-chakra.0.0.4", 14392, 27, 1, {{1, 7189}, {2, 7200}}},
      {"param/resnet_et.1.1.0.json.gz", "1.1.0-chakra.0.0.4", 14392, 27, 0, {{1, 7189}, {2, 7200}}},
      {"param/resnet_1gpu_et.1.1.1.json.gz", "1.1.1-chakra.0.0.4", 14392, 27, 0, {{1, 7189}, {2, 7200}}},
      {"param/pt2_et.1.1.1.json.gz", "1.1.1-chakra.0.0.4", 20, 0, kNoRank, {{1, 18}}},
  };
  for (const auto& c : kCases) {
    const HostTrace t = SharedTrace(c.file);
    EXPECT_EQ(t.schema, c.schema) << c.file;
    EXPECT_EQ(t.nodes.size(), c.nodes) << c.file;
    EXPECT_EQ(t.comms.size(), c.comms) << c.file;
    EXPECT_EQ(t.rank, c.rank) << c.file;
    EXPECT_EQ(Threads(t), c.threads) << c.file;
    EXPECT_THAT(t.repairs, IsEmpty()) << c.file;
    std::map<int64_t, int> reduced;
    for (const CommCall& call : t.comms) {
      if (call.op == CommOp::kAllReduce) ++reduced[call.in_bytes];
    }
    if (c.comms > 0) {  // DDP's buckets, once in each of three steps
      EXPECT_THAT(reduced, ElementsAre(Pair(8196000, 3), Pair(9724160, 3), Pair(26255360, 3),
                                       Pair(26550272, 3), Pair(31502336, 3)))
          << c.file;
    }
  }
}

TEST(PublicCaptures, ReadsGroupsOfTheTwoGpuRun) {
  SKIP_WITHOUT_SHARED_DATA();
  const HostTrace t = SharedTrace("param/resnet_2gpu_et.1.1.0.json.gz");
  EXPECT_THAT(t.groups, ElementsAre(Pair("0", ElementsAre(0, 1))));
  for (const CommCall& c : t.comms) {
    if (c.op != CommOp::kBroadcast) continue;
    EXPECT_EQ(c.root, 0) << "the root, though the caller is rank 1";
    EXPECT_EQ(c.group_size, 2);
  }
}

TEST(PublicCaptures, RefusesOtherFiles) {
  SKIP_WITHOUT_SHARED_DATA();
  for (const char* file :
       {"chakra/all_gather_et.1.0.2.json.gz",  // metadata of a file system, by its name a trace
        "chakra/feeder_form_small.0.json", "chakra/resnet50_ddp.0.et.gz", "hta/alexnet.json.gz"}) {
    const std::string text = Unpacked(Shared(file));
    EXPECT_FALSE(LooksLikeHostTrace(absl::string_view(text).substr(0, 64 << 10))) << file;
    EXPECT_THAT(ErrorOf(text), HasSubstr("not a host execution trace")) << file;
  }
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
