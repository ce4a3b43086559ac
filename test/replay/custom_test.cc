// Algorithms from files: MSCCL XML and Chakra traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/collectives/custom/chakra_program.h"
#include "replay/collectives/custom/msccl_xml.h"
#include "replay/collectives/registry.h"
#include "replay/collectives/validate.h"
#include "test/folders.h"
#include "trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using testing::HasSubstr;

std::string StepXml(int s, const char* type, const char* src, int srcoff, const char* dst, int dstoff,
                    const char* dependency = "depid=\"-1\" deps=\"-1\" hasdep=\"0\"") {
  return absl::StrCat("   <step s=\"", s, "\" type=\"", type, "\" srcbuf=\"", src, "\" srcoff=\"", srcoff,
                      "\" dstbuf=\"", dst, "\" dstoff=\"", dstoff, "\" cnt=\"1\" ", dependency, "/>\n");
}

std::string AlgoXml(const char* coll, int gpus, int chunks, const char* place, const std::string& body) {
  return absl::StrCat("<algo name=\"test\" proto=\"Simple\" nchannels=\"2\" nchunksperloop=\"", chunks,
                      "\" ngpus=\"", gpus, "\" coll=\"", coll, "\" ", place,
                      " minBytes=\"0\" maxBytes=\"1073741824\">\n", body, "</algo>\n");
}

constexpr char kOutOfPlace[] = "inplace=\"0\" outofplace=\"1\"";
constexpr char kOneNoDep[] = "depid=\"-1\" deps=\"-1\" hasdep=\"1\"";

// An all-gather of two GPUs: each copies its input, and exchanges it with the other.
std::string Gather2(const char* place = kOutOfPlace) {
  std::string body;
  for (int g = 0; g < 2; ++g) {
    absl::StrAppend(&body, " <gpu id=\"", g,
                    "\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"", 1 - g,
                    "\" recv=\"", 1 - g, "\" chan=\"0\">\n",
                    StepXml(0, "s", "o", g, "o", g, "depid=\"1\" deps=\"0\" hasdep=\"0\""),
                    StepXml(1, "r", "o", 1 - g, "o", 1 - g),
                    "  </tb>\n  <tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n",
                    StepXml(0, "cpy", "i", 0, "o", g, kOneNoDep), "  </tb>\n </gpu>\n");
  }
  return AlgoXml("allgather", 2, 2, place, body);
}

// A ring of n GPUs. If `fused`, a receive and the next send are one step.
std::string Ring(int n, bool fused, int chan = 0) {
  std::string body;
  const auto mod = [n](int a) { return ((a % n) + n) % n; };
  for (int g = 0; g < n; ++g) {
    absl::StrAppend(&body, " <gpu id=\"", g, "\" i_chunks=\"", n,
                    "\" o_chunks=\"0\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"", mod(g + 1), "\" recv=\"",
                    mod(g - 1), "\" chan=\"", chan, "\">\n");
    int s = 0;
    const auto step = [&](const char* type, int chunk) {
      absl::StrAppend(&body, StepXml(s++, type, "i", mod(chunk), "i", mod(chunk)));
    };
    step("s", g);
    for (int k = 1; k < 2 * n - 2; ++k) {
      const bool adds = k < n;
      if (fused) {
        step(adds ? "rrcs" : "rcs", g - k);
      } else {
        step(adds ? "rrc" : "r", g - k);
        step("s", g - k);
      }
    }
    step("r", g - 2 * n + 2);
    absl::StrAppend(&body, "  </tb>\n </gpu>\n");
  }
  return AlgoXml("allreduce", n, n, "inplace=\"1\" outofplace=\"0\"", body);
}

std::string Error(const std::string& xml) {
  const auto program = ReadMscclXml(xml, "dir/x.xml");
  return std::string(program.status().message());
}

std::vector<PairTraffic> Traffic(const Plan& plan, uint64_t bytes) {
  auto traffic = TrafficOf(plan, bytes);
  EXPECT_TRUE(traffic.ok()) << traffic.status();
  return traffic.ok() ? *std::move(traffic) : std::vector<PairTraffic>();
}

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.substr(0, at) + to + text.substr(at + from.size());
}

