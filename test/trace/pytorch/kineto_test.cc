#include "trace/import/kineto/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/capture_generator.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<DeviceTrace> Read(absl::string_view text) {
  MemorySource source(text);
  return ReadKineto(&source, "t.json");
}

// `events`: objects with commas between them. `members`: with a comma at the end.
DeviceTrace MustRead(absl::string_view events, absl::string_view members = "") {
  auto trace = Read(absl::StrCat("{", members, "\"traceEvents\":[", events, "]}"));
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : DeviceTrace();
}

std::string ErrorOf(absl::string_view events, absl::string_view members = "") {
  return std::string(Read(absl::StrCat("{", members, "\"traceEvents\":[", events, "]}")).status().message());
}

std::string X(absl::string_view cat, absl::string_view name, absl::string_view ts, absl::string_view dur,
              absl::string_view args = "", absl::string_view pid = "1", absl::string_view tid = "2") {
  return absl::StrCat("{\"ph\":\"X\",\"cat\":\"", cat, "\",\"name\":\"", name, "\",\"pid\":", pid,
                      ",\"tid\":", tid, ",\"ts\":", ts, ",\"dur\":", dur, ",\"args\":{", args, "}}");
}

std::string Names(const DeviceTrace& t) {
  std::string out;
  for (const Event& e : t.events) absl::StrAppend(&out, out.empty() ? "" : " ", std::string(t.name_of(e)));
  return out;
}

uint64_t Repairs(const DeviceTrace& t, absl::string_view kind) {
  for (const Repair& r : t.repairs) {
    if (r.kind == kind) return r.count;
  }
  return 0;
}

TEST(Kineto, TimesWithoutABaseBeginAtTheFirstEvent) {
  const DeviceTrace t = MustRead(X("cpu_op", "b", "1694128201435418", "52") + "," +
                                 X("cpu_op", "a", "1694128201435417.25", "0.001"));
  EXPECT_EQ(t.base_ns, 1694128201435417250);
  EXPECT_EQ(Names(t), "a b");
  EXPECT_EQ(t.events[0].ts, 0);
  EXPECT_EQ(t.events[0].dur, 1);
  EXPECT_EQ(t.events[1].ts, 750);
  EXPECT_EQ(t.events[1].dur, 52000);
}

TEST(Kineto, TimesCountFromTheBase) {
  const std::string event = X("cpu_op", "a", "4458676522690.655", "156.777");
  for (const std::string& text :
       {absl::StrCat("{\"baseTimeNanoseconds\":1711964646000000000,\"traceEvents\":[", event, "]}"),
        absl::StrCat("{\"traceEvents\":[", event, "],\"baseTimeNanoseconds\":1711964646000000000}")}) {
    const auto t = Read(text);
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->base_ns, 1711964646000000000);
    EXPECT_EQ(t->events[0].ts, 4458676522690655);
    EXPECT_EQ(t->events[0].dur, 156777);
    EXPECT_THAT(t->repairs, IsEmpty());
  }
}

TEST(Kineto, IgnoresTheBaseForEpochTimes) {
  const DeviceTrace t =
      MustRead(X("cpu_op", "a", "1711964647000000.5", "1"), "\"baseTimeNanoseconds\":1711964646000000000,");
  EXPECT_EQ(t.base_ns + t.events[0].ts, 1711964647000000500);
  EXPECT_EQ(Repairs(t, "kineto_base_ignored"), 1u);
}

TEST(Kineto, SortsByTimeThenLongerFirstThenFile) {
  const DeviceTrace t = MustRead(X("cpu_op", "d", "9", "1") + "," + X("cpu_op", "b", "5", "2") + "," +
                                 X("cpu_op", "c", "5", "2") + "," + X("cpu_op", "a", "5", "3"));
  EXPECT_EQ(Names(t), "a b c d");
}

TEST(Kineto, AcceptsABareArray) {
  const auto t = Read(absl::StrCat("[", X("kernel", "k", "1", "2", "\"stream\":7,\"device\":0"), "]"));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->events.size(), 1u);
}

