// The library's constants; the predictions of its tuner, against the published formulas by hand; the choices
// of its rules.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/engine/price.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/constants.h"
#include "replay/nccl/planner.h"
#include "replay/nccl/rates.h"
#include "replay/nccl/rings.h"
#include "test/folders.h"
#include "test/replay/engine_testing.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using nccl::Algorithm;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::vector<int> Range(int first, int count) {
  std::vector<int> members(static_cast<size_t>(count));
  std::iota(members.begin(), members.end(), first);
  return members;
}

Candidate Find(const std::vector<Candidate>& candidates, const std::string& label) {
  for (const Candidate& c : candidates) {
    if (c.Label() == label) return c;
  }
  ADD_FAILURE() << "no " << label;
  return Candidate();
}

std::vector<Candidate> Of(const TestMachine& m, T type, uint64_t bytes, const std::vector<int>& members) {
  return Candidates(m.library(), type, bytes, m.Shape(members));
}

std::string Auto(const TestMachine& m, T type, uint64_t bytes, const std::vector<int>& members) {
  const auto choice = Choose(Of(m, type, bytes, members), "auto", nullptr);
  EXPECT_TRUE(choice.ok()) << choice.status();
  return choice.ok() ? choice->candidate.Label() : "";
}

TEST(LibraryRings, CountsRingsThatFitOnLinks) {
  const auto matrix = [](int n, int links) {
    std::vector<int> all(static_cast<size_t>(n * n), links);
    for (int i = 0; i < n; ++i) all[static_cast<size_t>(i * n + i)] = 0;
    return all;
  };
  // Each device of a full mesh has n-1 links, and each ring takes one of them.
  for (int n = 2; n <= 5; ++n) EXPECT_EQ(RingsThatFit(matrix(n, 1), n, Range(0, n)), n == 4 ? 2 : n - 1) << n;
  EXPECT_EQ(RingsThatFit(matrix(2, 5), 2, {0, 1}), 5);
  EXPECT_EQ(RingsThatFit(matrix(2, 5), 2, {1}), 0);
  EXPECT_EQ(RingsThatFit(matrix(3, 0), 3, {0, 1, 2}), 0);
  // A line 0 - 1 - 2: one ring, in which 1 forwards the data of 2 to 0.
  EXPECT_EQ(RingsThatFit({0, 1, 0, 1, 0, 1, 0, 1, 0}, 3, {0, 1, 2}), 1);
  EXPECT_EQ(RingsThatFit({0, 1, 0, 1, 0, 1, 0, 1, 0}, 3, {0, 2}), 0);  // 1 is not in the group
}

// More than eight positions are not searched: the links of a device count. A group that its links do not
// connect has no ring.
TEST(LibraryRings, CountsLinksBeyondEightPositions) {
  std::vector<int> ring(16 * 16, 0);
  for (int i = 0; i < 16; ++i) {
    const int next = (i + 1) % 16;
    ring[static_cast<size_t>(i * 16 + next)] = ring[static_cast<size_t>(next * 16 + i)] = 3;
  }
  EXPECT_EQ(RingsThatFit(ring, 16, Range(0, 16)), 6);
  EXPECT_EQ(RingsThatFit(ring, 16, Range(0, 9)), 3);
  EXPECT_EQ(RingsThatFit(ring, 16, {0, 1, 2, 3, 4, 6, 7, 8, 9, 10}), 0);
}

// A hybrid cube mesh: 8 devices use all 6 links of each device; two devices use the links that they share.
TEST(LibraryRings, CountsRingsOfHybridCubeMesh) {
  const TestMachine m = Preset("dgx-v100", 8);
  const auto rings = [&](const std::vector<int>& members) { return m.Shape(members).rings; };
  EXPECT_EQ(rings(Range(0, 8)), 6);
  EXPECT_EQ(rings({0, 1, 2, 3}), 4);
  EXPECT_EQ(rings({4, 5, 6, 7}), 4);
  EXPECT_EQ(rings({0, 3}), 2);
  EXPECT_EQ(rings({0, 1}), 1);
  EXPECT_EQ(rings({0, 5}), 0);
}

