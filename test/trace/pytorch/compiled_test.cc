// Kernels that Inductor generated, as PyTorch's profiler records them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/trace/pytorch/compiled_capture.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/model/graph_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

TEST(Compiled, OperatorsAndKernelsHaveCompilerFacts) {
  const CaptureFolder folder;
  folder.Rank(0, CompiledCapture());
  const Written w = Emitted(folder.Read());
  int kernels = 0, operators = 0;
  for (const auto& node : w.nodes) {
    if (node.name() != "triton_poi_fused_add_0") continue;
    const bool host = Written::Value(node, "is_cpu_op") == "true";
    if (host && Written::Value(node, "part") != "none") continue;
    ++(host ? operators : kernels);
    EXPECT_EQ(Written::Value(node, "kernel_backend"), "triton");
    EXPECT_EQ(Written::Value(node, "kernel_file"), "/tmp/torchinductor/ab/cab.py");
    EXPECT_EQ(Written::Value(node, "kernel_kwargs"), "XBLOCK=256");
    EXPECT_EQ(Written::Value(node, "num_warps"), "4");
    EXPECT_EQ(Written::Value(node, "num_stages"), "1");
    const bool first = Written::Value(node, "grid") == "grid(4096,)";
    EXPECT_TRUE(!first || Written::Value(node, "kernel_hash") == "c0ffee");
    EXPECT_EQ(Written::Value(node, "num_ops"), first && !host ? "4096" : "none");
    EXPECT_EQ(Written::Value(node, "tensor_size"), first && !host ? "49152" : "none");
  }
  EXPECT_EQ(operators, 3);
  EXPECT_EQ(kernels, 3);
}

TEST(Compiled, ReadsKernelsOfARealCapture) {
  const std::string file = absl::StrCat(CHAKRA_SHARED_DATA, "/kineto/b200_eager_trace.json.gz");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "SKIPPED: no recordings at " << CHAKRA_SHARED_DATA;
  const auto capture = ReadCapture({file}, ReadOptions());
  ASSERT_TRUE(capture.ok()) << capture.status();
  int found = 0;
  for (const auto& node : Emitted(*capture).nodes) {
    if (Written::Value(node, "kernel_hash") == "none" || Written::Value(node, "is_cpu_op") == "true")
      continue;
    ++found;
    EXPECT_EQ(node.name(), "triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0");
    EXPECT_EQ(Written::Value(node, "kernel_hash"), "ch4lah5qtiqtyrlhee4kxisgq2na7hyppsiit5mhcmnefm6d7vir");
    EXPECT_EQ(Written::Value(node, "num_warps"), "1");
    EXPECT_EQ(Written::Value(node, "kernel_kwargs"), "XBLOCK=16");
  }
  EXPECT_EQ(found, 1);
}

TEST(Compiled, ColumnsEqualThoseOfTheFrames) {
  const CaptureFolder folder;
  folder.Rank(0, CompiledCapture());
  ReadOptions options;
  const auto columns = ReadTraceSet({folder.path()}, options);
  options.keep_raw = true;
  const auto frames = ReadTraceSet({folder.path()}, options);
  ASSERT_TRUE(columns.ok()) << columns.status();
  ASSERT_TRUE(frames.ok()) << frames.status();
  std::string bytes;
  EtWriter writer(&bytes, Compression::kNone);
  ASSERT_TRUE(WriteTrace(frames->ranks[0], &writer).ok());
  const auto decoded = DecodeTrace(bytes, "w.0.et", 0, {});
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(SameContent(*columns->ranks[0].graph, *decoded->graph));
  EXPECT_FALSE(columns->ranks[0].graph->code.empty());
}

TEST(Compiled, LeavesOutAndCountsBadArguments) {
  KinetoBuilder k;
  k.Op(11, "triton_red_fused_sum_1", 0, 9000,
       ",\"kernel_hash\":\"c0ffee\",\"num_warps\":-4,\"num_stages\":\"two\",\"kernel_flop\":1e300,"
       "\"kernel_num_gb\":[1]");
  const DeviceTrace trace = k.Trace();
  ASSERT_EQ(trace.compiled.size(), 1u);
  EXPECT_EQ(trace.strings.Get(trace.compiled[0].hash), "c0ffee");
  for (const int64_t amount : {trace.compiled[0].warps, trace.compiled[0].stages,
                               trace.compiled[0].operations, trace.compiled[0].traffic})
    EXPECT_EQ(amount, kNone);
  ASSERT_EQ(trace.repairs.size(), 1u);
  EXPECT_EQ(trace.repairs[0].kind, "kineto_bad_argument");
  EXPECT_EQ(trace.repairs[0].count, 4u);
}

// A trace of another program, in which the hash is no text.
TEST(Compiled, RefusesHashesThatAreNoText) {
  ChakraProtoMsg::GlobalMetadata metadata;
  ChakraProtoMsg::Node node;
  node.set_id(3);
  node.set_name("triton_x");
  node.set_type(ChakraProtoMsg::COMP_NODE);
  auto* attribute = node.add_attr();
  attribute->set_name("kernel_hash");
  attribute->set_int64_val(7);
  const CaptureFolder folder;
  std::string frames;
  EtWriter writer(&frames, Compression::kNone);
  ASSERT_TRUE(writer.AddMetadata(metadata).ok());
  ASSERT_TRUE(writer.AddFrame(node.SerializeAsString()).ok());
  ASSERT_TRUE(writer.Finish().ok());
  std::ofstream(folder.At("w.0.et"), std::ios::binary) << frames;
  const auto traces = ReadTraceSet({folder.At("w.0.et")}, ReadOptions());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(std::string(traces.status().message()), HasSubstr("kernel_hash"));
  EXPECT_THAT(std::string(traces.status().message()), HasSubstr("expected text"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