TEST(Kineto, MapsCategories) {
  const std::pair<const char*, EventKind> known[] = {{"cpu_op", EventKind::kCpuOp},
                                                     {"Operator", EventKind::kCpuOp},
                                                     {"user_annotation", EventKind::kAnnotation},
                                                     {"cuda_runtime", EventKind::kRuntime},
                                                     {"Runtime", EventKind::kRuntime},
                                                     {"mtia_runtime", EventKind::kRuntime},
                                                     {"privateuse1_runtime", EventKind::kRuntime},
                                                     {"cuda_driver", EventKind::kDriver},
                                                     {"privateuse1_driver", EventKind::kDriver},
                                                     {"kernel", EventKind::kKernel},
                                                     {"Kernel", EventKind::kKernel},
                                                     {"mtia_ccp_events", EventKind::kKernel},
                                                     {"gpu_memcpy", EventKind::kMemcpy},
                                                     {"Memcpy", EventKind::kMemcpy},
                                                     {"gpu_memset", EventKind::kMemset},
                                                     {"Memset", EventKind::kMemset},
                                                     {"cuda_sync", EventKind::kSync}};
  for (const auto& [cat, kind] : known) {
    const DeviceTrace t = MustRead(X(cat, "n", "1", "2"));
    ASSERT_EQ(t.events.size(), 1u) << cat;
    EXPECT_EQ(t.events[0].kind, kind) << cat;
    EXPECT_EQ(t.skipped, 0u);
    EXPECT_EQ(OnHost(kind) ? t.threads.size() : t.streams.size(), 1u);
  }
  for (const char* cat :
       {"python_function", "gpu_user_annotation", "overhead", "Trace", "cuda_profiler_range"}) {
    const DeviceTrace t = MustRead(X(cat, "n", "1", "2"));
    EXPECT_EQ(t.events.size(), 0u) << cat;
    EXPECT_EQ(t.skipped, 1u) << cat;
    EXPECT_THAT(t.repairs, IsEmpty()) << cat;
  }
}

TEST(Kineto, CountsUnknownCategories) {
  const DeviceTrace t = MustRead(X("tpu_op", "n", "1", "2") + "," + X("tpu_op", "n", "1", "2") +
                                 ",{\"ph\":\"X\",\"name\":\"n\",\"ts\":1}");
  EXPECT_EQ(t.skipped, 3u);
  ASSERT_EQ(Repairs(t, "kineto_unknown_category"), 3u);
  EXPECT_THAT(t.repairs[0].detail, HasSubstr("tpu_op"));
  EXPECT_EQ(t.repairs[0].file, "t.json");
}

TEST(Kineto, BadDurationsBecomeZeroAndAreCounted) {
  const DeviceTrace t =
      MustRead(X("cpu_op", "a", "1", "NaN") + "," + X("cpu_op", "b", "2", "-3.5") + "," +
               X("cpu_op", "c", "3", "Infinity") +
               ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"d\",\"pid\":1,\"tid\":2,\"ts\":4}," +
               X("cpu_op", "e", "5", "\"x\"") + "," + X("cpu_op", "f", "6", "null"));
  ASSERT_EQ(t.events.size(), 6u);
  for (const Event& e : t.events) EXPECT_EQ(e.dur, 0);
  EXPECT_EQ(Repairs(t, "kineto_bad_duration"), 3u);
  EXPECT_EQ(Repairs(t, "kineto_negative_duration"), 1u);
  EXPECT_EQ(Repairs(t, "kineto_missing_duration"), 2u);
}

TEST(Kineto, ReadsTimesWrittenAsText) {
  const DeviceTrace t =
      MustRead(X("cpu_op", "a", "\"1.5\"", "\"2.25\"") + "," + X("cpu_op", "b", "4", "\"-1\""));
  ASSERT_EQ(t.events.size(), 2u);
  EXPECT_EQ(t.events[1].ts - t.events[0].ts, 2500);
  EXPECT_EQ(t.events[0].dur, 2250);
  EXPECT_EQ(t.events[1].dur, 0);
  EXPECT_EQ(Repairs(t, "kineto_quoted_time"), 3u);
  EXPECT_EQ(Repairs(t, "kineto_negative_duration"), 1u);
}

