// Columns that are built without frames, against the columns that the decoder makes of the frames.
// WrittenCaptureReplaysTheSame in convert_test.cc compares the columns of a composed capture.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/model/graph_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;

auto Fields(const Peer& p) { return std::make_tuple(p.src, p.dst, p.tag, p.root, p.group); }

// Reads the inputs without frames, and with frames, which are decoded.
void ExpectSameBothWays(const std::vector<std::string>& inputs, const std::string& steps) {
  SCOPED_TRACE(absl::StrCat(inputs[0], " ", steps));
  ReadOptions options;
  options.capture.steps = steps;
  const auto columns = ReadTraceSet(inputs, options);
  options.keep_raw = true;
  const auto frames = ReadTraceSet(inputs, options);
  ASSERT_TRUE(columns.ok()) << columns.status();
  ASSERT_TRUE(frames.ok()) << frames.status();
  ASSERT_EQ(columns->ranks.size(), frames->ranks.size());
  for (size_t r = 0; r < columns->ranks.size(); ++r) {
    const RankTrace& a = columns->ranks[r];
    EXPECT_EQ(a.raw, nullptr);
    ASSERT_NE(frames->ranks[r].raw, nullptr);
    std::string bytes;
    EtWriter writer(&bytes, Compression::kNone);
    ASSERT_TRUE(WriteTrace(frames->ranks[r], &writer).ok());
    const auto decoded = DecodeTrace(bytes, a.file, a.rank, {});
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const RankTrace& b = *decoded;
    EXPECT_TRUE(SameContent(*a.graph, *frames->ranks[r].graph));
    EXPECT_TRUE(SameContent(*a.graph, *b.graph));
    EXPECT_EQ(a.graph->strings, b.graph->strings);
    EXPECT_EQ(a.graph->order, b.graph->order);
    EXPECT_EQ(a.metadata, b.metadata);
    EXPECT_EQ(a.group_names, b.group_names);
    EXPECT_EQ(a.recorded_rank, frames->ranks[r].recorded_rank);
    EXPECT_TRUE(b.repairs.empty());
    ASSERT_EQ(a.peers.size(), b.peers.size());
    for (size_t i = 0; i < a.peers.size(); ++i) EXPECT_EQ(Fields(a.peers[i]), Fields(b.peers[i]));
  }
}

TEST(ColumnBuilder, EqualsTheDecoderOnRealRecordings) {
  if (!fs::exists(CHAKRA_SHARED_DATA)) GTEST_SKIP() << "SKIPPED: no recordings at " << CHAKRA_SHARED_DATA;
  const std::string data = CHAKRA_SHARED_DATA;
  for (const char* name :
       {"kineto/b200_eager_trace.json.gz", "kineto/mi300_resnet_act_checkpoint.json.gz",
        "kineto/mi300x_vllm_piecewise_graphs.json.gz", "kineto/jobs/gloo_pp4", "kineto/jobs/gloo_tp4",
        "nsys/h100_2gpu_1s.sqlite", "nsys/mock.sqlite", "xplane/jax_conv_minimal_mi300x.xplane.pb",
        "xplane/jax_te_fused_attention.xplane.pb", "rocprof/mi350x_training_rank_of_8.json.gz",
        "hta/mtia_inference_rank_0.json.gz"})
    ExpectSameBothWays({data + "/" + name}, "");
  ExpectSameBothWays({data + "/kineto/mi300_resnet_act_checkpoint.json.gz"}, "last");
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
