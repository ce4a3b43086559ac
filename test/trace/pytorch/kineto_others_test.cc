// Events whose category does not say what the events are.
#include "trace/import/kineto/kineto_others.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/timeline/build_timeline.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using testing::HasSubstr;
using testing::Not;

DeviceTrace Read(const std::vector<std::string>& events) {
  const std::string text = absl::StrCat("[", absl::StrJoin(events, ","), "]");
  MemorySource source(text);
  auto trace = ReadKineto(&source, "trace_view.json");
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : DeviceTrace();
}

// Times are in microseconds. `more`: members, each begun with a comma.
std::string X(const std::string& name, const std::string& pid, int tid, int ts, int dur,
              const std::string& args = "", const std::string& more = "") {
  return absl::StrCat("{\"ph\":\"X\",\"name\":\"", name, "\",\"pid\":", pid, ",\"tid\":", tid, ",\"ts\":\"",
                      1700000000000000 + ts, ".000\",\"dur\":", dur, ",\"args\":{", args, "}", more, "}");
}
std::string Named(const std::string& what, const std::string& pid, int tid, const std::string& name) {
  return absl::StrCat("{\"ph\":\"M\",\"name\":\"", what, "\",\"pid\":", pid, ",\"tid\":", tid,
                      ",\"args\":{\"", what == "process_labels" ? "labels" : "name", "\":\"", name, "\"}}");
}
std::string Arrow(const std::string& ph, const std::string& cat, int id, const std::string& pid, int tid,
                  int ts) {
  return absl::StrCat("{\"ph\":\"", ph, "\",\"bp\":\"e\",\"cat\":\"", cat, "\",\"name\":\"", cat,
                      "\",\"id\":\"", id, "\",\"pid\":", pid, ",\"tid\":", tid, ",\"ts\":\"",
                      1700000000000000 + ts, ".000\"}");
}
const char* const kCpuOp = ",\"cat\":\"cpu_op\"";

// "name kind": the operations of the device, by time.
std::vector<std::string> Operations(const DeviceTrace& t) {
  std::vector<std::string> out;
  for (const Event& e : t.events) {
    if (!OnDevice(e.kind)) continue;
    out.push_back(absl::StrCat(std::string(t.name_of(e)), e.kind == EventKind::kMemcpy ? " copy" : ""));
  }
  return out;
}

uint64_t Repairs(const DeviceTrace& t, absl::string_view kind) {
  for (const Repair& r : t.repairs) {
    if (r.kind == kind) return r.count;
  }
  return 0;
}

// The output of torch_npu: operators, calls of CANN in a process of their own, tasks by stream, collectives
// and their parts, and events that torch_npu derives from these.
TEST(OtherEvents, ReadsACaptureOfAnNpu) {
  const DeviceTrace t = Read(
      {X("aten::mm", "10", 11, 0, 50, "", kCpuOp),
       X("Node@launch", "900", 11, 10, 20, "\"Thread Id\":11,\"connection_id\":7"),
       X("MatMulV2", "500", 2, 100, 300,
         "\"Task Type\":\"AI_CORE\",\"Physic Stream Id\":2,\"connection_id\":7"),
       X("EVENT_WAIT", "500", 2, 400, 90, "\"Task Type\":\"EVENT_WAIT\",\"Physic Stream Id\":2"),
       X("MEMCPY_ASYNC", "500", 3, 500, 20, "\"Task Type\":\"MEMCPY_ASYNC\",\"Physic Stream Id\":3"),
       X("aten::add", "10", 11, 600, 50, "", kCpuOp), Arrow("s", "async_npu", 31, "10", 11, 610),
       X("Add", "500", 2, 700, 100, "\"Task Type\":\"AI_VECTOR_CORE\",\"Physic Stream Id\":2"),
       Arrow("f", "async_npu", 31, "500", 2, 700),
       X("hcom_allReduce__503_0_1", "501", 0, 800, 200,
         "\"connection_id\":9,\"count\":1000,\"data_type\":\"FP32\""),
       X("hcom_allReduce__503_0_1", "500", 8, 810, 150, "\"Task Type\":\"AIV\",\"Physic Stream Id\":8"),
       X("Memcpy", "501", 4, 820, 30, "\"task type\":\"Memcpy\""), X("Computing", "502", 1, 100, 300),
       X("Free", "502", 3, 400, 100), Named("process_name", "900", 0, "CANN"),
       Named("process_name", "500", 0, "Ascend Hardware"), Named("process_name", "501", 0, "Communication"),
       Named("process_name", "502", 0, "Overlap Analysis"),
       Named("thread_name", "501", 0, "Group 0 Communication")});
  EXPECT_THAT(Operations(t),
              testing::ElementsAre("MatMulV2", "MEMCPY_ASYNC copy", "Add", "hcom_allReduce__503_0_1"));
  EXPECT_EQ(Repairs(t, "device_waits_left_out"), 1u);
  EXPECT_EQ(Repairs(t, "collective_parts_left_out"), 2u);
  EXPECT_EQ(Repairs(t, "kineto_unknown_category"), 0u);
  EXPECT_EQ(t.threads.size(), 1u) << "CANN's calls are those of the thread";
  const auto timeline = BuildTimeline(t, nullptr, nullptr, {});
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  int launched = 0, calls = 0;
  for (uint32_t row = 0; row < t.events.size(); ++row) {
    if (OnDevice(t.events[row].kind) && timeline->caller[row] != kNoRow) ++launched;
  }
  for (const TimelineNode& n : timeline->nodes) {
    if (n.comm == kNoRow) continue;
    ++calls;
    EXPECT_EQ(timeline->comms[n.comm].op, CommOp::kAllReduce);
    EXPECT_EQ(timeline->comms[n.comm].in_bytes, 4000);
    EXPECT_EQ(timeline->comms[n.comm].group, "Group 0 Communication");
  }
  EXPECT_EQ(launched, 2) << "by its connection, and by its arrow";
  EXPECT_EQ(calls, 1);
}