TEST(Kineto, ErrorsNameFileEventNameByteAndField) {
  const std::string good = X("cpu_op", "a", "1", "2");
  EXPECT_THAT(ErrorOf(good + "," + X("cpu_op", "mm", "NaN", "2")),
              HasSubstr(absl::StrCat("t.json: event 1 (\"mm\") at byte ", 17 + good.size(),
                                     ": \"ts\" is NaN; expected a number of microseconds, as ")));
  EXPECT_THAT(ErrorOf(X("cpu_op", "mm", "\"soon\"", "2")), HasSubstr("\"ts\" is \"soon\""));
  EXPECT_THAT(ErrorOf(X("cpu_op", "mm", "[7]", "2")), HasSubstr("\"ts\" is [7]"));
  EXPECT_THAT(ErrorOf(X("cpu_op", "mm", "1e300", "2")), HasSubstr("\"ts\" is 1e300"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":2})"),
              HasSubstr("event 0 (\"mm\") at byte 16: \"ts\" is missing"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","cat":"cpu_op","ts":1,"pid":1,"tid":2})"),
              HasSubstr("\"name\" is missing; expected text"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","cat":"cpu_op","name":5,"ts":1,"pid":1,"tid":2})"),
              HasSubstr("\"name\" is 5"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","cat":"cpu_op","name":"a","ts":1,"tid":2})"),
              HasSubstr("\"pid\" is missing"));
  EXPECT_THAT(ErrorOf(X("kernel", "k", "1", "2", "\"correlation\":\"abc\"")),
              HasSubstr("\"correlation\" is \"abc\"; expected an integer"));
  EXPECT_THAT(ErrorOf(X("kernel", "k", "1", "2", "\"External id\":[1]")),
              HasSubstr("\"External id\" is [1]"));
  EXPECT_THAT(ErrorOf(X("kernel", "k", "1", "2", "\"stream\":\"main\"")),
              HasSubstr("\"stream\" is \"main\"; expected the number of a stream"));
  EXPECT_THAT(ErrorOf(X("kernel", "k", "1", "2", "", "\"GPU\"")),
              HasSubstr("\"pid\" is \"GPU\"; expected the number of a device"));
}

TEST(Kineto, IgnoresBadMetadata) {
  const DeviceTrace t = MustRead(
      R"({"ph":"M","name":"process_labels","ts":"x","args":{"labels":7}},{"ph":"i","ts":null},{"ph":"X","cat":"overhead","dur":[]})");
  EXPECT_EQ(t.skipped, 3u);
  EXPECT_THAT(t.repairs, IsEmpty());
}

TEST(Kineto, ErrorsNameMalformedEvents) {
  EXPECT_THAT(ErrorOf(R"({"ph":"X"},{"ph" "X"})"), HasSubstr("t.json: event 1 at byte 27: not valid JSON"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","args":[}, {"ph":"X"]})"), HasSubstr("event 0"));
  EXPECT_THAT(ErrorOf(X("kernel", "k", "1", "2", "\"grid\"")), HasSubstr("event 0 (\"k\")"));
  EXPECT_THAT(ErrorOf(R"({"ph":"X","args":5})"), HasSubstr("not valid JSON"));
}

TEST(Kineto, TruncatedFilesEndWithTheLastWholeEvent) {
  const std::string text =
      absl::StrCat("{\"traceEvents\":[", X("cpu_op", "a", "1", "2"), ",", X("cpu_op", "b", "3", "4"), "]}");
  const size_t first = 16 + X("cpu_op", "a", "1", "2").size();
  const size_t second = first + 1 + X("cpu_op", "b", "3", "4").size();
  for (size_t n = 16; n < text.size(); ++n) {
    const auto t = Read(text.substr(0, n));
    ASSERT_TRUE(t.ok()) << n << t.status();
    EXPECT_EQ(t->events.size(), n >= second ? 2u : n >= first ? 1u : 0u) << n;
    EXPECT_EQ(Repairs(*t, "truncated_kineto"), 1u) << n;
  }
  for (size_t n = 0; n < 16; ++n) EXPECT_FALSE(Read(text.substr(0, n)).ok()) << n;
  EXPECT_THAT(std::string(Read("{\"a\":1}").status().message()), HasSubstr("without \"traceEvents\""));
}