TEST(MscclXml, ReadsAnAllGatherOfTwo) {
  const auto program = ReadMscclXml(Gather2(), "ag2.xml");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->name, "test");
  EXPECT_EQ(program->source, "ag2.xml");
  EXPECT_EQ(program->type, T::kAllGather);
  EXPECT_EQ(program->protocol, "simple");
  EXPECT_EQ(program->channels, 2);
  EXPECT_EQ(program->min_bytes, 0u);
  EXPECT_EQ(program->max_bytes, uint64_t{1} << 30);
  EXPECT_FALSE(program->in_place);
  EXPECT_TRUE(program->out_of_place);
  EXPECT_TRUE(program->warnings.empty());
  const Plan& plan = program->plan;
  EXPECT_EQ(plan.programs[0].streams.size(), 2u);
  EXPECT_EQ(plan.programs[0].steps[0].op, StepOp::kAwait);
  EXPECT_EQ(Traffic(plan, 1000), (std::vector<PairTraffic>{{0, 1, 1, 1000}, {1, 0, 1, 1000}}));
}

// In place, there is no copy, and the steps that depend on it do not wait.
TEST(MscclXml, ProvesInPlaceAndOutOfPlace) {
  const auto both = ReadMscclXml(Gather2("inplace=\"1\" outofplace=\"1\""), "x");
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->plan.output.count, 2);
  const auto in_place = ReadMscclXml(Gather2("inplace=\"1\" outofplace=\"0\""), "x");
  ASSERT_TRUE(in_place.ok()) << in_place.status();
  EXPECT_EQ(in_place->plan.output.count, 0);
  EXPECT_FALSE(in_place->plan.has_local_steps);
  // A ring on the input buffer leaves the output untouched.
  EXPECT_THAT(
      Error(Replaced(Ring(4, false), "inplace=\"1\" outofplace=\"0\"", "inplace=\"1\" outofplace=\"1\"")),
      HasSubstr(
          "dir/x.xml:11: gpu 0, tb 0, step 7: plan test for all_reduce on 4 members: member 0, stream 0, "
          "step 7 (recv chunk 0 from member 3): leaves in chunk 0 what belongs in chunk 4 of member 0"));
}

TEST(MscclXml, RingEqualsTheBuiltInRing) {
  for (const int n : {2, 3, 4, 8}) {
    const uint64_t bytes = uint64_t{1000} * static_cast<uint64_t>(n);
    for (const bool fused : {false, true}) {
      const auto program = ReadMscclXml(Ring(n, fused), "ring.xml");
      ASSERT_TRUE(program.ok()) << program.status();
      const auto ours = BuildPlan({.type = T::kAllReduce, .algorithm = "ring", .members = n});
      ASSERT_TRUE(ours.ok());
      EXPECT_EQ(Traffic(program->plan, bytes), Traffic(*ours, bytes));
    }
  }
}

TEST(MscclXml, ChannelsAreSeparateConnections) {
  std::string body;
  for (int g = 0; g < 2; ++g) {
    absl::StrAppend(&body, " <gpu id=\"", g, "\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"2\">\n");
    for (int tb = 0; tb < 2; ++tb) {
      absl::StrAppend(&body, "  <tb id=\"", tb, "\" send=\"", 1 - g, "\" recv=\"", 1 - g, "\" chan=\"", tb,
                      "\">\n", StepXml(0, "s", "i", tb, "s", tb), StepXml(1, "rrc", "i", tb, "i", tb),
                      "  </tb>\n");
    }
    absl::StrAppend(&body, " </gpu>\n");
  }
  const std::string xml = AlgoXml("allreduce", 2, 2, "inplace=\"1\" outofplace=\"0\"", body);
  const auto program = ReadMscclXml(xml, "x");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->plan.programs[0].connections, 2u);
  EXPECT_THAT(Error(Replaced(xml, "chan=\"1\"", "chan=\"0\"")),
              HasSubstr("dir/x.xml:8: gpu 0, tb 1, step 0: sends to gpu 1 on channel 0, as tb 0 does"));
}