TEST(LibraryConstants, MatchPublishedValues) {
  std::ifstream in(std::string(CHAKRA_SHARED_DATA) + "/validation/nccl_tuner_constants.csv");
  if (!in) GTEST_SKIP() << "no " << CHAKRA_SHARED_DATA << "/validation/nccl_tuner_constants.csv";
  const std::map<std::string, Algorithm> algorithms = {
      {"Tree", Algorithm::kTree}, {"Ring", Algorithm::kRing},         {"CollNetDirect", Algorithm::kCollNet},
      {"NVLS", Algorithm::kNvls}, {"NVLSTree", Algorithm::kNvlsTree}, {"PAT", Algorithm::kPat}};
  const std::map<std::string, Protocol> protocols = {
      {"LL", Protocol::kLL}, {"LL128", Protocol::kLL128}, {"Simple", Protocol::kSimple}};
  const std::map<std::string, LibraryLink> links = {
      {"NVLINK", LibraryLink::kNvlink}, {"PCI", LibraryLink::kPci}, {"NET", LibraryLink::kNet}};
  const std::map<std::string, Generation> generations = {{"Volta", Generation::kVolta},
                                                         {"Ampere", Generation::kAmpere},
                                                         {"Hopper", Generation::kHopper},
                                                         {"Blackwell", Generation::kBlackwell}};
  const std::map<std::string, int> nodes = {{"N1", 1}, {"N2", 2}, {"N4+", 4}};
  int compared = 0;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> f;
    std::stringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) f.push_back(field);
    ASSERT_EQ(f.size(), 5u) << line;
    const double value = std::stod(f[4]);
    double ours = -1;
    if (f[0] == "base_latency_us" && algorithms.count(f[2])) {
      ours = nccl::BaseLatency(algorithms.at(f[2]), protocols.at(f[3]));
    } else if (f[0] == "hw_latency_us" && algorithms.count(f[2])) {
      ours = nccl::StepLatency(algorithms.at(f[2]), protocols.at(f[3]), links.at(f[1]));
    } else if (f[0] == "ll_max_bw_GBps") {
      ours = nccl::MaxLL(generations.at(f[1]), nodes.at(f[2]));
    } else if (f[0] == "per_channel_max_ring_LL128_bw") {
      ours = nccl::MaxRingLL128(generations.at(f[1]));
    } else if (f[0] == "per_channel_max_tree_LL128_bw") {
      ours = nccl::MaxTreeLL128(generations.at(f[1]), nodes.at(f[2]));
    } else if (f[0] == "per_channel_max_nvlstree_bw") {
      ours = nccl::MaxNvlsTree(generations.at(f[1]), nodes.at(f[2]));
    } else if (f[0] == "per_channel_max_tree_bw") {
      ours = nccl::MaxTree(generations.at(f[1]), nodes.at(f[2]));
    } else {
      continue;
    }
    EXPECT_EQ(ours, value) << line;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(LibraryConstants, TreeCorrectionDependsOnSize) {
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, 1), .9);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kLL, 127), 1);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kLL, 64 << 4), .9);   // the fifth entry: 1 KiB
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kLL, 128 << 4), .8);  // the sixth
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, 1 << 20), .5);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kLL128, 1 << 20), .6);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, 64 << 20), .8);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, 128 << 20), .9);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, 256 << 20), 1);
  EXPECT_EQ(nccl::TreeCorrection(Protocol::kSimple, kGiB * 8), 1);
}

// Both terms of "latency + bytes / bandwidth" of a candidate.
void Predicts(const std::vector<Candidate>& candidates, const std::string& label, double us, double gbytes,
              int channels = 0) {
  const Candidate c = Find(candidates, label);
  EXPECT_NEAR(c.latency_us, us, 1e-9 * us) << label;
  EXPECT_NEAR(c.gbytes_per_s, gbytes, 1e-6 * gbytes) << label;
  EXPECT_EQ(c.unfit, "") << label;
  if (channels > 0) {
    EXPECT_EQ(c.channels, channels) << label;
  }
}

void Unfit(const std::vector<Candidate>& candidates, const std::string& label, const std::string& why) {
  EXPECT_THAT(Find(candidates, label).unfit, HasSubstr(why)) << label;
}