TEST(Kineto, BytesThatAreNotTextAreReplacedAndCounted) {
  const DeviceTrace t =
      MustRead(X("cpu_op", "a\xff\xc3z", "1", "2") + "," + X("cpu_op", "tab\tnl\n\\\"q", "3", "4") + "," +
               X("cpu_op", "\xc3\xa9", "5", "6"));
  EXPECT_EQ(Names(t), "a??z tab nl \"q \xc3\xa9");
  EXPECT_EQ(Repairs(t, "kineto_bad_utf8"), 2u);
  EXPECT_EQ(Repairs(t, "kineto_control_character"), 2u);
}

TEST(Kineto, OperatorsKeepSequenceThreadShapesAndTypes) {
  const DeviceTrace t =
      MustRead(X("cpu_op", "mm", "1", "2",
                 "\"External id\":9,\"Record function id\":4,\"Sequence number\":11,\"Fwd thread id\":1,"
                 "\"Concrete Inputs\":[\"{\",\"]\"],\"Input Dims\": [[8, 4],\n [] ] ,\"Input "
                 "type\":[\"float\",\"\"],\"Ev Idx\":3") +
               "," + X("cpu_op", "empty", "3", "1", "\"Record function id\":0"));
  ASSERT_EQ(t.events.size(), 2u);
  EXPECT_EQ(t.ids_of(0).external, 9);
  EXPECT_EQ(t.ids_of(0).rf, 4);
  ASSERT_EQ(t.ops.size(), 1u);
  const OpExtra& x = t.ops[t.events[0].extra];
  EXPECT_EQ(x.seq, 11);
  EXPECT_EQ(x.fwd_thread, 1);
  EXPECT_EQ(t.strings.Get(x.shapes), "[[8,4],[]]");
  EXPECT_EQ(t.strings.Get(x.types), "[\"float\",\"\"]");
  EXPECT_EQ(t.events[1].extra, kNoRow);
  EXPECT_EQ(t.ids_of(1).rf, kNone);
  EXPECT_EQ(t.ids_of(1).external, kNone);
}

TEST(Kineto, DeviceEventsKeepBytesGridAndStream) {
  const DeviceTrace t =
      MustRead(X("kernel", "k", "1", "2",
                 "\"External id\":5,\"correlation\":5,\"device\":1,\"stream\":7,\"grid\":[128, "
                 "2,\n1],\"block\":[64,1,1]",
                 "0", "3") +
               "," +
               X("gpu_memcpy", "c", "3", "2",
                 "\"correlation\":6,\"bytes\":4096,\"memory bandwidth (GB/s)\":1.5", "1", "7") +
               "," + X("gpu_memset", "s", "6", "2", "\"stream\":4294967295,\"grid\":[1,2]", "1", "7"));
  ASSERT_EQ(t.streams.size(), 2u);
  EXPECT_EQ(t.streams[0].device, 1);
  EXPECT_EQ(t.streams[0].stream, 7);
  EXPECT_EQ(t.streams[1].stream, -1);
  EXPECT_EQ(t.events[0].lane, t.events[1].lane);  // arguments, or pid and tid
  const DeviceExtra& k = t.device[t.events[0].extra];
  EXPECT_THAT(k.grid, ElementsAre(128, 2, 1));
  EXPECT_THAT(k.block, ElementsAre(64, 1, 1));
  EXPECT_EQ(t.device[t.events[1].extra].bytes, 4096);
  EXPECT_EQ(t.device[t.events[0].extra].bytes, kNone);
  EXPECT_EQ(Repairs(t, "kineto_bad_argument"), 1u);
}

