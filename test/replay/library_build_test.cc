// The fields of collectives.library, and the errors for wrong ones.
#include <gmock/gmock.h>

#include "replay/cluster/load.h"
#include "test/folders.h"
#include "test/replay/library_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTopology[] =
    "topology { dimension { name: \"up\" kind: SWITCH size: 4 bandwidth_gbytes_per_s: 100 }"
    " dimension { name: \"out\" kind: SWITCH size: 0 bandwidth_gbytes_per_s: 25 } }";

// A cluster whose library has the required fields and `fields`.
std::string With(const std::string& fields, const std::string& level = "efficiency: 0.8",
                 const std::string& head = "generation: AMPERE channels: 4") {
  return std::string(kTopology) + " collectives { library { " + head + " level { link: NVLINK " + level +
         " } level { link: NET efficiency: 0.9 } " + fields + " } }";
}

std::string ErrorOf(const std::string& text, int ranks = 8) {
  const auto model = BuildCluster(ClusterText(text), ranks);
  if (model.ok()) ADD_FAILURE() << "accepted: " << text;
  return std::string(model.status().message());
}

LibraryModel Built(const std::string& text, int ranks = 8) {
  const auto model = BuildCluster(ClusterText(text), ranks);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model->collectives.library : LibraryModel();
}

TEST(LibraryBuild, AcceptsKnownReleases) {
  EXPECT_EQ(Built(With("")).version, nccl::kNewestVersion);
  EXPECT_EQ(Built(With("version: \"2.23\"")).version, 223);
  EXPECT_EQ(Built(With("version: \"2.23.4\"")).version, 223);
  EXPECT_EQ(nccl::VersionText(223), "2.23");
  for (const char* bad : {"2", "2.", "v2.27", "2.27.3.1", "2.3", "2.99", "3.0", "-2.27"}) {
    EXPECT_THAT(ErrorOf(With(absl::StrCat("version: \"", bad, "\""))),
                AllOf(HasSubstr("collectives.library.version is"), HasSubstr("2.4 to 2.30")))
        << bad;
  }
  EXPECT_EQ(Built(With("")).search_channels, 4);
  EXPECT_EQ(Built(With("search_channels: 2")).search_channels, 2);
  EXPECT_THAT(ErrorOf(With("search_channels: 5")), HasSubstr("search_channels is 5"));
  EXPECT_THAT(ErrorOf(With("term { algorithm: \"ring\" protocol: \"simple\" own_bytes: -1 }")),
              HasSubstr("own_bytes is -1"));
}

TEST(LibraryBuild, ReadsEachField) {
  const LibraryModel l = Built(With(
      "enqueue_us: 5 launch_us: 14 copy_gbytes_per_s: 20 chunk_bytes: 4096 slowdown: 0.25 devices_per_host: 2"
      " term { algorithm: \"ring\" protocol: \"ll128\" base_us: 1 step_us: 0 }"
      " choice { key: \"all_reduce@1024\" value: \"tree/ll\" }",
      "efficiency: 0.8 in_switch_efficiency: 0.5 in_switch_channels: 2 nic_latency_us: 1.5"
      " wiring { a: 0 b: 3 links: 2 } wiring { a: 3 b: 0 links: 1 } wire_gbytes_per_s: 12.5"));
  EXPECT_EQ(l.generation, Generation::kAmpere);
  EXPECT_EQ(l.channels, 4);
  EXPECT_EQ(l.enqueue_us, 5);
  EXPECT_EQ(l.launch_us, 14);
  EXPECT_EQ(l.copy_gbytes_per_s, 20);
  EXPECT_EQ(l.chunk_bytes, 4096u);
  EXPECT_EQ(l.slowdown, 0.25);
  EXPECT_EQ(l.devices_per_host, 2);
  ASSERT_EQ(l.levels.size(), 2u);
  EXPECT_EQ(l.levels[0].link, LibraryLink::kNvlink);
  EXPECT_EQ(l.levels[0].link_gbytes_per_s, 100);
  EXPECT_EQ(l.levels[0].efficiency, 0.8);
  EXPECT_EQ(l.levels[0].in_switch_efficiency, 0.5);
  EXPECT_EQ(l.levels[0].in_switch_channels, 2);
  EXPECT_EQ(l.levels[0].nic_latency_us, 1.5);
  EXPECT_EQ(l.levels[0].wired, 4);
  EXPECT_EQ(l.levels[0].links[3], 3);
  EXPECT_EQ(l.levels[0].links[12], 3);
  EXPECT_EQ(l.levels[0].wire_gbytes_per_s, 12.5);
  EXPECT_EQ(l.levels[1].link, LibraryLink::kNet);
  EXPECT_EQ(l.levels[1].link_gbytes_per_s, 25);
  EXPECT_EQ(l.levels[1].in_switch_channels, 4);  // those of the library
  ASSERT_EQ(l.terms.size(), 1u);
  EXPECT_EQ(l.terms.begin()->first, std::make_pair(std::string("ring"), Protocol::kLL128));
  EXPECT_EQ(l.terms.begin()->second.base_us, 1);
  EXPECT_EQ(l.terms.begin()->second.step_us, 0);
  EXPECT_EQ(l.terms.begin()->second.network_step_us, std::nullopt);
  EXPECT_EQ(l.choice.at("all_reduce@1024"), "tree/ll");
}

