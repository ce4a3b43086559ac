// XProf's JSON of a JAX profile, read as the profile that it shows.
#include "trace/import/xplane/trace_view.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/import/reader.h"
#include "trace/import/registry.h"

namespace chakra::xplane {
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

TEST(TraceView, WhatIsNoneIsSaid) {
  EXPECT_TRUE(LooksLikeTraceView(View()));
  EXPECT_FALSE(LooksLikeTraceView("{\"traceEvents\":[]}"));
  EXPECT_THAT(std::string(XSpaceOfTraceView("{\"traceEvents\":[", "v.json").status().message()),
              HasSubstr("v.json: not JSON"));
  EXPECT_THAT(std::string(XSpaceOfTraceView("{\"traceEvents\":1}", "v.json").status().message()),
              HasSubstr("no list"));
}

}  // namespace
}  // namespace chakra::xplane
