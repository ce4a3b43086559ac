// XProf's JSON of a JAX profile, read as the profile that it shows.
#include "trace/import/xplane/trace_view.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/reader.h"
#include "trace/import/registry.h"

namespace chakra::xplane::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

std::string View() {
  std::string events = R"({"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":7,"tid":5,"name":"thread_name","args":{"name":"python"}})";
  for (const int d : {0, 1}) {
    absl::StrAppend(&events, ",\n{\"ph\":\"M\",\"pid\":", 1 + d,
                    ",\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:", d,
                    "\"}},\n{\"ph\":\"M\",\"pid\":", 1 + d,
                    ",\"tid\":13,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream #13(Compute)\"}}");
    for (const int k : {0, 1, 2}) {
      absl::StrAppend(&events, ",\n{\"ph\":\"X\",\"pid\":", 1 + d, ",\"tid\":13,\"ts\":", 100 + 50 * k,
                      ".25,\"dur\":40.5,\"name\":\"fusion_", k, "\",\"args\":{\"hlo_op\":\"fusion.", k,
                      "\",\"hlo_module\":\"jit_step\",\"correlation_id\":\"", 10 * d + k, "\"}}");
    }
  }
  return absl::StrCat("{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[",
                      events, ",{}]}");
}

TEST(TraceView, DevicesAreRanks) {
  const pytorch::CaptureFolder folder;
  const std::string path = folder.Write("host.trace.json", View());
  const Importer* importer = ImporterOfRun({path}, {});
  ASSERT_NE(importer, nullptr);
  EXPECT_EQ(importer->name, "xplane");
  const auto traces = ReadTraceSet({path}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  ASSERT_EQ(traces->ranks.size(), 2u);
  for (const RankTrace& rank : traces->ranks) {
    Time busy;
    int kernels = 0;
    for (uint32_t row = 0; row < rank.graph->size(); ++row) {
      if (rank.graph->type[row] != NodeType::kComp || rank.graph->is_cpu(row)) continue;
      ++kernels;
      busy = busy + rank.graph->duration[row];
    }
    EXPECT_EQ(kernels, 3);
    EXPECT_EQ(busy, Time::Nanos(3 * 40'500));
  }
  EXPECT_THAT(absl::StrJoin(traces->warnings, "\n"), HasSubstr("give the *.xplane.pb"));
}

// Names of instructions identify collectives where the program does not.
TEST(TraceView, FindsCollectivesByTheirNames) {
  const auto view = [](const std::vector<std::string>& names, const std::string& plane,
                       const std::string& line) {
    std::string events;
    for (const int d : {0, 1}) {
      absl::StrAppend(&events, d == 0 ? "" : ",", "{\"ph\":\"M\",\"pid\":", 1 + d,
                      ",\"name\":\"process_name\",\"args\":{\"name\":\"", plane, d,
                      "\"}},\n{\"ph\":\"M\",\"pid\":", 1 + d,
                      ",\"tid\":13,\"name\":\"thread_name\",\"args\":{\"name\":\"", line, "\"}}");
      for (size_t k = 0; k < names.size(); ++k)
        absl::StrAppend(&events, ",\n{\"ph\":\"X\",\"pid\":", 1 + d, ",\"tid\":13,\"ts\":", 100 + 50 * k,
                        ",\"dur\":40,\"name\":\"", names[k], "\",\"args\":{\"hlo_op\":\"", names[k],
                        "\",\"hlo_module\":\"jit_step\"}}");
    }
    return absl::StrCat("{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[",
                        events, "]}");
  };
  const auto count = [](const TraceSet& set, std::string* repairs) {
    std::string types;
    const RankTrace& rank = set.ranks[0];
    for (uint32_t row = 0; row < rank.graph->size(); ++row) {
      if (rank.graph->type[row] == NodeType::kCollective)
        absl::StrAppend(
            &types, Name(static_cast<CollectiveType>(rank.graph->comm[rank.graph->payload[row]].type)), " ");
      if (rank.graph->type[row] == NodeType::kComp && rank.graph->is_kept_comm(row)) types += "kept ";
    }
    for (const Repair& r : rank.repairs) absl::StrAppend(repairs, r.kind, " ");
    return types;
  };
  const pytorch::CaptureFolder folder;
  std::string repairs;
  const std::string gpu = folder.Write(
      "gpu.trace.json",
      view({"all-reduce.1", "loop_fusion_2", "all-gather-start", "reduce-scatter.4", "all-to-all.7",
            "ragged-all-to-all.1", "collective-permute-start.2", "all-reduce_fusion", "all-gather-done"},
           "/device:GPU:", "Stream #13(Compute)"));
  const auto traces = ReadTraceSet({gpu}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(count(*traces, &repairs), "all_reduce all_gather reduce_scatter all_to_all all_to_all kept ");
  EXPECT_THAT(repairs, HasSubstr("comm_size_unknown"));
  EXPECT_THAT(absl::StrJoin(traces->warnings, "\n"), HasSubstr("the programs of 18 operations"));
  // On a TPU the time between a start and the end of its number is the collective.
  const std::string tpu = folder.Write(
      "tpu.trace.json", view({"all-reduce-start.3", "fusion.1", "all-reduce-done.3", "all-gather.2"},
                             "/device:TPU:", "XLA Ops"));
  const auto cores = ReadTraceSet({tpu}, {});
  ASSERT_TRUE(cores.ok()) << cores.status();
  EXPECT_EQ(count(*cores, &repairs), "all_reduce all_gather ");
}

TEST(TraceView, RefusesOtherJson) {
  EXPECT_TRUE(LooksLikeTraceView(View()));
  EXPECT_FALSE(LooksLikeTraceView("{\"traceEvents\":[]}"));
  EXPECT_THAT(std::string(XSpaceOfTraceView("{\"traceEvents\":[", "v.json").status().message()),
              HasSubstr("v.json: not JSON"));
  EXPECT_THAT(std::string(XSpaceOfTraceView("{\"traceEvents\":1}", "v.json").status().message()),
              HasSubstr("not a list"));
}

}  // namespace
}  // namespace chakra::xplane::CHAKRA_FILE
