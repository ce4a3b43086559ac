#include "trace/import/json/json.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "proto/et_def.pb.h"
#include "test/folders.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/import/text/text.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Parsed {
  ChakraProtoMsg::GlobalMetadata metadata;
  std::vector<ChakraProtoMsg::Node> nodes;
};

Parsed Parse(const std::string& et) {
  google::protobuf::io::ArrayInputStream in(et.data(), static_cast<int>(et.size()));
  Parsed p;
  EXPECT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&p.metadata, &in, nullptr));
  for (ChakraProtoMsg::Node n; google::protobuf::util::ParseDelimitedFromZeroCopyStream(&n, &in, nullptr);
       n.Clear()) {
    p.nodes.push_back(n);
  }
  return p;
}

std::string Error(absl::string_view json) {
  return std::string(EtFromJson(json, "t.json").status().message());
}

RankTrace Kept(const std::vector<std::string>& bodies, bool has_metadata = true) {
  RawFrames raw;
  raw.has_metadata = has_metadata;
  raw.begin.push_back(0);
  for (const std::string& b : bodies) {
    raw.bytes += b;
    raw.begin.push_back(raw.bytes.size());
  }
  RankTrace t;
  t.file = "w.3.et";
  t.rank = 3;
  t.raw = std::make_shared<RawFrames>(std::move(raw));
  return t;
}

std::string Bytes(const RankTrace& t) {
  std::string out;
  EtWriter w(&out, Compression::kNone);
  EXPECT_TRUE(WriteTrace(t, &w).ok());
  return out;
}

// Every kind of attribute, at the ends of its range.
ChakraProtoMsg::Node Everything() {
  ChakraProtoMsg::Node n;
  n.set_id(UINT64_MAX);
  n.set_name("a \"b\"\n\xe2\x82\xac");
  n.set_type(ChakraProtoMsg::COMM_COLL_NODE);
  n.add_ctrl_deps(0);
  n.add_data_deps(UINT64_MAX - 1);
  n.mutable_inputs()->set_values("[1, None]");
  const auto add = [&](const char* name) {
    auto* a = n.add_attr();
    a->set_name(name);
    return a;
  };
  add("zero")->set_int64_val(0);
  add("false")->set_bool_val(false);
  add("unset");
  add("min")->set_sfixed64_val(INT64_MIN);
  add("double")->set_double_val(0.1 + 0.2);
  add("nan")->set_double_val(std::nan(""));
  add("inf")->set_float_val(-HUGE_VALF);
  add("floats")->mutable_float_list()->add_values(1.17549435e-38f);
  add("bytes")->set_bytes_val(std::string("\0\xff\n", 3));
  add("empty")->mutable_string_list();
  add("bools")->mutable_bool_list()->add_values(true);
  return n;
}

TEST(Json, FramesRoundTripThroughJsonAndText) {
  ChakraProtoMsg::GlobalMetadata m;
  m.set_version("0.0.4");
  const RankTrace t = Kept({m.SerializeAsString(), "", Everything().SerializeAsString()});
  const auto json = EtToJson(t);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, AllOf(HasSubstr("\"dataDeps\""), HasSubstr("\"18446744073709551615\"")));
  const auto back = EtFromJson(*json, "t.json");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, Bytes(t));
  const auto text = EtToText(t);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("metadata {"), HasSubstr("node {")));
  EXPECT_EQ(*EtFromText(*text, "t.txt"), Bytes(t));
}

TEST(Json, MissingMetadataRoundTrips) {
  const RankTrace t = Kept({"", Everything().SerializeAsString()}, false);
  EXPECT_EQ(*EtFromJson(*EtToJson(t), "t.json"), Bytes(t));
  EXPECT_EQ(*EtFromText(*EtToText(t), "t.txt"), Bytes(t));
  EXPECT_THAT(std::string(EtToJson(Kept({"", ""}, false)).status().message()),
              HasSubstr("no metadata frame"));
}