// 24 channels; rings reach 0.8 of 300 GB/s.
TEST(LibraryTuner, PredictsEightA100) {
  const TestMachine m = Preset("dgx-a100", 8);
  const auto large = Of(m, T::kAllReduce, kGiB, m.All());
  Predicts(large, "ring/ll", 6.6 + 14 * 0.6, 87.7 * 8 / 14, 24);          // the cap of LL
  Predicts(large, "ring/ll128", 14 + 14 * 1.9, 0.92 * 240 * 8 / 14, 24);  // under 24 x 20
  Predicts(large, "ring/simple", 8.4 + 14 * 3.4, 240.0 * 8 / 14, 24);
  Predicts(large, "tree/ll", 6.8 + 2 * 7 * 0.6, 240 / 3.8 / 2, 24);
  Predicts(large, "tree/ll128", 14 + 2 * 7 * 1.25, 240 * 7.0 / 9 / 2, 24);
  Predicts(large, "tree/simple", 8.4 + 2 * 7 * 4.0, 0.92 * 240 / 2, 24);
  Unfit(large, "nvls/simple", "in_switch_efficiency");
  const auto medium = Of(m, T::kAllReduce, 1 << 20, m.All());
  Predicts(medium, "tree/simple", 8.4 + 2 * 7 * 4.0, 0.92 * 240 / 2 * 0.5, 24);
  Predicts(medium, "ring/ll", 6.6 + 14 * 0.6, 87.7 * 8 / 14, 24);  // 32 KiB a channel would be 32
  // A channel needs a number of bytes: 8 x 8 x 512 (LL), 8 x 640 (LL128), 64 x 512 (Simple).
  const auto small = Of(m, T::kAllReduce, 100000, m.All());
  EXPECT_EQ(Find(small, "ring/ll").channels, 3);
  EXPECT_EQ(Find(small, "tree/ll").channels, 24);
  EXPECT_EQ(Find(small, "ring/ll128").channels, 19);
  EXPECT_EQ(Find(small, "ring/simple").channels, 3);
  EXPECT_EQ(Find(Of(m, T::kAllReduce, 8, m.All()), "ring/simple").channels, 1);
  // One turn of the ring: 7 steps; 8 steps for broadcast and reduce.
  Predicts(Of(m, T::kAllGather, kGiB, m.All()), "ring/simple", 8.4 + 7 * 3.4, 240.0 * 8 / 7);
  Predicts(Of(m, T::kReduceScatter, kGiB, m.All()), "ring/ll", 6.6 + 7 * 0.6, 87.7 * 8 / 7);
  Predicts(Of(m, T::kBroadcast, kGiB, m.All()), "ring/ll128", 14 + 8 * 1.9, 0.92 * 240);
  Predicts(Of(m, T::kReduce, kGiB, m.All()), "ring/simple", 8.4 + 8 * 3.4, 240);
  EXPECT_EQ(Auto(m, T::kAllReduce, kGiB, m.All()), "ring/simple");
  EXPECT_EQ(Auto(m, T::kAllReduce, 1024, m.All()), "ring/ll");
}

TEST(LibraryTuner, PredictsEightH200WithSwitch) {
  const TestMachine m = Preset("dgx-h200", 8);
  const double bus = 450 * 0.824;
  const auto c = Of(m, T::kAllReduce, kGiB, m.All());
  Predicts(c, "ring/ll", 15, 141.0 * 8 / 14);
  Predicts(c, "ring/ll128", 40.6, 0.92 * bus * 8 / 14);
  Predicts(c, "ring/simple", 56, bus * 8 / 14);
  Predicts(c, "tree/simple", 64.4, 0.92 * bus / 2);
  Predicts(c, "tree/ll", 15.2, bus / 3.8 / 2);
  // The rate into the switch, with 15 of 16 channels busy. A member sends all its data and its share of the
  // sum.
  Predicts(c, "nvls/simple", 25, 450 * 0.7004 * 15 / 16 / (1 + 1.0 / 8), 16);
  Unfit(c, "nvls_tree/simple", "one node");
  Unfit(c, "collnet/simple", "one node");
  // All-gather: only the bytes from the switch to a member count.
  Predicts(Of(m, T::kAllGather, kGiB, m.All()), "nvls/simple", 25, 450 * 0.7004 * 15 / 16);
}

TEST(LibraryTuner, ChoiceChangesWithSizeAndMembers) {
  const TestMachine h200 = Preset("dgx-h200", 8);
  EXPECT_EQ(Auto(h200, T::kAllReduce, 1 << 20, h200.All()), "ring/ll");
  EXPECT_EQ(Auto(h200, T::kAllReduce, 2 << 20, h200.All()), "nvls/simple");
  const TestMachine b200 = Preset("dgx-b200", 8);
  for (int n = 2; n <= 8; ++n) {
    EXPECT_EQ(Auto(h200, T::kAllReduce, 8 * kGiB, Range(0, n)), n < 5 ? "ring/simple" : "nvls/simple") << n;
    EXPECT_EQ(Auto(b200, T::kAllReduce, 8 * kGiB, Range(0, n)), n < 6 ? "ring/simple" : "nvls/simple") << n;
  }
}