TEST(LibraryBuild, FieldsHaveDefaults) {
  const LibraryModel l = Built(With(""));
  EXPECT_EQ(l.chunk_bytes, 2u << 20);
  EXPECT_EQ(l.enqueue_us + l.launch_us + l.copy_gbytes_per_s + l.slowdown, 0);
  EXPECT_EQ(l.levels[0].wired, 0);
  EXPECT_TRUE(l.choice.empty());
}

struct Fault {
  std::string text;
  std::vector<const char*> says;  // after "cluster: collectives.library."
};

void Refuses(const std::vector<Fault>& faults) {
  for (const Fault& f : faults) {
    const std::string error = ErrorOf(f.text);
    EXPECT_THAT(error, StartsWith("cluster: collectives.library.")) << f.text;
    for (const char* text : f.says) EXPECT_THAT(error, HasSubstr(text)) << f.text;
  }
}

TEST(LibraryBuild, RefusesBadLibraryFields) {
  Refuses({
      {With("", "efficiency: 1", "channels: 4"), {"generation is not set", "AMPERE"}},
      {With("", "efficiency: 1", "generation: AMPERE"), {"channels is 0", "1 to 1024"}},
      {With("", "efficiency: 1", "generation: AMPERE channels: 1025"), {"channels is 1025", "1 to 1024"}},
      {With("", "efficiency: 1", "generation: AMPERE channels: -1"), {"channels is -1"}},
      {With("level { link: NET efficiency: 1 }"), {"level is there 3 times", "which has 2"}},
      {With("enqueue_us: -1"), {"enqueue_us is -1", ">= 0"}},
      {With("enqueue_us: 2e6"), {"enqueue_us", "<= 1e+06"}},
      {With("launch_us: nan"), {"launch_us is nan"}},
      {With("launch_us: inf"), {"launch_us is inf"}},
      {With("copy_gbytes_per_s: -3"), {"copy_gbytes_per_s is -3"}},
      {With("chunk_bytes: -1"), {"chunk_bytes is -1"}},
      {With("chunk_bytes: 1023"), {"chunk_bytes is 1023", "1024 to"}},
      {With("devices_per_host: -1"), {"devices_per_host is -1", ">= 0"}},
      {With("slowdown: -0.5"), {"slowdown is -0.5"}},
      {With("slowdown: 1001"), {"slowdown is 1001", "<= 1000"}},
  });
}