TEST(Kineto, HipAndMtiaCallsNameTheirStream) {
  const DeviceTrace t =
      MustRead(X("cuda_runtime", "hipMemcpyWithStream", "1", "2",
                 R"("stream":"0x10","cid":153,"correlation":117,"size":"2560","kind":"1")") +
               "," +
               X("mtia_runtime", "enqueue", "3", "2",
                 R"("correlation":21600000,"device":17,"stream_id":"108","mem size":"14139908 bytes")") +
               "," + X("cuda_runtime", "cudaLaunchKernel", "6", "1", R"("cbid":211,"correlation":118)"));
  ASSERT_EQ(t.runtime.size(), 2u);
  EXPECT_EQ(t.runtime[0].stream, 16);
  EXPECT_EQ(t.runtime[0].bytes, 2560);
  EXPECT_EQ(t.runtime[1].stream, 108);
  EXPECT_EQ(t.runtime[1].bytes, 14139908);
  EXPECT_EQ(t.events[0].correlation, 117);
  EXPECT_EQ(t.events[2].extra, kNoRow);
  EXPECT_THAT(t.repairs, IsEmpty());
}

TEST(Kineto, ReadsSyncEvents) {
  const DeviceTrace t = MustRead(
      X("cuda_sync", "Stream Wait Event", "1", "2",
        R"("cuda_sync_kind":"Stream Wait Event","stream":20,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":33,"wait_on_cuda_event_id":9,"correlation":34,"device":0)") +
      "," +
      X("cuda_sync", "Event Sync", "2", "2",
        R"("cuda_sync_kind":"Event Sync","stream":-1,"wait_on_stream":4294967295,"wait_on_cuda_event_record_corr_id":-1)",
        "0", "-1") +
      "," + X("cuda_sync", "Context Sync", "3", "2") + "," +
      X("cuda_sync", "x", "4", "2", R"("cuda_sync_kind":"Stream Sync","stream":7)") + "," +
      X("cuda_sync", "New Sync", "5", "2"));
  ASSERT_EQ(t.syncs.size(), 5u);
  EXPECT_EQ(t.syncs[0].kind, SyncExtra::kStreamWaitEvent);
  EXPECT_EQ(t.syncs[0].wait_on_stream, 7);
  EXPECT_EQ(t.syncs[0].wait_on_correlation, 33);
  EXPECT_EQ(t.streams[t.events[0].lane].stream, 20);
  EXPECT_EQ(t.syncs[1].kind, SyncExtra::kEvent);
  EXPECT_EQ(t.syncs[1].wait_on_stream, kNone);
  EXPECT_EQ(t.syncs[1].wait_on_correlation, kNone);
  EXPECT_EQ(t.streams[t.events[1].lane].stream, -1);
  EXPECT_EQ(t.syncs[2].kind, SyncExtra::kContext);
  EXPECT_EQ(t.syncs[3].kind, SyncExtra::kStream);
  EXPECT_EQ(t.syncs[4].kind, SyncExtra::kOther);
}

TEST(Kineto, ReadsCommunicationCalls) {
  const std::string args =
      R"("Collective name":"allreduce","In msg nelems":2049000,"Out msg nelems":2049000,"Group size":2,"dtype":"Float",)"
      R"("In split size":"[3, 1]","Out split size":"[]","Process Group Name":"0","Process Group Description":"default_pg",)"
      R"("Process Group Ranks":"[0, 1]")";
  const DeviceTrace t =
      MustRead(X("cpu_op", "record_param_comms", "1", "2",
                 args + R"(,"Global rank start":0,"Global rank stride":1,"Rank":1,"Seq":12)") +
               "," + X("kernel", "ncclDevKernel", "5", "2", args + ",\"stream\":40"));
  ASSERT_EQ(t.comms.size(), 2u);
  for (const CommCall& c : t.comms) {
    EXPECT_EQ(c.op, CommOp::kAllReduce);
    EXPECT_EQ(c.name, "allreduce");
    EXPECT_EQ(c.group, "0");
    EXPECT_EQ(c.group_desc, "default_pg");
    EXPECT_THAT(c.ranks, ElementsAre(0, 1));
    EXPECT_FALSE(c.ranks_cut);
    EXPECT_EQ(c.group_size, 2);
    EXPECT_EQ(c.in_elems, 2049000);
    EXPECT_EQ(c.out_bytes, 8196000);
    EXPECT_THAT(c.in_split, ElementsAre(3, 1));
    EXPECT_THAT(c.out_split, IsEmpty());
    EXPECT_EQ(c.root, kNone);  // "Rank" of an all-reduce is the caller
  }
  EXPECT_EQ(t.comms[t.ops[t.events[0].extra].comm].seq, 12);
  EXPECT_EQ(t.comms[t.ops[t.events[0].extra].comm].stride, 1);
  EXPECT_EQ(t.comms[t.device[t.events[1].extra].comm].start, kNone);
}