// Rings of 25 GB/s links, which carry 8/9 of this rate: as many rings as fit, with two channels each.
TEST(LibraryTuner, PredictsV100FromRingsThatFit) {
  const TestMachine m = Preset("dgx-v100", 8);
  struct Case {
    std::vector<int> members;
    int rings;
    double ll;
  };
  const double link = 25 * 0.8889;
  for (const Case& k : {Case{Range(0, 8), 6, 39}, Case{Range(0, 4), 4, 39}, Case{{0, 3}, 2, link},
                        Case{{0, 1}, 1, link / 2}}) {
    const auto n = static_cast<double>(k.members.size());
    const auto c = Of(m, T::kAllReduce, kGiB, k.members);
    const double up = n / (2 * (n - 1)), bus = k.rings * link;
    Predicts(c, "ring/simple", 8.4 + 2 * (n - 1) * 3.4, bus * up, 2 * k.rings);
    Predicts(c, "ring/ll", 6.6 + 2 * (n - 1) * 0.6, k.ll * up);
    Predicts(c, "ring/ll128", 14 + 2 * (n - 1) * 1.9, std::min(0.92 * bus, 2 * k.rings * 20.0) * up);
    Predicts(c, "tree/simple", 8.4 + 2 * (n - 1) * 4, std::min(0.92 * bus, 2 * k.rings * 26.5) / 2);
  }
}

TEST(LibraryTuner, PredictsSeveralNodes) {
  const double bus = 450 * 0.824, nic = 50 * 0.9937, in_switch = 450 * 0.7004 * 15 / 16;
  for (const int nodes : {2, 4}) {
    const TestMachine m = Preset("dgx-h200", 8 * nodes);
    const int n = 8 * nodes;
    const auto c = Of(m, T::kAllReduce, kGiB, m.All());
    const double inter = 2.0 * (nodes - 1), intra = 2.0 * (n - 1) - inter, up = n / (2.0 * (n - 1));
    const double log = nodes == 2 ? 1 : 2, ll = nodes == 2 ? 45 : 35;
    // A step inside a node costs at least 1 us for the proxy, 3 us with Simple's fences.
    Predicts(c, "ring/ll", 6.6 + intra * 1.0 + inter * 2.7, ll * up);
    Predicts(c, "ring/ll128", 14 + intra * 1.9 + inter * 4, 0.92 * bus * up);
    Predicts(c, "ring/simple", 8.4 + intra * 3.4 + inter * 14, bus * up);
    Predicts(c, "tree/ll", 6.8 + 2 * (7 * 0.6 + log * 5), ll / 2);
    Predicts(c, "tree/ll128", 14 + 2 * (7 * 1.25 + log * 8.5), bus * 120 / 128 / 2);
    Predicts(c, "tree/simple", 8.4 + 2 * (7 * 4 + log * 14), 0.92 * bus / 2);
    // The switch carries both halves at once; on two nodes, the network carries both directions at once.
    const double tree =
        std::min({2 * in_switch, 8 * nic * (nodes == 2 ? 2 : 1), 24 * (nodes == 2 ? 57.7 : 45.5)});
    Predicts(c, "nvls_tree/simple", 25 + 2 * log * 20.9, tree * up);
    Unfit(c, "nvls/simple", "several nodes");
    Unfit(c, "collnet/simple", "in_switch_efficiency");
  }
  // A slow network limits rings. Trees of two nodes use both directions of each NIC.
  const auto at = [](int nodes) {
    const TestMachine m = Preset("dgx-h200:nic_gbps=100", 8 * nodes);
    const int n = 8 * nodes;
    return Find(Of(m, T::kAllReduce, kGiB, m.All()), "ring/simple").gbytes_per_s * 2 * (n - 1) / n;
  };
  EXPECT_NEAR(at(2), 8 * 12.5 * 0.9937, 1e-6);
  EXPECT_NEAR(at(3), 8 * 12.5 * 0.9937, 1e-6);
  const TestMachine two = Preset("dgx-h200:nic_gbps=100", 16);
  const auto tree = Find(Of(two, T::kAllReduce, kGiB, two.All()), "tree/simple");
  EXPECT_NEAR(tree.gbytes_per_s, 0.92 * 2 * 8 * 12.5 * 0.9937 / 2, 1e-6);
}

