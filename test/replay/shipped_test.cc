// All-reduce kernels of serving software: their laws to the picosecond, public measurements, and the choices
// of each software.
#include "replay/nccl/shipped.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "replay/collectives/custom/custom_program.h"
#include "replay/nccl/choose.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

// 8 devices of 100 GB/s on a switch that adds. A link takes 25 ns; a route has two links.
std::string Node(const std::string& more = "") {
  return "topology { dimension { kind: SWITCH size: 8 bandwidth_gbytes_per_s: 100 latency_ns: 25 } } "
         "collectives { "
         "library { generation: HOPPER channels: 4 " +
         more + " level { link: NVLINK efficiency: 0.8 in_switch_efficiency: 0.7 } } }";
}

// Picoseconds of `bytes` on a link of 100 GB/s, for a kernel that uses `share` of the rate.
int64_t OnLink(double bytes, double share) { return std::llround(bytes * 10 / share); }

// Picoseconds of one rounding: the bytes of a message on the wire are rounded up.
constexpr int64_t kRounding = 11;

TEST(Shipped, LawsMatchFastPathAndFlows) {
  TestMachine m = MachineOf(ClusterText(Node()), 8);
  for (const uint64_t bytes : {uint64_t{64} * kKiB, 4 * kMiB, 256 * kMiB}) {
    const auto b = static_cast<double>(bytes);
    for (const bool fast : {true, false}) {
      m.Force(T::kAllReduce, "one_shot");
      EXPECT_NEAR(CallPicos(m, T::kAllReduce, bytes, fast), 5500000 + OnLink(7 * b, 0.77) + 50000,
                  7 * kRounding)
          << bytes;
      m.Force(T::kAllReduce, "two_shot");
      EXPECT_NEAR(CallPicos(m, T::kAllReduce, bytes, fast), 11000000 + OnLink(7 * b / 4, 0.57) + 100000,
                  14 * kRounding)
          << bytes;
    }
    // Pieces of 8 KiB, at most 64, pass the switch: no faster than the link, and later by at most three
    // pieces and a latency of the route for each piece.
    m.Force(T::kAllReduce, "multimem");
    const int64_t least = 9500000 + OnLink(b * 9 / 8, 0.53);
    const int64_t at = CallPicos(m, T::kAllReduce, bytes);
    EXPECT_GE(at, least);
    const double pieces = std::min(64.0, b / 8192);
    EXPECT_LE(at, least + OnLink(3 * b / pieces, 0.53) + std::llround((pieces + 4) * 50000));
    EXPECT_EQ(at, CallPicos(m, T::kAllReduce, bytes, false)) << bytes;
  }
}

TEST(Shipped, TermOfTheClusterReplacesTheLaw) {
  TestMachine m = MachineOf(
      ClusterText(Node("term { algorithm: \"two_shot\" protocol: \"simple\" base_us: 3 bus_share: 0.5 }")),
      8);
  m.Force(T::kAllReduce, "two_shot");
  EXPECT_NEAR(CallPicos(m, T::kAllReduce, 8 * kMiB), 3000000 + OnLink(14.0 * kMiB, 0.285) + 100000,
              14 * kRounding);
}

struct Measured {
  const char* rule;
  int ranks;
  uint64_t kib;
  double us;
};

// H100: vllm-project/vllm#24111 (6 members, and 2), #24532 (4) and #42324 (8). bfloat16.
constexpr Measured kMeasured[] = {
    {"one_shot", 2, 512, 7},     {"one_shot", 4, 512, 10},     {"one_shot", 4, 1024, 14},
    {"one_shot", 4, 2048, 23},   {"one_shot", 4, 4096, 38},    {"one_shot", 6, 512, 13},
    {"one_shot", 6, 1024, 21},   {"one_shot", 6, 2048, 38},    {"one_shot", 6, 4096, 70},
    {"two_shot", 4, 512, 16},    {"two_shot", 4, 1024, 19},    {"two_shot", 4, 2048, 23},
    {"two_shot", 4, 3072, 25},   {"two_shot", 6, 512, 17},     {"two_shot", 6, 1024, 21},
    {"two_shot", 6, 2048, 29},   {"two_shot", 6, 4096, 41},    {"two_shot", 8, 512, 15},
    {"two_shot", 8, 1024, 17},   {"two_shot", 8, 4096, 37},    {"two_shot", 8, 16384, 125},
    {"two_shot", 8, 65536, 468}, {"two_shot", 8, 131072, 923}, {"multimem", 4, 512, 15},
    {"multimem", 4, 2048, 23},   {"multimem", 4, 3072, 28},    {"multimem", 6, 512, 13},
    {"multimem", 6, 2048, 21},   {"multimem", 6, 4096, 31},    {"multimem", 8, 512, 11},
    {"multimem", 8, 1024, 14},   {"multimem", 8, 4096, 27},    {"multimem", 8, 16384, 87},
    {"multimem", 8, 65536, 320}, {"multimem", 8, 131072, 631},
};

