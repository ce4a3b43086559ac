#include "trace/io/proto_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proto/cluster.pb.h"
#include "proto/et_def.pb.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const absl::Status& s) { return std::string(s.message()); }

std::string ParseError(absl::string_view content) {
  proto::Cluster c;
  return Message(ParseMessage(content, "cluster.json", &c));
}

proto::Cluster Sample() {
  proto::Cluster c;
  c.set_name("toy \xc3\xa9");
  auto* d = c.mutable_topology()->add_dimension();
  d->set_kind(proto::Dimension::SWITCH);
  d->set_size(8);
  d->set_bandwidth_bytes_per_s(9007199254740993);
  d->set_latency_ns(936.25);
  (*c.mutable_device()->mutable_peak_tflops())["bf16"] = 989.5;
  (*c.mutable_collectives()->mutable_algorithm())["all_reduce"] = "ring";
  return c;
}

TEST(ProtoIo, RoundTripsEveryFormat) {
  for (MessageFormat f : {MessageFormat::kBinary, MessageFormat::kText, MessageFormat::kJson}) {
    const auto content = FormatMessage(Sample(), f);
    ASSERT_TRUE(content.ok()) << content.status();
    proto::Cluster back;
    ASSERT_TRUE(ParseMessage(*content, "x", &back).ok()) << Message(ParseMessage(*content, "x", &back));
    EXPECT_EQ(back.SerializeAsString(), Sample().SerializeAsString());
  }
  EXPECT_THAT(*FormatMessage(Sample(), MessageFormat::kJson), HasSubstr("\"latency_ns\": 936.25"));
}

TEST(ProtoIo, JsonTakesBothFieldNames) {
  proto::Cluster c;
  ASSERT_TRUE(ParseMessage(R"({"remoteMemory": {"kind": "POOL", "latency_ns": 5}})", "x", &c).ok());
  EXPECT_EQ(c.remote_memory().kind(), proto::RemoteMemory::POOL);
  EXPECT_EQ(c.remote_memory().latency_ns(), 5);
  EXPECT_THAT(ParseError(R"({"remoteMemory": {}, "remote_memory": {}})"),
              HasSubstr("given twice at cluster.json:1:22"));
}

TEST(ProtoIo, PrintableBinaryIsStillBinary) {
  proto::Cluster c, back;
  c.set_name(std::string(40, 'x'));
  ASSERT_TRUE(ParseMessage(c.SerializeAsString(), "x", &back).ok());
  EXPECT_EQ(back.name(), c.name());
}

TEST(ProtoIo, ErrorsPlaceUnknownJsonFields) {
  EXPECT_EQ(ParseError("{\n  \"topology\": {\n    \"dimension\": [{\n      \"latencyns\": 5}]}}"),
            "unknown field 'latencyns' at cluster.json:4:7; did you mean 'latency_ns'? (in Dimension)");
}

TEST(ProtoIo, ErrorsPlaceUnknownTextFields) {
  EXPECT_EQ(ParseError("topology {\n  dimension {\n    latencyns: 5\n  }\n}\n"),
            "unknown field 'latencyns' at cluster.json:3:14; did you mean 'latency_ns'? (in Dimension)");
}

TEST(ProtoIo, ValueErrorsNameFieldAndPlace) {
  EXPECT_THAT(
      ParseError("{\"topology\":\n {\"dimension\": [{\"kind\": \"RNIG\"}]}}"),
      AllOf(HasSubstr("field 'kind'"), HasSubstr("cluster.json:2:26"), HasSubstr("did you mean 'RING'")));
  EXPECT_THAT(
      ParseError("{\"topology\": {\"dimension\": [{\"size\": 1.5}]}}"),
      AllOf(HasSubstr("field 'size': expected an integer (int32), found number 1.5"), HasSubstr(":1:38")));
  EXPECT_THAT(ParseError("{\"topology\": {\"dimension\": [{\"size\": 99999999999}]}}"),
              HasSubstr("field 'size'"));
  EXPECT_THAT(ParseError("{\"device\": {\"peak_tflops\": {\"bf16\": \"many\"}}}"),
              HasSubstr("peak_tflops[\"bf16\"]"));
  EXPECT_THAT(ParseError("topology { dimension { kind: RNIG } }"),
              AllOf(HasSubstr("field 'kind'"), HasSubstr("'RNIG'"), HasSubstr("did you mean 'RING'")));
  EXPECT_THAT(ParseError("name: 'a'\ndevice {\n  memory_latency_ns: fast\n}"),
              AllOf(HasSubstr("field 'memory_latency_ns'"), HasSubstr("cluster.json:3:")));
}