// Every operation: an addition whose result is only passed on (rrs), a copy, a local addition and the others.
// The result is proved.
TEST(MscclXml, ProvesEveryOperation) {
  const auto gpu = [](int id, int send, int recv, const std::string& steps, const std::string& more = "") {
    return absl::StrCat(" <gpu id=\"", id,
                        "\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"1\">\n  <tb id=\"0\" send=\"", send,
                        "\" recv=\"", recv, "\" chan=\"0\">\n", steps, "  </tb>\n", more, " </gpu>\n");
  };
  const std::string body = absl::StrCat(
      gpu(0, 1, 2, absl::StrCat(StepXml(0, "s", "i", 0, "s", 0), StepXml(1, "rcs", "s", 0, "o", 0))),
      gpu(1, 2, 0,
          absl::StrCat(StepXml(0, "rrs", "i", 0, "s", 0), StepXml(1, "r", "o", 0, "o", 0),
                       StepXml(2, "s", "o", 0, "o", 0))),
      gpu(2, 0, 1,
          absl::StrCat(StepXml(0, "r", "s", 0, "s", 0, "depid=\"-1\" deps=\"-1\" hasdep=\"1\""),
                       StepXml(1, "nop", "i", -1, "o", -1, "depid=\"1\" deps=\"0\" hasdep=\"0\""),
                       StepXml(2, "s", "o", 0, "o", 0, "depid=\"1\" deps=\"1\" hasdep=\"0\""),
                       StepXml(3, "r", "s", 0, "s", 0)),
          absl::StrCat("  <tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n",
                       StepXml(0, "cpy", "i", 0, "o", 0, kOneNoDep),
                       StepXml(1, "re", "s", 0, "o", 0, "depid=\"0\" deps=\"0\" hasdep=\"1\""),
                       "  </tb>\n")));
  const auto program = ReadMscclXml(AlgoXml("allreduce", 3, 1, kOutOfPlace, body), "x");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->plan.chunks, 4);  // one for rrs
  EXPECT_EQ(Traffic(program->plan, 7),
            (std::vector<PairTraffic>{{0, 1, 2, 14}, {1, 2, 2, 14}, {2, 0, 1, 7}}));
  // Without its await the copy may come after the addition.
  EXPECT_THAT(
      Error(AlgoXml("allreduce", 3, 1, kOutOfPlace,
                    Replaced(body, "depid=\"0\" deps=\"0\" hasdep=\"1\"", kOneNoDep))),
      HasSubstr("gpu 2, tb 1, step 1: plan test for all_reduce on 3 members: member 2, stream 1, step 1 (add "
                "chunk 2 to chunk 1)"));
}

TEST(MscclXml, WrongResultsNameLineGpuAndStep) {
  EXPECT_THAT(
      Error(Replaced(Ring(4, false), "type=\"rrc\"", "type=\"r\"")),
      HasSubstr(
          "dir/x.xml:5: gpu 0, tb 0, step 1: plan test for all_reduce on 4 members: member 0, stream 0, "
          "step 1 (recv chunk 3 from member 3): overwrites what member 0 had of block 3"));
}