TEST(LibraryTuner, PredictsOneDeviceOnEachNode) {
  const TestMachine m = Preset("dgx-h100", 32);
  const std::vector<int> members = {3, 11, 19, 27};
  const GroupShape shape = m.Shape(members);
  EXPECT_EQ(shape.blocks, std::vector<int>({4}));
  EXPECT_EQ(shape.levels, std::vector<int>({1}));
  const auto c = Of(m, T::kAllGather, 1 << 20, members);
  const double nic = 50 * 0.9937;
  Predicts(c, "pat/simple", 8 + 2 * 14 / 3.5 + 2.8 * 4, 0.75 * nic * 4 / 3);
  // A step on the network costs as much as a step of a tree.
  Predicts(c, "ring/ll", 6.6 + 3 * 5.0, std::min(35.0, nic / 2) * 4 / 3);
  Predicts(c, "ring/ll128", 14 + 3 * 8.5, 0.92 * nic * 4 / 3);
  Predicts(c, "ring/simple", 8.4 + 3 * 14, nic * 4 / 3);
  Unfit(Of(m, T::kAllGather, 1 << 20, m.All()), "pat/simple", "one member on each");
  Unfit(Of(m, T::kAllReduce, 1 << 20, members), "nvls_tree/simple", "one member on each");
  const TestMachine one = Preset("dgx-h100", 8);
  Unfit(Of(one, T::kAllGather, 1 << 20, one.All()), "pat/simple", "several nodes");
}

TEST(LibraryShape, FindsBlocksOfGroups) {
  const TestMachine m = Preset("dgx-h100", 32);
  const auto shape = [&](const std::vector<int>& members) {
    const GroupShape s = m.Shape(members);
    std::string text;
    for (size_t i = 0; i < s.blocks.size(); ++i) {
      text += (i ? " x " : "") + std::to_string(s.blocks[i]) + "@" + std::to_string(s.levels[i]);
    }
    return text;
  };
  EXPECT_EQ(shape(Range(0, 32)), "8@0 x 4@1");
  EXPECT_EQ(shape(Range(8, 8)), "8@0");
  EXPECT_EQ(shape({0, 1, 8, 9, 24, 25}), "2@0 x 3@1");
  EXPECT_EQ(shape({0, 8, 16, 24}), "4@1");
  // No regular blocks: one block over the highest level.
  EXPECT_EQ(shape({0, 1, 2, 8, 9}), "5@1");
  EXPECT_EQ(shape({0, 8, 1, 9}), "4@1");  // blocks, but not next to each other
  EXPECT_EQ(shape({0, 1, 2, 8, 9, 10, 16}), "7@1");
  // Such a group is priced by its nodes: two nodes, with at least two members each.
  EXPECT_EQ(m.Shape({0, 1, 2, 8, 9}).uneven_nodes, 2);
  EXPECT_EQ(m.Shape({0, 1, 2, 8, 9}).uneven_per_node, 2);
  EXPECT_EQ(m.Shape({0, 8, 1, 9}).uneven_nodes, 2);
  const auto uneven = Of(m, T::kAllReduce, kGiB, {0, 1, 2, 8, 9});
  Predicts(uneven, "ring/simple", 8.4 + 6 * 3.4 + 2 * 14.0, 2 * 50 * 0.9937 * 5 / 8);
  EXPECT_THAT(Find(uneven, "nvls_tree/simple").unfit, HasSubstr("different numbers of members"));
  // One member on each of 64 nodes: two trees over them, no chain.
  const TestMachine alone = Preset("dgx-h100:gpus_per_node=1", 64);
  const auto tree =
      PriceUncontended(*alone.fabric,
                       ForceChoice(alone.model.collectives, T::kAllReduce,
                                   Find(Of(alone, T::kAllReduce, 1024, alone.All()), "tree/ll")),
                       T::kAllReduce, 1024, 0, alone.All());
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_LT(tree->seconds(), 100e-6);
}