TEST(ProtoIo, BadJsonIsRefused) {
  EXPECT_THAT(ParseError("{\"name\": \"a\",\n \"name\": \"b\"}"),
              HasSubstr("duplicate key 'name' at cluster.json:2:2"));
  EXPECT_THAT(ParseError("{\"name\": \"a\",}"), HasSubstr("expected a key in double quotes, found '}'"));
  EXPECT_THAT(ParseError("{\"name\": NaN}"), HasSubstr("expected a value, found 'N'"));
  EXPECT_THAT(ParseError("{\"name\": \"a\"} x"), HasSubstr("more text"));
  EXPECT_THAT(ParseError("{\"name\": \"a"), HasSubstr("closing quote"));
  EXPECT_THAT(ParseError("{\"a\":" + std::string(100000, '[')), HasSubstr("levels deep"));
}

TEST(ProtoIo, BadBinaryIsRefused) {
  std::string bytes = Sample().SerializeAsString();
  EXPECT_THAT(ParseError(bytes.substr(0, bytes.size() - 1)),
              AllOf(HasSubstr("not a Cluster"), HasSubstr("field 'collectives'")));
  ChakraProtoMsg::Node node;
  node.mutable_attr()->Add()->set_uint64_val(1);
  EXPECT_THAT(ParseError(node.SerializeAsString()), HasSubstr("unknown field number 10"));
}

TEST(ProtoIo, FileErrorsGiveTheSystemsReason) {
  EXPECT_THAT(Message(ReadFile("/no/such/file").status()),
              AllOf(HasSubstr("/no/such/file"), HasSubstr("No such file")));
  EXPECT_FALSE(ReadFile("/").ok());
  EXPECT_THAT(Message(WriteFile("/no/such/file", "x")), HasSubstr("/no/such/file"));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THAT(Message(WriteFile("/dev/full", "x")), HasSubstr("No space left"));
  }
}

TEST(ProtoIo, FileAppearsOnlyWhenCommitted) {
  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / ("chakra_proto_io." + std::to_string(::getpid()));
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  const std::string path = (dir / "a.json").string();
  {
    OutputFile file;
    ASSERT_TRUE(file.Open(path).ok());
    ASSERT_TRUE(file.Append("half").ok());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir));
  ASSERT_TRUE(WriteMessageFile(Sample(), MessageFormat::kJson, path).ok());
  proto::Cluster back;
  ASSERT_TRUE(ReadMessageFile(path, &back).ok());
  EXPECT_EQ(back.name(), Sample().name());
  std::filesystem::create_symlink(path, dir / "link");
  ASSERT_TRUE(WriteFile((dir / "link").string(), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(*ReadFile(path), "new");
  std::filesystem::remove_all(dir);
}

TEST(ProtoIo, FilesAreCompressedByNameAndUnpackedByContent) {
  const std::string base = (std::filesystem::path(::testing::TempDir()) / "chakra_packed").string();
  const std::string text(100000, 'x');
  for (const char* end : {"", ".gz", ".zst"}) {
    const std::string path = base + end;
    ASSERT_TRUE(WriteFile(path, text).ok());
    EXPECT_EQ(ReadFileAsItIs(path)->size() < 1000, *end != '\0') << path;
    EXPECT_EQ(*ReadFile(path), text) << path;
    EXPECT_EQ(*ReadFile(path, text.size()), text) << path;
    EXPECT_THAT(Message(ReadFile(path, text.size() - 1).status()), HasSubstr("at most 99999 bytes"));
    ASSERT_TRUE(WriteMessageFile(Sample(), MessageFormat::kText, path).ok());
    proto::Cluster back;
    ASSERT_TRUE(ReadMessageFile(path, &back).ok());
    EXPECT_EQ(back.name(), Sample().name());
    ASSERT_TRUE(WriteFile(path, text, Compression::kNone).ok());
    EXPECT_EQ(*ReadFileAsItIs(path), text);
    std::filesystem::remove(path);
  }
  EXPECT_EQ(WithoutCompression("a.json.gz"), "a.json");
  EXPECT_EQ(WithoutCompression("a.zst.json"), "a.zst.json");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