TEST(MscclXml, WarnsOfOddAdditionsAndDeepQueues) {
  std::string body;
  for (int g = 0; g < 2; ++g) {
    absl::StrAppend(&body, " <gpu id=\"", g,
                    "\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"", 1 - g,
                    "\" recv=\"", 1 - g, "\" chan=\"0\">\n", StepXml(0, "s", "i", 0, "i", 0),
                    StepXml(1, "rrc", "i", 0, "o", 0), "  </tb>\n </gpu>\n");
  }
  const auto program = ReadMscclXml(AlgoXml("allreduce", 2, 1, kOutOfPlace, body), "x");
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->warnings.size(), 2u);
  EXPECT_THAT(program->warnings[0],
              HasSubstr("x:5: gpu 0, tb 0, step 1: rrc with different source and destination"));

  body.clear();
  for (int g = 0; g < 2; ++g) {
    absl::StrAppend(&body, " <gpu id=\"", g,
                    "\" i_chunks=\"9\" o_chunks=\"0\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"", 1 - g,
                    "\" recv=\"", 1 - g, "\" chan=\"0\">\n");
    for (int s = 0; s < 9; ++s) absl::StrAppend(&body, StepXml(s, "s", "i", s, "i", s));
    for (int s = 0; s < 9; ++s) absl::StrAppend(&body, StepXml(9 + s, "rrc", "i", s, "i", s));
    absl::StrAppend(&body, "  </tb>\n </gpu>\n");
  }
  const auto deep = ReadMscclXml(AlgoXml("allreduce", 2, 9, "inplace=\"1\" outofplace=\"0\"", body), "x");
  ASSERT_TRUE(deep.ok()) << deep.status();
  ASSERT_EQ(deep->warnings.size(), 1u);
  EXPECT_THAT(deep->warnings[0],
              HasSubstr("where a connection holds 8 messages only: plan test for all_reduce on 2 "
                        "members: member 0, stream 0, step 8 (send chunk 8 to member 1)"));
}

TEST(MscclXml, FindsTheRoot) {
  const std::string body = absl::StrCat(
      " <gpu id=\"0\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"-1\" recv=\"1\" "
      "chan=\"0\">\n",
      StepXml(0, "r", "i", 0, "i", 0), "</tb></gpu>\n",
      " <gpu id=\"1\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"0\" recv=\"-1\" "
      "chan=\"0\">\n",
      StepXml(0, "s", "i", 0, "i", 0), "</tb></gpu>\n");
  const auto program = ReadMscclXml(AlgoXml("broadcast", 2, 1, "inplace=\"1\" outofplace=\"0\"", body), "x");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->root, 1);
}

TEST(MscclXml, ReadsSizeLimitsOfAllVersions) {
  const std::string old =
      "<algo name=\"test\" proto=\"LL128\" nchannels=\"2\" nchunksperloop=\"4\" ngpus=\"4\" "
      "coll=\"allreduce\" inplace=\"1\"";
  const std::string ring = Ring(4, false);
  const std::string rest = ring.substr(ring.find('>'));
  auto program = ReadMscclXml(old + rest, "x");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->max_bytes, (uint64_t{128} << 20) - 1);
  EXPECT_EQ(program->protocol, "ll128");
  EXPECT_TRUE(program->in_place);
  EXPECT_FALSE(program->out_of_place);
  program = ReadMscclXml(Replaced(ring, "maxBytes=\"1073741824\"", "maxBytes=\"0\""), "x");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->max_bytes, ~uint64_t{0});
}