TEST(LibraryBuild, RefusesBadLevels) {
  const auto level = [](const std::string& fields) { return With("", fields); };
  const std::string no_link = std::string(kTopology) +
                              " collectives { library { generation: VOLTA channels: 1 level { efficiency: 1 }"
                              " level { link: NET efficiency: 1 } } }";
  Refuses({
      {no_link, {"level[0].link is not set", "NVLINK, PCI or NET"}},
      {level(""), {"level[0].efficiency is 0", "> 0"}},
      {level("efficiency: 1.01"), {"level[0].efficiency is 1.01", "<= 1"}},
      {level("efficiency: nan"), {"level[0].efficiency is nan"}},
      {level("efficiency: 1 in_switch_efficiency: 2"), {"level[0].in_switch_efficiency is 2"}},
      {level("efficiency: 1 in_switch_channels: -1"), {"level[0].in_switch_channels is -1"}},
      {level("efficiency: 1 nic_latency_us: -1"), {"level[0].nic_latency_us is -1"}},
      {level("efficiency: 1 wiring { a: 0 b: 1 links: 1 }"), {"level[0].wire_gbytes_per_s is 0", "> 0"}},
  });
  const auto wired = [&](const std::string& wire) {
    return level("efficiency: 1 wire_gbytes_per_s: 1 wiring { a: 1 b: 2 links: 1 } wiring { " + wire + " }");
  };
  Refuses({
      {wired("a: 1 b: 1 links: 1"), {"level[0].wiring[1] is 1 links from 1 to 1", "two different devices"}},
      {wired("a: -1 b: 1 links: 1"), {"level[0].wiring[1]", "from -1 to 1"}},
      {wired("a: 0 b: 1"), {"level[0].wiring[1] is 0 links"}},
      {wired("a: 0 b: 1 links: 1001"), {"level[0].wiring[1]", "1 to 1000 links"}},
      {wired("a: 0 b: 64 links: 1"), {"level[0].wiring is over 65 devices", "at most 64"}},
      {wired("a: 0 b: 2147483647 links: 1"), {"level[0].wiring", "at most 64"}},
  });
  proto::Cluster outer = ClusterText(level("efficiency: 1"));
  proto::LibraryLevel* out = outer.mutable_collectives()->mutable_library()->mutable_level(1);
  out->set_wire_gbytes_per_s(1);
  out->add_wiring()->set_links(1);
  EXPECT_THAT(std::string(BuildCluster(outer, 8).status().message()),
              AllOf(HasSubstr("level[1].wiring is there 1 times"), HasSubstr("only level[0]")));
}

TEST(LibraryBuild, RefusesBadTerms) {
  const auto term = [](const std::string& fields) { return With("term { " + fields + " }"); };
  const std::string ring = "algorithm: \"ring\" protocol: \"ll\" ";
  Refuses({
      {term("algorithm: \"rings\" protocol: \"ll\""), {"term[0].algorithm is \"rings\"", "ring"}},
      {term("protocol: \"ll\""), {"term[0].algorithm is \"\"", "nvls_tree"}},
      {term("algorithm: \"ring\" protocol: \"LL\""), {"term[0].protocol is \"LL\"", "ll, ll128 or simple"}},
      {term(ring + "base_us: -1"), {"term[0].base_us is -1"}},
      {term(ring + "step_us: inf"), {"term[0].step_us is inf"}},
      {term(ring + "network_step_us: -2"), {"term[0].network_step_us is -2"}},
      {term(ring + "bus_share: 0"), {"term[0].bus_share is 0", "> 0"}},
      {term(ring + "network_share: -1"), {"term[0].network_share is -1", "> 0"}},
      {With("term { " + ring + " } term { " + ring + " }"), {"term[1].algorithm is ring/ll a second time"}},
  });
}

TEST(LibraryBuild, RefusesRulesWithUnknownNames) {
  const auto choice = [](const std::string& key, const std::string& rule) {
    return With("choice { key: \"" + key + "\" value: \"" + rule + "\" }");
  };
  Refuses({
      {choice("all_reduc", "ring"),
       {"choice[\"all_reduc\"]", "unknown collective", "did you mean 'all_reduce'?"}},
      {choice("all_reduce@many", "ring"), {"choice[\"all_reduce@many\"]", "all_reduce", "@"}},
      {choice("all_reduce@-1", "ring"), {"choice[\"all_reduce@-1\"]"}},
      {choice("all_reduce:0", "ring"), {"choice[\"all_reduce:0\"]", "RANKS"}},
      {choice("all_reduce", "rings"), {"choice[\"all_reduce\"] is \"rings\"", "cheapest", "ring", "direct"}},
      {choice("all_reduce", "ring/LL"), {"is \"ring/LL\"", "ll, ll128, simple"}},
      {choice("all_reduce", "ring/ll/x"), {"is \"ring/ll/x\"", "no protocol \"ll/x\" for ring"}},
      {choice("all_reduce", "auto/foo"), {"no protocol \"foo\" for auto"}},
      {choice("all_reduce", "nvls/ll"), {"no protocol \"ll\" for nvls", "expected one of: simple"}},
      {choice("broadcast", "nvls"), {"choice[\"broadcast\"] is \"nvls\"", "binomial, chain, ring"}},
      {choice("all_reduce", "ring/"), {"is \"ring/\""}},
      {choice("all_reduce", ""), {"is \"\"", "auto"}},
      {choice("all_to_all", "themis"), {"is \"themis\"", "pairwise"}},
  });
  for (const char* rule :
       {"auto", "cheapest", "ring", "double_binary_tree/simple", "auto/ll", "cheapest/ll128", "*/simple"}) {
    EXPECT_EQ(Built(choice("all_reduce/a@b", rule)).choice.at("all_reduce/a@b"), rule);
  }
}