double MicrosOf(TestMachine& m, const std::string& rule, int ranks, uint64_t bytes) {
  m.Force(T::kAllReduce, rule);
  std::vector<int> members(static_cast<size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  m.AnotherFabric("analytical");
  const RunResult run = RunCall(m, T::kAllReduce, bytes, members, std::vector<Time>(members.size()), true);
  EXPECT_EQ(run.error, "");
  return run.end.empty() ? 0 : static_cast<double>(run.end[0].picos()) * 1e-6;
}

TEST(Shipped, MatchesMeasurementsOnHopper) {
  TestMachine m = Preset("dgx-h100", 8);
  std::vector<double> errors;
  for (const Measured& row : kMeasured) {
    const double us = MicrosOf(m, row.rule, row.ranks, row.kib * kKiB);
    errors.push_back(std::abs(us / row.us - 1));
    EXPECT_LE(errors.back(), 0.22) << row.rule << " " << row.ranks << " " << row.kib << " KiB: " << us;
  }
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.08);
}

// Kernels of vLLM in a Kineto capture, medians over 37 and 36 calls.
TEST(Shipped, MatchesMultimemOnBlackwell) {
  TestMachine m = Preset("dgx-b200", 8);
  EXPECT_NEAR(MicrosOf(m, "multimem", 8, 5114880), 25.0, 2.5);
  EXPECT_NEAR(MicrosOf(m, "multimem", 8, 5455872), 27.6, 2.8);
}