TEST(Kineto, PeersAreGlobalAndRootsAreNot) {
  const DeviceTrace t = MustRead(
      X("kernel", "s", "1", "2", R"("Collective name":"send","Dst Rank":5,"Src Rank":1,"Rank":1)") + "," +
      X("kernel", "r", "2", "2", R"("Collective name":"recv","Src Rank":6)") + "," +
      X("cpu_op", "b", "3", "2",
        R"("Collective name":"broadcast","Rank":1,"Process Group ID":94,"Process Group Ranks":"[0, 1, ..., 127]")") +
      "," +
      X("cpu_op", "s2", "4", "2",
        R"("Collective name":"send","Rank":1,"In msg nelems":"many","In split size":"[1, ..., 2]")"));
  ASSERT_EQ(t.comms.size(), 4u);
  EXPECT_TRUE(t.comms[0].p2p && t.comms[0].root_is_global);
  EXPECT_EQ(t.comms[0].root, 5);
  EXPECT_EQ(t.comms[1].root, 6);
  EXPECT_FALSE(t.comms[2].p2p || t.comms[2].root_is_global);
  EXPECT_EQ(t.comms[2].root, 1);
  EXPECT_EQ(t.comms[2].group, "94");
  EXPECT_TRUE(t.comms[2].ranks_cut);
  EXPECT_THAT(t.comms[2].ranks, IsEmpty());
  EXPECT_EQ(t.comms[3].root, 1);
  EXPECT_FALSE(t.comms[3].root_is_global);
  EXPECT_EQ(t.comms[3].in_elems, kNone);
  EXPECT_EQ(Repairs(t, "kineto_bad_argument"), 1u);
  EXPECT_EQ(Repairs(t, "kineto_split_cut"), 1u);
}

std::string Flow(char phase, absl::string_view id, absl::string_view ts, absl::string_view tid) {
  return absl::StrCat("{\"ph\":\"", std::string(1, phase), "\",\"id\":", id, ",\"pid\":1,\"tid\":", tid,
                      ",\"ts\":", ts, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"bp\":\"e\"}");
}

TEST(Kineto, ForwardBackwardArrowsLeadToSortedRows) {
  const DeviceTrace t = MustRead(
      Flow('f', "3", "50", "9") + "," + X("cpu_op", "bwd", "50", "5", "\"Sequence number\":7", "1", "9") +
      "," + X("cpu_op", "evaluate", "50", "9", "\"Sequence number\":7", "1", "9") + "," +
      X("cpu_op", "outer", "10", "9", "", "1", "2") + "," +
      X("cpu_op", "fwd", "10", "8", "\"Sequence number\":7", "1", "2") + "," + Flow('s', "3", "10", "2") +
      "," + Flow('s', "\"x\"", "12.5", "2") + "," + Flow('f', "\"x\"", "52", "9") + "," +
      Flow('s', "77", "10", "2") + "," + Flow('s', "78", "30", "2") + "," + Flow('f', "78", "52", "9") + "," +
      X("kernel", "k", "0", "1", "\"stream\":1"));
  EXPECT_EQ(Names(t), "k outer fwd evaluate bwd");
  ASSERT_EQ(t.fwdbwd.size(), 2u);
  EXPECT_EQ(t.name_of(t.events[t.fwdbwd[0].from]), "fwd");
  EXPECT_EQ(t.name_of(t.events[t.fwdbwd[0].to]), "evaluate");
  EXPECT_EQ(t.name_of(t.events[t.fwdbwd[1].from]), "fwd");  // the innermost around 12.5
  EXPECT_EQ(t.name_of(t.events[t.fwdbwd[1].to]), "bwd");
  EXPECT_EQ(Repairs(t, "kineto_unpaired_flow"), 3u);
}