TEST(MscclXml, EachCheckRefusesABadFile) {
  struct Bad {
    const char *from, *to, *says;
  };
  const Bad of_gather[] = {
      {"<algo", "<algorithm", "not XML"},
      {"name=\"test\"", "name=\"\"", "dir/x.xml:1: a name of 0 characters; expected 1 to 63"},
      {" proto=\"Simple\"", "", "<algo> has no attribute proto"},
      {"Simple", "simple", "proto=\"simple\"; expected Simple, LL or LL128"},
      {"nchannels=\"2\"", "nchannels=\"0\"", "nchannels=\"0\"; expected a number from 1 to"},
      {"nchunksperloop=\"2\"", "nchunksperloop=\"3\"", "nchunksperloop 3; expected a multiple of ngpus, 2"},
      {"nchunksperloop=\"2\"", "nchunksperloop=\"4\"", "dir/x.xml:2: gpu 0: i_chunks 1; expected 2 or 0"},
      {"ngpus=\"2\"", "ngpus=\"3\"", "2 <gpu> elements; expected ngpus, 3"},
      {"ngpus=\"2\"", "ngpus=\"1\"", "ngpus=\"1\"; expected a number from 2 to"},
      {"allgather", "alltoallv", "coll=\"alltoallv\"; expected one of: allgather, allreduce"},
      {"outofplace=\"1\"", "outofplace=\"0\"", "expected one to be 1"},
      {"minBytes=\"0\"", "minBytes=\"-1\"", "minBytes=\"-1\""},
      {"minBytes=\"0\"", "minBytes=\"9999999999\"",
       "maxBytes 1073741824; expected more than minBytes 9999999999"},
      {"gpu id=\"1\"", "gpu id=\"0\"", "a second <gpu> with id 0; expected each from 0 to 1 once"},
      {"gpu id=\"1\"", "gpu id=\"2\"", "id=\"2\"; expected a number from 0 to 1"},
      {"tb id=\"1\"", "tb id=\"7\"", "dir/x.xml:7: gpu 0: id=\"7\"; expected a number from 0 to 1"},
      {"send=\"1\"", "send=\"0\"", "gpu 0, tb 0: exchanges messages with its own gpu"},
      {"send=\"1\"", "send=\"2\"", "gpu 0, tb 0: send=\"2\"; expected a number from -1 to 1"},
      {"send=\"1\"", "send=\"-1\"", "dir/x.xml:4: gpu 0, tb 0, step 0: s in a tb with send=\"-1\""},
      {"recv=\"1\"", "recv=\"-1\"", "step 1: r in a tb with recv=\"-1\""},
      {"chan=\"0\"", "chan=\"2\"", "chan=\"2\"; expected a number from -1 to 1"},
      {"chan=\"0\"", "chan=\"-1\"", "step 0: s in a tb with chan=\"-1\""},
      {"chan=\"0\"", "chan=\"1\"", "message 0 to gpu 0 on channel 0, which receives 0"},
      {" s=\"1\"", " s=\"2\"", "dir/x.xml:5: gpu 0, tb 0, step 1: s=\"2\"; expected 1"},
      {"type=\"s\"", "type=\"ra\"", "type=\"ra\"; expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop"},
      {"srcbuf=\"i\"", "srcbuf=\"x\"", "srcbuf=\"x\"; expected i, o or s"},
      {"srcoff=\"0\"", "srcoff=\"2\"", "srcoff 2 and cnt 1; expected to end within 2, its o_chunks"},
      {"dstoff=\"1\"", "dstoff=\"-1\"", "dstoff=\"-1\""},
      {"cnt=\"1\"", "cnt=\"0\"", "cnt=\"0\"; expected 1 or more"},
      {"cnt=\"1\"", "cnt=\"2\"",
       "dir/x.xml:14: gpu 1, tb 0, step 1: cnt 1; expected 2, as gpu 0, tb 0, step 0 sends"},
      {" cnt=\"1\"", "", "<step> has no attribute cnt"},
      {"depid=\"1\"", "depid=\"2\"", "depid=\"2\"; expected at most 1"},
      {"depid=\"1\"", "depid=\"0\"", "waits for itself or a later step"},
      {"depid=\"1\"", "depid=\"-1\"", "deps=\"0\" with depid=\"-1\""},
      {"deps=\"0\"", "deps=\"1\"", "deps=\"1\"; expected 0 to 0, the steps of tb 1"},
      {"hasdep=\"1\"", "hasdep=\"0\"",
       "step 0: waits for step 0 of tb 1, but neither it nor a later one has hasdep"},
      {"hasdep=\"1\"", "hasdep=\"yes\"", "hasdep=\"yes\""},
      {"type=\"cpy\"", "type=\"re\"",
       "gpu 0, tb 1, step 0: plan test for all_gather on 2 members: member 0, stream 1"},
      {"type=\"r\"", "type=\"rrc\"", "adds to chunk"},
  };
  for (const Bad& bad : of_gather)
    EXPECT_THAT(Error(Replaced(Gather2(), bad.from, bad.to)), HasSubstr(bad.says));
  const std::string ring = Ring(3, false);
  const std::string last = StepXml(7, "r", "i", 2, "i", 2);
  EXPECT_THAT(Error(Replaced(ring, last, "")),
              HasSubstr("gpu 2, tb 0, step 6: message 3 to gpu 0 on channel 0, which receives 3"));
  EXPECT_THAT(Error(Replaced(ring, StepXml(0, "s", "i", 0, "i", 0), StepXml(0, "nop", "i", 0, "i", 0))),
              HasSubstr("gpu 1, tb 0, step 7: waits for message 3 of gpu 0 on channel 0, which sends 3"));
  EXPECT_THAT(Error(""), HasSubstr("dir/x.xml:1: not XML"));
  EXPECT_THAT(Error("<gpu/>"), HasSubstr("element <gpu>; expected <algo>"));
  // All receive before anyone sends.
  std::string stuck = Gather2();
  stuck = absl::StrReplaceAll(
      stuck, {{"s=\"0\" type=\"s\"", "s=\"0\" type=\"r\""}, {"s=\"1\" type=\"r\"", "s=\"1\" type=\"s\""}});
  EXPECT_THAT(Error(stuck), HasSubstr("waits forever; these steps wait for each other"));
}