std::string Taken(TestMachine& m, const std::string& rule, int ranks, uint64_t bytes) {
  m.Force(T::kAllReduce, rule);
  std::vector<int> members(static_cast<size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return RunCall(m, T::kAllReduce, bytes, members, std::vector<Time>(members.size()), true).algorithm;
}

TEST(Shipped, SoftwareChoosesBySizeAndMembers) {
  TestMachine h100 = Preset("dgx-h100", 8), b200 = Preset("dgx-b200", 8), a100 = Preset("dgx-a100", 8);
  const auto own = [](TestMachine& m, int ranks, uint64_t bytes) { return Taken(m, "auto", ranks, bytes); };
  EXPECT_EQ(Taken(h100, "vllm", 8, 128 * kKiB), "one_shot/simple");
  EXPECT_EQ(Taken(h100, "vllm", 8, 256 * kKiB), "multimem/simple");
  EXPECT_EQ(Taken(h100, "vllm", 8, 64 * kMiB), own(h100, 8, 64 * kMiB));
  EXPECT_EQ(Taken(h100, "vllm", 4, 512 * kKiB), "two_shot/simple");
  EXPECT_EQ(Taken(h100, "vllm", 3, kKiB), own(h100, 3, kKiB));
  EXPECT_EQ(Taken(b200, "vllm", 8, 256 * kKiB), "two_shot/simple");
  EXPECT_EQ(Taken(b200, "vllm", 8, 5114880), "multimem/simple");
  EXPECT_EQ(Taken(b200, "vllm", 4, 16 * kMiB), "two_shot/simple");
  EXPECT_EQ(Taken(a100, "vllm", 8, kMiB), "two_shot/simple");
  EXPECT_EQ(Taken(a100, "sglang", 4, 256 * kKiB), "one_shot/simple");
  EXPECT_EQ(Taken(h100, "sglang", 8, 8 * kMiB), own(h100, 8, 8 * kMiB));
  EXPECT_EQ(Taken(h100, "tensorrt_llm", 8, 512 * kKiB - 2), "one_shot/simple");
  EXPECT_EQ(Taken(h100, "tensorrt_llm", 8, 512 * kKiB), "two_shot/simple");
  EXPECT_EQ(Taken(b200, "tensorrt_llm", 8, 2 * kMiB - 2), "one_shot/simple");
  EXPECT_EQ(Taken(h100, "tensorrt_llm", 8, 65 * kMiB), own(h100, 8, 65 * kMiB));
}

TEST(Shipped, OtherGroupsAreRefusedOrUseTheLibrary) {
  TestMachine nodes = Preset("dgx-h100", 16);
  nodes.Force(T::kAllReduce, "two_shot");
  const std::vector<int> all = nodes.All();
  const RunResult refused = RunCall(nodes, T::kAllReduce, kMiB, all, std::vector<Time>(all.size()), true);
  EXPECT_THAT(refused.error, HasSubstr("one NVLink switch"));
  EXPECT_EQ(Taken(nodes, "vllm", 16, kMiB), Taken(nodes, "auto", 16, kMiB));
  TestMachine a100 = Preset("dgx-a100", 8);
  a100.Force(T::kAllReduce, "multimem");
  const std::vector<int> eight = a100.All();
  EXPECT_THAT(RunCall(a100, T::kAllReduce, kMiB, eight, std::vector<Time>(8), true).error,
              HasSubstr("cannot reduce or multicast"));
}

// The library never chooses these kernels by itself: neither `auto` nor `cheapest` does.
TEST(Shipped, OnlyRulesChooseThem) {
  TestMachine m = Preset("dgx-h100", 8);
  for (const char* rule : {"auto", "cheapest"}) {
    for (const uint64_t bytes : {4 * kKiB, 256 * kKiB, 8 * kMiB}) {
      const std::string taken = Taken(m, rule, 8, bytes);
      for (const char* name : {shipped::kTwoShot, shipped::kMultimem, shipped::kOneShot})
        EXPECT_NE(taken, std::string(name) + "/simple") << rule << " " << bytes;
    }
  }
}

// Two nodes of 8: messages inside a node and messages between nodes run at the same time.
TEST(Shipped, ExpertMessagesUseLinksAndNicsTogether) {
  TestMachine m = Preset("dgx-h800", 16);  // 200 GB/s a link, 50 a NIC
  for (const uint64_t bytes : {kMiB, 64 * kMiB}) {
    const double share = static_cast<double>(bytes) / 16;
    for (const bool fast : {true, false}) {
      m.Force(T::kAllToAll, "deepep_low_latency");
      const auto low = static_cast<double>(CallPicos(m, T::kAllToAll, bytes, fast));
      // Picoseconds: 8 shares over the NIC; latencies of the route stay below 3 us.
      EXPECT_GE(low, 38e6 + 8 * share * 20 / 0.96);
      EXPECT_LE(low, 41e6 + 8 * share * 20 / 0.96);
    }
  }
  TestMachine one = Preset("dgx-h800", 8);
  one.Force(T::kAllToAll, "deepep");
  EXPECT_NEAR(static_cast<double>(CallPicos(one, T::kAllToAll, 8 * kMiB)), 38e6 + 7.0 * kMiB * 5 / 0.68, 1e6);
  TestMachine pcie = Preset("l40s", 8);
  pcie.Force(T::kAllToAll, "deepep");
  EXPECT_THAT(RunCall(pcie, T::kAllToAll, kMiB, pcie.All(), std::vector<Time>(8), true).error,
              HasSubstr("NVLink"));
}

TEST(Shipped, MapsKernelNamesToAlgorithms) {
  using shipped::AlgorithmOfKernel;
  EXPECT_STREQ(
      AlgorithmOfKernel("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>("),
      shipped::kMultimem);
  EXPECT_STREQ(AlgorithmOfKernel("void vllm::cross_device_reduce_1stage<half, 8>("), shipped::kOneShot);
  EXPECT_STREQ(
      AlgorithmOfKernel("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)"),
      shipped::kMultimem);
  EXPECT_STREQ(AlgorithmOfKernel("ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32"), shipped::kTwoShot);
  EXPECT_STREQ(AlgorithmOfKernel("ncclSymkDevKernel_AllReduce_AGxLLMC_R_sum_f32"), shipped::kOneShot);
  for (const char* none :
       {"multimem_one_shot_all_reduce_kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", ""})
    EXPECT_EQ(AlgorithmOfKernel(none), nullptr) << none;
}

// A recorded kernel decides if the group supports its algorithm and no rule forces another.
TEST(Shipped, RecordedKernelGivesTheAlgorithm) {
  const auto taken = [](TestMachine& m, const char* kernel) {
    const std::vector<int> members = m.All();
    CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended);
    const auto call = planner.Get(T::kAllReduce, 5 * kMiB, 0, members, "", kernel);
    EXPECT_TRUE(call.ok()) << call.status();
    return call.ok() ? (*call)->algorithm : "";
  };
  TestMachine m = Preset("dgx-b200", 8);
  EXPECT_EQ(taken(m, nullptr), "nvls/simple");
  EXPECT_EQ(taken(m, shipped::kMultimem), "multimem/simple");
  TestMachine nodes = Preset("dgx-b200", 16);
  EXPECT_EQ(taken(nodes, shipped::kMultimem), taken(nodes, nullptr));
  m.Force(T::kAllReduce, "ring/ll");
  EXPECT_EQ(taken(m, shipped::kMultimem), "ring/ll");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