TEST(Json, NamesFieldsThatJsonCannotHold) {
  ChakraProtoMsg::Node n = Everything();
  n.set_id(17);
  n.GetReflection()->MutableUnknownFields(&n)->AddVarint(99, 1);
  const RankTrace t = Kept({"", n.SerializeAsString()});
  for (const auto& s : {EtToJson(t).status(), EtToText(t).status()}) {
    EXPECT_THAT(std::string(s.message()),
                AllOf(HasSubstr("w.3.et: rank 3, node 17"), HasSubstr("unknown field number 99")));
  }
  EXPECT_EQ(EtToJson(RankTrace()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(EtToJson(Kept({"", "\x12\x01\xff"})).ok());
}

TEST(Json, JsonizerKeepsUnknownKeys) {
  const auto et = EtFromJson(
      "{\"version\":\"0.0.4\"}{\"id\":\"5\",\"type\":\"COMP_NODE\",\"color\":{\"r\":1}}", "t.json");
  ASSERT_TRUE(et.ok()) << et.status();
  const Parsed p = Parse(*et);
  ASSERT_EQ(p.nodes.size(), 1u);
  ASSERT_EQ(p.nodes[0].attr_size(), 1);
  EXPECT_EQ(p.nodes[0].attr(0).name(), "json.color");
  EXPECT_EQ(p.nodes[0].attr(0).string_val(), "{\"r\":1}");
}

TEST(Json, ReadsTheFeederForm) {
  const auto et = EtFromJson(R"({"workload_graph": [{"Id": 7, "Name": "x", "NodeType": 7, "ctrlDeps": [3],
      "data_deps": [1, 2], "runtime": 28, "is_cpu_op": false, "comm_type": 0, "comm_size": 1024, "comm_tag": 4,
      "extra": [1]}], "workload_name": "w", "ngpus": 8, "soc": "s"})",
                             "t.json");
  ASSERT_TRUE(et.ok()) << et.status();
  const Parsed p = Parse(*et);
  EXPECT_EQ(p.metadata.attr_size(), 3);
  EXPECT_EQ(p.metadata.attr(1).int64_val(), 8);
  ASSERT_EQ(p.nodes.size(), 1u);
  const auto& n = p.nodes[0];
  EXPECT_EQ(n.id(), 7u);
  EXPECT_EQ(n.type(), ChakraProtoMsg::COMM_COLL_NODE);
  EXPECT_EQ(n.ctrl_deps(0), 3u);
  EXPECT_EQ(n.data_deps_size(), 2);
  EXPECT_EQ(n.duration_micros(), 28u);
  ASSERT_EQ(n.attr_size(), 5);
  EXPECT_TRUE(n.attr(0).has_bool_val());
  EXPECT_TRUE(n.attr(1).has_int64_val());
  EXPECT_EQ(n.attr(2).int64_val(), 1024);
  EXPECT_EQ(n.attr(3).int32_val(), 4);
  EXPECT_EQ(n.attr(4).name(), "json.extra");
}

TEST(Json, ReadsTheStageForm) {
  const auto et =
      EtFromJson(R"({"nodes": [{"id": 0, "name": "c", "node_type": "coll_comm_node", "data_deps": [],
      "comm_type": "ALL_GATHER", "comm_size": 64.0, "comm_group": 3, "inputs": ["a", 16], "comm_tag": null}]})",
                 "t.json");
  ASSERT_TRUE(et.ok()) << et.status();
  const auto n = Parse(*et).nodes.at(0);
  EXPECT_EQ(n.type(), ChakraProtoMsg::COMM_COLL_NODE);
  ASSERT_EQ(n.attr_size(), 4);
  EXPECT_EQ(n.attr(0).int64_val(), ChakraProtoMsg::ALL_GATHER);
  EXPECT_EQ(n.attr(1).int64_val(), 64);
  EXPECT_EQ(n.attr(2).name(), "pg_name");
  EXPECT_EQ(n.attr(2).string_val(), "3");
  EXPECT_EQ(n.attr(3).string_list().values(1), "16");
}