TEST(Kineto, ReadsNamesAndTextIdsOfThreads) {
  const DeviceTrace t = MustRead(
      R"j({"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":0,"args":{"name":"thread 2 (python)"}},)j" +
      X("cpu_op", "a", "1", "2") + "," + X("cpu_op", "b", "2", "2", "", "1", "\"pool (0)\"") + "," +
      X("cpu_op", "c", "3", "2", "", "\"CPU\"", "4") + "," + X("cpu_op", "d", "4", "2"));
  ASSERT_EQ(t.threads.size(), 3u);
  EXPECT_EQ(t.threads[0].pid, 1);
  EXPECT_EQ(t.threads[0].tid, "2");
  EXPECT_EQ(t.threads[0].name, "thread 2 (python)");
  EXPECT_EQ(t.threads[1].tid, "pool (0)");
  EXPECT_EQ(t.threads[2].pid, kNone);
  EXPECT_EQ(t.threads[2].tid, "CPU:4");
  EXPECT_EQ(t.events[3].lane, t.events[0].lane);
}

TEST(Kineto, ReadsDistributedInfoAndDevices) {
  const DeviceTrace t =
      MustRead("", R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":4,"pg_config":[)"
                   R"({"pg_name":"0","pg_size":4,"ranks":[]},{"pg_name":"5","pg_size":2,"ranks":[1,3]},)"
                   R"({"pg_name":"7","pg_size":2,"ranks":"[0, 2]"},{"pg_name":"8","pg_size":2,"ranks":[]}]},)"
                   R"("deviceProperties":[{"id":0,"name":"A100"},{"id":1,"name":"H100"}],)");
  EXPECT_EQ(t.rank, 3);
  EXPECT_EQ(t.world_size, 4);
  EXPECT_THAT(t.devices, ElementsAre("A100", "H100"));
  ASSERT_EQ(t.groups.size(), 3u);
  EXPECT_THAT(t.groups.at("0"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(t.groups.at("5"), ElementsAre(1, 3));
  EXPECT_THAT(t.groups.at("7"), ElementsAre(0, 2));
  EXPECT_EQ(Repairs(t, "kineto_group_without_ranks"), 1u);
  EXPECT_EQ(t.repairs[0].rank, 3);
}

TEST(Kineto, RefusesBadMembers) {
  EXPECT_THAT(
      ErrorOf("", R"("distributedInfo":{"rank":"first"},)"),
      HasSubstr("t.json: \"distributedInfo\" at byte 19: \"rank\" is \"first\"; expected an integer"));
  EXPECT_THAT(ErrorOf("", R"("distributedInfo":[],)"), HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOf("", R"("distributedInfo":{"world_size":2000000000},)"), HasSubstr("world_size"));
  EXPECT_THAT(ErrorOf("", R"("distributedInfo":{"pg_config":[{"pg_name":"0","ranks":[-4]}]},)"),
              HasSubstr("-4 is not a rank"));
  EXPECT_THAT(ErrorOf("", R"("distributedInfo":{"rank":},)"), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf("", R"("baseTimeNanoseconds":"soon",)"), HasSubstr("expected nanoseconds"));
  EXPECT_THAT(ErrorOf("", R"("deviceProperties":{},)"), HasSubstr("expected a list of devices"));
}

TEST(Kineto, FindsTheMeaningOfExternalId) {
  const std::string same = X("kernel", "k", "1", "2", R"("External id":5,"correlation":5)");
  EXPECT_TRUE(MustRead(same).external_is_correlation);
  EXPECT_FALSE(MustRead(same + "," + X("kernel", "k", "4", "2", R"("External id":5,"correlation":6)"))
                   .external_is_correlation);
  EXPECT_FALSE(MustRead(X("cuda_runtime", "r", "1", "2", R"("External id":5,"correlation":5)"))
                   .external_is_correlation);
}

TEST(Kineto, DuplicateCorrelationsAreKeptAndCounted) {
  const std::string launch = X("cuda_runtime", "cudaLaunchKernel", "1", "2", "\"correlation\":5");
  const DeviceTrace t =
      MustRead(launch + "," + launch + "," + X("kernel", "k", "4", "2", "\"correlation\":5"));
  EXPECT_EQ(t.events.size(), 3u);
  EXPECT_EQ(Repairs(t, "kineto_duplicate_correlation"), 1u);
}

TEST(Kineto, AcceptsOddJson) {
  const DeviceTrace t = MustRead(X("cpu_op", "a", "1", "2") + ",");
  EXPECT_EQ(Repairs(t, "kineto_trailing_comma"), 1u);
  const DeviceTrace args_first = MustRead(
      R"({"args":{"External id":3,"Input Dims":[[1]]},"dur":2,"ts":1,"tid":1,"pid":1,"name":"C:\models","cat":"cpu_op","ph":"X"},{"ph":"B","cat":"cpu_op"},{"x":1})");
  ASSERT_EQ(args_first.events.size(), 1u);
  EXPECT_EQ(args_first.ids_of(0).external, 3);
  EXPECT_EQ(Names(args_first), "C:\\models");
  EXPECT_EQ(Repairs(args_first, "kineto_bad_escape"), 1u);
  EXPECT_EQ(Repairs(args_first, "kineto_begin_end"), 1u);
  EXPECT_EQ(Repairs(args_first, "kineto_no_phase"), 1u);
}

TEST(LooksLikeKineto, RecognisesFirstKeys) {
  EXPECT_TRUE(LooksLikeKineto("\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n"));
  EXPECT_TRUE(LooksLikeKineto("{\"traceEvents\": [ {\"ph\""));
  EXPECT_TRUE(LooksLikeKineto("[{\"ph\": \"X\""));
  EXPECT_FALSE(LooksLikeKineto("{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 3, \"nodes\": [{\"id\": 1"));
  EXPECT_FALSE(LooksLikeKineto(""));
  EXPECT_FALSE(LooksLikeKineto("\x08\x01 traceEvents"));
}

// A generated capture is long enough for several blocks and batches.
TEST(Kineto, ReadsAGeneratedCapture) {
  CaptureOptions options;
  options.bytes = 12 << 20;
  options.rank = 3;
  const std::string text = GenerateKineto(options);
  ASSERT_EQ(text, GenerateKineto(options));
  const auto t = Read(text);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->rank, 3);
  EXPECT_THAT(t->repairs, IsEmpty());
  EXPECT_EQ(t->streams.size(), 3u);
  EXPECT_EQ(t->groups.at("0").size(), 8u);
  size_t count = 0;
  for (size_t at = text.find("\"ph\": \"X\""); at != std::string::npos;
       at = text.find("\"ph\": \"X\"", at + 1))
    ++count;
  EXPECT_EQ(t->events.size(), count);
  std::vector<int64_t> free(t->streams.size(), 0);
  for (size_t i = 0; i < t->events.size(); ++i) {
    const Event& e = t->events[i];
    ASSERT_LE(t->events[i > 0 ? i - 1 : 0].ts, e.ts);
    if (!OnDevice(e.kind)) continue;
    ASSERT_LE(free[e.lane], e.ts);  // a stream runs one kernel at a time
    free[e.lane] = e.ts + e.dur;
  }
  for (const FlowArrow& a : t->fwdbwd) {
    ASSERT_EQ(t->ops[t->events[a.from].extra].seq, t->ops[t->events[a.to].extra].seq);
    ASSERT_LT(t->events[a.from].ts, t->events[a.to].ts);
  }
  size_t starts = 0;
  for (size_t at = text.find("\"ph\": \"s\""); at != std::string::npos;
       at = text.find("\"ph\": \"s\"", at + 1)) {
    starts += text.compare(text.find("\"cat\"", at), 14, "\"cat\": \"fwdbwd") == 0 ? 1 : 0;
  }
  EXPECT_EQ(t->fwdbwd.size(), starts);
  options.python_functions = true;
  const auto with_stacks = Read(GenerateKineto(options));
  ASSERT_TRUE(with_stacks.ok());
  EXPECT_GT(with_stacks->skipped, with_stacks->events.size());
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