TEST(MscclXml, RecordedRingEqualsTheBuiltInRing) {
  const std::string folder = std::string(CHAKRA_SHARED_DATA) + "/astra-sim/custom_ring_allreduce_8npus_1MB";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  std::ifstream in(folder + "/custom_allreduce.xml");
  std::stringstream text;
  text << in.rdbuf();
  const auto xml = ReadMscclXml(text.str(), "custom_allreduce.xml");
  ASSERT_TRUE(xml.ok()) << xml.status();
  EXPECT_TRUE(xml->warnings.empty());
  const auto ours = BuildPlan({.type = T::kAllReduce, .algorithm = "ring", .members = 8});
  ASSERT_TRUE(ours.ok());
  const auto traces = ReadChakraProgram(folder + "/custom_allreduce", T::kAllReduce);
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(traces->plan.parts, 8);
  ASSERT_EQ(traces->warnings.size(), 1u);
  EXPECT_THAT(traces->warnings[0], HasSubstr("do not state which data"));
  int added = 0;
  for (const Step& s : traces->plan.programs[0].steps) added += s.op == StepOp::kRecvReduce ? 1 : 0;
  EXPECT_EQ(added, 7);
  for (const uint64_t bytes : {uint64_t{1} << 20, uint64_t{3} << 30}) {
    EXPECT_EQ(Traffic(xml->plan, bytes), Traffic(*ours, bytes));
    EXPECT_EQ(Traffic(traces->plan, bytes), Traffic(*ours, bytes));
  }
}

// Traces in a folder of the test's own.
class ChakraProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "custom_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  absl::StatusOr<CustomProgram> Read(const TraceBuilder& b, int ranks, T type, uint64_t bytes = 0) {
    for (int r = 0; r < ranks; ++r)
      EXPECT_TRUE(b.Write(static_cast<size_t>(r), absl::StrCat(folder_, "/w.", r, ".et")).ok());
    return ReadChakraProgram(folder_ + "/w", type, bytes);
  }
  std::string Error(const TraceBuilder& b, int ranks, T type, uint64_t bytes = 0) {
    return std::string(Read(b, ranks, type, bytes).status().message());
  }
  std::string folder_;
};

// Each rank sends to each other; its sends and receives do not depend on each other.
TraceBuilder Exchange(int ranks, int64_t bytes) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) {
    for (int i = 1; i < ranks; ++i) b.Send(r, (r + i) % ranks, bytes, 7);
    for (int i = 1; i < ranks; ++i) b.Recv(r, (r + i) % ranks, bytes, 7);
  }
  return b;
}