TEST(LibraryChoice, RulesChooseAlgorithmAndProtocol) {
  const TestMachine m = Preset("dgx-h200", 8);
  const std::vector<Candidate> c = Of(m, T::kAllReduce, 1 << 20, m.All());
  const auto price = [](const Candidate& k) -> absl::StatusOr<Time> {
    if (k.algorithm == "direct") return Time::Micros(k.protocol == Protocol::kLL ? 3 : 9);
    if (k.algorithm == "themis") return absl::InvalidArgumentError("no");
    return Time::Micros(20 + static_cast<int>(k.protocol));
  };
  const auto takes = [&](const std::string& rule) {
    const auto choice = Choose(c, rule, price);
    return choice.ok() ? choice->candidate.Label() : std::string(choice.status().message());
  };
  EXPECT_EQ(takes("auto"), "ring/ll");
  EXPECT_EQ(takes("cheapest"), "direct/ll");
  EXPECT_EQ(takes("cheapest/simple"), "direct/simple");
  EXPECT_EQ(takes("ring"), "ring/ll");
  EXPECT_EQ(takes("ring/simple"), "ring/simple");
  EXPECT_EQ(takes("*/simple"), "nvls/simple");
  EXPECT_EQ(takes("auto/ll128"), "tree/ll128");  // 43.6 us, ring/ll128 46.0
  EXPECT_EQ(takes("double_binary_tree/ll"), "tree/ll");
  EXPECT_EQ(takes("direct"), "direct/ll");  // no prediction: chosen by its price
  EXPECT_EQ(takes("themis"), "themis/simple");
  EXPECT_EQ(takes("nvls"), "nvls/simple");
  EXPECT_THAT(takes("rng"),
              AllOf(HasSubstr("\"rng\""), HasSubstr("did you mean 'ring'?"), HasSubstr("nvls")));
  EXPECT_EQ(takes("nvls/ll"), "no protocol \"ll\" for nvls; expected one of: simple");
  EXPECT_EQ(takes("auto/foo"), "no protocol \"foo\" for auto; expected one of: ll, ll128, simple");
  EXPECT_THAT(takes("ring/simple/xyz"), HasSubstr("no protocol \"simple/xyz\" for ring"));
  EXPECT_THAT(takes("ring/"), HasSubstr("no protocol \"\" for ring"));
  EXPECT_THAT(takes("collnet"), AllOf(HasSubstr("collnet/simple"), HasSubstr("one node")));
  const auto why = Choose(c, "auto", price);
  EXPECT_EQ(why->why, "auto: 28.01 us predicted, next nvls/simple 28.99 us");
  EXPECT_EQ(Choose(c, "cheapest", price)->why, "cheapest: direct/ll 3 us simulated, next direct/ll128 9 us");
  EXPECT_EQ(Choose(c, "ring/ll", price)->why, "fixed");
  EXPECT_EQ(Choose(c, "nvls", price)->why, "fixed algorithm, protocol simple");
  EXPECT_EQ(Choose(c, "direct", price)->why,
            "fixed algorithm, protocol ll: 3 us simulated, next direct/ll128 9 us");
  EXPECT_THAT(Choose(c, "ring", nullptr)->why, HasSubstr("fixed algorithm, protocol ll: 28.01 us predicted"));
}

// The name of a program from a file may have a slash; the longest name counts.
TEST(LibraryChoice, ParsesNamesWithSlashes) {
  const RuleNames names = {{"a", {Protocol::kLL}}, {"a/simple", {Protocol::kSimple}}};
  EXPECT_EQ(ParseRule("a/ll", names)->protocol, Protocol::kLL);
  EXPECT_EQ(ParseRule("a/simple", names)->algorithm, "a/simple");
  EXPECT_EQ(ParseRule("a/simple", names)->protocol, std::nullopt);
  EXPECT_EQ(ParseRule("a/simple/simple", names)->protocol, Protocol::kSimple);
  EXPECT_FALSE(ParseRule("a/simple/ll", names).ok());
}