TEST(Json, NodeErrorsNamePlaceNodeAndKey) {
  EXPECT_THAT(Error("{\"workload_graph\": [\n{\"Id\": 9, \"NodeType\": 4, \"runtime\": 1.5}]}"),
              AllOf(HasSubstr("node 9, key 'runtime'"), HasSubstr("t.json:2:"), HasSubstr("(byte ")));
  EXPECT_THAT(Error("{\"workload_graph\": [{\"NodeType\": 4}]}"), HasSubstr("node at index 0: no 'id'"));
  EXPECT_THAT(Error("{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 40}]}"),
              HasSubstr("node 1, key 'NodeType'"));
  EXPECT_THAT(Error("{\"workload_graph\": 4}"), HasSubstr("key 'workload_graph'"));
  EXPECT_THAT(Error("{\"nodes\": [{\"id\": 1, \"node_type\": \"comp_nod\"}]}"),
              HasSubstr("did you mean 'comp_node'?"));
  EXPECT_THAT(
      Error("{\"nodes\": [{\"id\": 1, \"node_type\": \"comp_node\", \"comm_type\": \"ALLREDUCE2\"}]}"),
      HasSubstr("did you mean 'ALL_REDUCE'?"));
  EXPECT_THAT(
      Error("{}\n{\"id\": 4, \"attr\": [{\"nam\": \"x\"}]}"),
      AllOf(HasSubstr("node 4: unknown field 'nam' at t.json:2:"), HasSubstr("did you mean 'name'?")));
}

TEST(Json, NamesTheKindOfOtherJson) {
  EXPECT_THAT(Error("{\"traceEvents\": []}"), HasSubstr("Kineto trace"));
  EXPECT_THAT(Error("{\"schema\": \"1.0.2\", \"nodes\": []}"), HasSubstr("PyTorch host trace"));
  EXPECT_THAT(Error("{\"1\": [0, 1]}"), HasSubstr("--groups"));
  EXPECT_THAT(Error("{\"foo\": 1}"), AllOf(HasSubstr("key 'foo'"), HasSubstr("expected a Chakra trace")));
  // A name alone, or an id alone, does not show a Chakra trace.
  for (const char* other :
       {"{\"name\": \"ag\", \"collective\": \"allgather\", \"gpus\": []}", "{\"id\": 5, \"name\": \"x\"}",
        "{\"inputs\": {}, \"outputs\": []}", "{\"type\": \"object\", \"name\": \"x\"}"})
    EXPECT_THAT(Error(other), HasSubstr("not a Chakra node")) << other;
  EXPECT_THAT(Error("{\"version\": \"1\"}{\"level\": \"info\"}"), HasSubstr("expected a node"));
  EXPECT_THAT(Error("[1]"), HasSubstr("expected a Chakra trace"));
  EXPECT_THAT(Error(" "), HasSubstr("expected a Chakra trace"));
  EXPECT_THAT(Error("{}"), AllOf(HasSubstr("has no events"), HasSubstr("traceEvents")));
  EXPECT_THAT(Error("{}{"), HasSubstr("expected a key in double quotes, found the end of the file"));
}

TEST(Json, TextErrorsNameThePlace) {
  EXPECT_THAT(std::string(EtFromText("node {\n  idd: 1\n}", "t.txt").status().message()),
              AllOf(HasSubstr("unknown field 'idd' at t.txt:2:"), HasSubstr("did you mean 'id'?")));
}

TEST(Json, ReadsARealFeederFile) {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/chakra/feeder_form_small.0.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SKIPPED: no file " << path;
  const auto et = EtFromJson(*ReadFile(path), path);
  ASSERT_TRUE(et.ok()) << et.status();
  EXPECT_EQ(Parse(*et).nodes.size(), 7u);
}

TEST(Json, RealTracesRoundTrip) {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/chakra/resnet50_ddp.0.et.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SKIPPED: no file " << path;
  ReadOptions options;
  options.keep_raw = true;
  const auto trace = DecodeTrace(*ReadFile(path), path, 0, options);
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto json = EtToJson(*trace);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_TRUE(*EtFromJson(*json, path) == Bytes(*trace));
  const auto text = EtToText(*trace);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(*EtFromText(*text, path) == Bytes(*trace));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