TEST_F(ChakraProgram, IndependentNodesBecomeStreams) {
  const auto program = Read(Exchange(3, 1000), 3, T::kAllGather);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->name, "w");
  EXPECT_EQ(program->plan.programs[0].streams.size(), 4u);
  EXPECT_EQ(program->plan.parts, 1);
  ASSERT_EQ(program->warnings.size(), 2u);
  EXPECT_THAT(program->warnings[0], HasSubstr("assumed to be recorded for 1000 bytes"));
  for (const PairTraffic& p : Traffic(program->plan, 50)) EXPECT_EQ(p.bytes, 50u);
}

TEST_F(ChakraProgram, SizesScaleWithTheCall) {
  const auto program = Read(Exchange(4, 600), 4, T::kAllToAll, 2400);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->plan.parts, 4);
  EXPECT_EQ(program->warnings.size(), 1u);
  for (const PairTraffic& p : Traffic(program->plan, 8000)) EXPECT_EQ(p.bytes, 2000u);
}

TEST_F(ChakraProgram, DependenciesAcrossStreamsAreAwaited) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    const uint64_t sent = b.Send(r, 1 - r, 100, 0).id();
    const uint64_t received = b.Recv(r, 1 - r, 100, 0).id();
    const uint64_t added = b.Comp(r, 5, {received}).id();
    b.Comp(r, 5, {added});
    b.Send(r, 1 - r, 100, 1, {sent, added});
    b.Recv(r, 1 - r, 100, 1);
  }
  const auto program = Read(b, 2, T::kAllReduce, 200);
  ASSERT_TRUE(program.ok()) << program.status();
  int awaits = 0, adds = 0;
  for (const Step& s : program->plan.programs[0].steps) {
    awaits += s.op == StepOp::kAwait ? 1 : 0;
    adds += s.op == StepOp::kRecvReduce ? 1 : 0;
  }
  EXPECT_EQ(awaits, 1);
  EXPECT_EQ(adds, 1);
  ASSERT_EQ(program->warnings.size(), 2u);
  EXPECT_THAT(program->warnings[1], HasSubstr("2 COMP nodes depend on no receive of their own"));
}

TEST_F(ChakraProgram, RefusalsNameTheNode) {
  TraceBuilder b = Exchange(2, 100);
  b.Send(0, 1, 100, 3);
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("w.0.et"));
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("node 2"));
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("message 0 to rank 1 with tag 3, which receives 0"));
  b = Exchange(2, 100);
  b.Recv(1, 0, 100, 7);
  EXPECT_THAT(Error(b, 2, T::kAllGather),
              HasSubstr("waits for message 1 of rank 0 with tag 7, which sends 1"));
  b = Exchange(2, 100);
  b.Send(0, 1, 100, 9);
  b.Recv(1, 0, 60, 9);
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("comm_size 60; expected 100, as"));
  b = Exchange(2, 100);
  b.Send(0, 2, 100, 9);
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("comm_dst 2; expected one of 0 to 1 and not itself"));
  b = Exchange(2, 100);
  b.Coll(0, T::kAllReduce, 8);
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("a COMM_COLL_NODE; expected COMM_SEND_NODE"));
  EXPECT_THAT(
      Error(Exchange(2, 100), 2, T::kAllReduce, 400),
      HasSubstr(
          "rank 0 receives 100 and sends 100 bytes; expected at least 400 and 400 for all_reduce of 400"));
  EXPECT_THAT(Error(Exchange(2, 100), 2, T::kBroadcast), HasSubstr("does not state its size"));
  EXPECT_THAT(Error(Exchange(2, 0), 2, T::kAllReduce), HasSubstr("no message carries any bytes"));
  EXPECT_THAT(Error(Exchange(2, 3), 2, T::kBroadcast, uint64_t{1} << 40),
              HasSubstr("bytes as common divisor"));
}

TEST_F(ChakraProgram, RefusesCircularWaits) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    const uint64_t received = b.Recv(r, 1 - r, 100, 0).id();
    b.Send(r, 1 - r, 100, 0, {received});
  }
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("node 0"));
  EXPECT_THAT(Error(b, 2, T::kAllGather), HasSubstr("these steps wait for each other"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