TEST(LibraryChoice, MostSpecificRuleCounts) {
  LibraryModel library;
  library.choice = {{"all_reduce", "ring"},
                    {"all_reduce@1048576", "nvls"},
                    {"all_reduce@4096", "tree"},
                    {"all_reduce/tp", "direct/ll"},
                    {"all_gather@10", "ring/ll"}};
  const auto rule = [&](T type, uint64_t bytes, const char* group) {
    return RuleFor(library, type, bytes, 8, group);
  };
  EXPECT_EQ(rule(T::kAllReduce, 4095, ""), "ring");
  EXPECT_EQ(rule(T::kAllReduce, 4096, "dp"), "tree");
  EXPECT_EQ(rule(T::kAllReduce, 1048575, ""), "tree");
  EXPECT_EQ(rule(T::kAllReduce, 1048576, ""), "nvls");
  EXPECT_EQ(rule(T::kAllReduce, kGiB, "tp"), "direct/ll");
  EXPECT_EQ(rule(T::kAllGather, 9, ""), "auto");
  EXPECT_EQ(rule(T::kAllGather, 10, ""), "ring/ll");
  EXPECT_EQ(rule(T::kReduceScatter, 10, "tp"), "auto");
}

// `cheapest` compares simulated prices, so it never costs more than the tuner's choice.
TEST(LibraryChoice, CheapestNeverCostsMoreThanAuto) {
  for (const char* preset : {"dgx-v100", "dgx-a100", "dgx-h200", "mi300x"}) {
    for (const int ranks : {3, 8, 16}) {
      TestMachine m = Preset(preset, ranks);
      for (int type = 0; type < kCollectiveTypes; ++type) {
        const auto t = static_cast<T>(type);
        for (const uint64_t bytes : {uint64_t{1}, uint64_t{1} << 16, uint64_t{3} << 20, uint64_t{1} << 28}) {
          m.Force(t, "auto");
          const int64_t tuned = CallPicos(m, t, bytes);
          m.Force(t, "cheapest");
          EXPECT_LE(CallPicos(m, t, bytes), tuned) << preset << ranks << std::string(Name(t)) << bytes;
        }
      }
    }
  }
}

// A rule for one group of a replay does not change the other group.
TEST(LibraryPlanner, GroupRuleAppliesToItsGroupOnly) {
  TraceBuilder b(8);
  b.groups = {{"even", {0, 2, 4, 6}}, {"odd", {1, 3, 5, 7}}};
  for (int r = 0; r < 8; ++r) {
    b.Coll(r, T::kAllReduce, 1 << 20, {}, r % 2 == 0 ? "even" : "odd");
    b.Coll(r, T::kAllGather, 1 << 16, {}, r % 2 == 0 ? "even" : "odd");
  }
  TestMachine m = Preset("dgx-h100", 8);
  auto library = std::make_shared<LibraryModel>(m.library());
  library->choice = {{"all_reduce", "tree"}, {"all_reduce/odd", "ring/simple"}};
  m.costs().library = library;
  const absl::StatusOr<TraceSet> traces = b.Build();
  ASSERT_TRUE(traces.ok()) << traces.status();
  EngineOptions options;
  options.collectives = m.costs();
  const auto metrics = Replay(*traces, Recorded(*traces), *m.fabric, options);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const auto of = [&](const char* kind, const char* group) {
    return metrics->collectives.at({kind, group}).algorithm;
  };
  EXPECT_EQ(of("all_reduce", "even"), "tree/ll128");
  EXPECT_EQ(of("all_reduce", "odd"), "ring/simple");
  EXPECT_EQ(of("all_gather", "odd"), "ring/ll");
}

TEST(LibraryPlanner, UnfitRuleIsAnError) {
  TestMachine m = Preset("dgx-h100", 16);
  m.Force(T::kAllReduce, "nvls");
  const RunResult run = RunCall(m, T::kAllReduce, 4096, m.All(), std::vector<Time>(16), true);
  EXPECT_THAT(run.error, AllOf(HasSubstr("all_reduce of 4096 bytes on 16 ranks"), HasSubstr("nvls/simple"),
                               HasSubstr("several nodes")));
}

TEST(LibraryPlanner, EachShapeIsPlannedOnce) {
  TestMachine m = Preset("dgx-h100", 8);
  CollectivePlanner planner(*m.fabric, m.costs(), PriceUncontended);
  const std::vector<int> low = Range(0, 4), high = Range(4, 4);
  const auto get = [&](uint64_t bytes, const std::vector<int>& members) {
    return *planner.Get(T::kAllReduce, bytes, 0, members, "");
  };
  EXPECT_EQ(get(4096, low), get(4096, low));
  EXPECT_NE(get(4096, low), get(8192, low));
  EXPECT_NE(get(4096, low), get(4096, high));
  EXPECT_EQ(get(4096, low)->plan, get(8192, high)->plan);  // the same steps
  EXPECT_EQ(get(4096, low)->why.substr(0, 5), "auto:");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