TEST(OtherEvents, ReadsACaptureOfAnHpu) {
  const std::string hpu = ",\"cat\":\"hpu_op\"";
  const DeviceTrace t =
      Read({X("aten::mm", "10", 11, 0, 50, "", kCpuOp), X("launch recipe", "10", 11, 10, 20, "", hpu),
            X("GEMM", "0", 6000, 100, 300, "\"HW event name\":\"MMEH_WB\"", hpu),
            X("add_fwd_bf16", "0", 7001, 400, 50, "\"HW event name\":\"TPC_SPU_START_TO_SPU_HALT\"", hpu),
            X("add_fwd_bf16", "0", 7002, 400, 50, "\"HW event name\":\"TPC_SPU_START_TO_SPU_HALT\"", hpu),
            X("DmaMemcpy", "0", 4000, 460, 10, "\"HW event name\":\"DBG_DMA_TRC_WR_DATA_LAST\"", hpu),
            X("hcclAllReduce", "0", 8000, 480, 40, "\"HW event name\":\"STM_0_RX\"", hpu)});
  EXPECT_THAT(Operations(t), testing::ElementsAre("GEMM", "add_fwd_bf16", "add_fwd_bf16", "DmaMemcpy copy",
                                                  "hcclAllReduce"));
  EXPECT_EQ(t.streams.size(), 5u);
  EXPECT_EQ(t.unknown_events, 0u);
}

TEST(OtherEvents, EventsWithDeviceAndStreamAreOperations) {
  const DeviceTrace t =
      Read({X("aten::mm", "10", 11, 0, 50, "", kCpuOp),
            X("k", "3", 7, 100, 300, "\"device\":3,\"stream\":7", ",\"cat\":\"mlu_kernel\""),
            X("c", "3", 7, 500, 30, "\"device\":3,\"stream\":7", ",\"cat\":\"mlu_memcpy\""),
            X("note", "3", 7, 100, 400, "\"device\":3,\"stream\":7", ",\"cat\":\"mlu_user_annotation\""),
            X("cnLaunch", "10", 11, 5, 5, "\"correlation\":1", ",\"cat\":\"mlu_runtime\"")});
  EXPECT_THAT(Operations(t), testing::ElementsAre("k", "c copy"));
  EXPECT_EQ(Repairs(t, "device_by_stream"), 2u);
  ASSERT_EQ(t.streams.size(), 1u);
  EXPECT_EQ(t.streams[0].device, 3);
}

TEST(OtherEvents, LeavesOutAndCountsUnknownEvents) {
  const DeviceTrace t = Read({X("aten::mm", "10", 11, 0, 50, "", kCpuOp), X("?", "77", 1, 10, 20),
                              X("?", "77", 1, 40, 20, "", ",\"cat\":\"odd\"")});
  EXPECT_EQ(Repairs(t, "kineto_unknown_category"), 2u);
  EXPECT_EQ(t.unknown_events, 2u);
  const auto timeline = BuildTimeline(t, nullptr, nullptr, {});
  ASSERT_TRUE(timeline.ok());
  EXPECT_TRUE(timeline->unseen.Counts());
  EXPECT_THAT(Describe(timeline->unseen), HasSubstr("2 events that may be device operations were left out"));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