// A rule may name a program from a file, for calls of the program's collective.
TEST(LibraryBuild, RulesMayNameProgramFiles) {
  const auto error = [](const char* kind, const char* rule) {
    proto::Cluster cluster = ClusterText(With(""));
    cluster.mutable_collectives()->add_program(std::string(CHAKRA_SOURCE_DIR) +
                                               "/test/fuzz/corpus/msccl_fuzz/gather2.xml");
    (*cluster.mutable_collectives()->mutable_library()->mutable_choice())[kind] = rule;
    return std::string(BuildCluster(cluster, 8).status().message());
  };
  EXPECT_EQ(error("all_gather", "a"), "");
  EXPECT_EQ(error("all_gather", "a/simple"), "");
  EXPECT_THAT(error("all_gather", "a/ll"), HasSubstr("no protocol \"ll\" for a; expected one of: simple"));
  EXPECT_THAT(error("all_reduce", "a"),
              AllOf(HasSubstr("no algorithm \"a\""), HasSubstr("halving_doubling")));
}

// A library decides splits and algorithms itself, so a cluster with a library may not set them.
TEST(LibraryBuild, RefusesSettingsThatALibraryIgnores) {
  proto::Cluster cluster = ClusterText(With(""));
  const auto error = [&] { return std::string(BuildCluster(cluster, 8).status().message()); };
  cluster.mutable_collectives()->set_splits(1);
  cluster.mutable_collectives()->set_step_overhead_ns(5);
  EXPECT_EQ(error(), "");
  cluster.mutable_collectives()->set_splits(4);
  EXPECT_THAT(error(), AllOf(HasSubstr("collectives.splits is 4; expected 1"), HasSubstr("library.choice")));
  cluster.mutable_collectives()->clear_splits();
  (*cluster.mutable_collectives()->mutable_algorithm())["all_reduce"] = "one_shot";
  EXPECT_THAT(error(), AllOf(HasSubstr("collectives.algorithm[\"all_reduce\"] is set; expected none"),
                             HasSubstr("library.choice")));
  cluster = *LoadCluster("dgx-h100:splits=4");
  EXPECT_THAT(error(), HasSubstr("library.choice"));
}

// A run on one block needs no outer dimension: BuildCluster() drops the dimension and its level.
TEST(LibraryBuild, UnusedDimensionDropsItsLevel) {
  const LibraryModel both = Built(With(""), 8);
  EXPECT_EQ(both.levels.size(), 2u);
  for (const int ranks : {1, 2, 4}) {
    const auto model = BuildCluster(ClusterText(With("")), ranks);
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_EQ(model->collectives.library->levels.size(), 1u);
    EXPECT_EQ(model->collectives.library->levels[0].link, LibraryLink::kNvlink);
    // The proto of the built cluster builds again.
    EXPECT_EQ(model->proto.collectives().library().level_size(), 1);
    const auto again = BuildCluster(model->proto, ranks);
    EXPECT_TRUE(again.ok()) << again.status();
  }
  // The dimension of open size is the first: only the network remains.
  proto::Cluster swapped = ClusterText(With(""));
  swapped.mutable_topology()->mutable_dimension(0)->set_size(0);
  swapped.mutable_topology()->mutable_dimension(1)->set_size(4);
  const auto model = BuildCluster(swapped, 4);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->collectives.library->levels.size(), 1u);
  EXPECT_EQ(model->collectives.library->levels[0].link, LibraryLink::kNet);
  // A missing level is an error on one block too.
  proto::Cluster short_of = ClusterText(With(""));
  short_of.mutable_collectives()->mutable_library()->mutable_level()->DeleteSubrange(1, 1);
  for (const int ranks : {4, 8}) {
    EXPECT_THAT(std::string(BuildCluster(short_of, ranks).status().message()),
                AllOf(HasSubstr("level is there 1 times"), HasSubstr("which has 2")));
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
