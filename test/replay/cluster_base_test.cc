// Cluster files that are based on another cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "replay/cluster/base.h"
#include "replay/cluster/load.h"
#include "replay/cluster/options.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class ClusterBase : public ::testing::Test {
 protected:
  static std::string File(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(::testing::TempDir(), "cluster_base_", name);
    std::ofstream(path) << text;
    return path;
  }
  static std::string Error(const std::string& text) {
    const auto loaded = LoadCluster(File("bad.txtpb", text));
    EXPECT_FALSE(loaded.ok()) << text;
    return std::string(loaded.status().message());
  }
};

TEST_F(ClusterBase, FieldsReplaceTheBaseThenChangesApply) {
  const auto c =
      LoadCluster(File("mine.txtpb",
                       "name: \"mine\" base: \"dgx-h100:nic_gbps=200\" device { memory_mib: 65000 }\n"
                       "change: \"collectives.library.level[1].transport.name=roce-400\"\n"
                       "change: \"topology.dimension[1].size=4\"\n"));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->name(), "mine");
  EXPECT_EQ(c->device().name(), "H100-SXM5-80GB");
  EXPECT_EQ(c->device().memory_mib(), 65000);
  EXPECT_EQ(c->topology().dimension(1).bandwidth_gbytes_per_s(), 25);
  EXPECT_EQ(c->topology().dimension(1).size(), 4);
  EXPECT_EQ(c->collectives().library().level(1).transport().name(), "roce-400");
  EXPECT_TRUE(c->base().empty());
}

TEST_F(ClusterBase, BaseMayBeAFile) {
  const std::string first = File("first.txtpb", "base: \"dgx-a100\" device { name: \"A100-40GB\" }");
  const auto c = LoadCluster(File("second.txtpb", absl::StrCat("base: \"", first, "\"")));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->device().memory_gbytes_per_s(), 1555);
}

// Terms by name replace those of the base: in a file, in a change, or with --set.
TEST_F(ClusterBase, NamedTermsReplaceThoseOfTheBase) {
  const auto ampere = LoadCluster("dgx-a100");
  ASSERT_TRUE(ampere.ok());
  const auto& expected = ampere->collectives().library();
  const auto check = [&](const std::string& text) {
    const auto c = LoadCluster(File("terms.txtpb", text));
    ASSERT_TRUE(c.ok()) << c.status();
    const auto& library = c->collectives().library();
    EXPECT_EQ(library.terms(), "");
    ASSERT_EQ(library.term_size(), expected.term_size());
    EXPECT_EQ(library.term(0).base_us(), expected.term(0).base_us());
    EXPECT_EQ(library.kernel_gap_us(), 1.2);
  };
  check("base: \"dgx-h100\" collectives { library { terms: \"ampere\" } }");
  check("base: \"dgx-h100\" change: \"collectives.library.terms=ampere\"");
  check("collectives { library { terms: \"ampere\" } }");
  auto set = LoadCluster("dgx-h100");
  ASSERT_TRUE(set.ok());
  std::vector<std::string> notes;
  const TopologyOptions options = {.set = {"collectives.library.terms=ampere"}};
  ASSERT_TRUE(ApplyTopologyOptions(options, &*set, &notes).ok());
  EXPECT_EQ(set->collectives().library().term(0).base_us(), expected.term(0).base_us());
}

// Without a base, the name of a device sets no rates.
TEST_F(ClusterBase, DeviceNameWithoutBaseSetsNoRates) {
  const auto c = LoadCluster(File("known.txtpb", "device { name: \"h200\" }"));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->device().memory_gbytes_per_s(), 0);
}

TEST_F(ClusterBase, RefusesInvalidBasesTermsAndChanges) {
  EXPECT_THAT(Error("collectives { library { terms: \"amper\" } }"),
              HasSubstr("collectives.library.terms is \"amper\"; did you mean 'ampere'?"));
  EXPECT_THAT(Error("collectives { library { terms: \"ampere\" term { algorithm: \"ring\" } } }"),
              HasSubstr("collectives.library has `term` and `terms`; expected one of them"));
  EXPECT_THAT(Error("base: \"dgx-h10\""),
              HasSubstr("base: cluster \"dgx-h10\" is neither a preset nor a file"));
  EXPECT_THAT(Error("base: \"dgx-h100\" topology { dimension { size: 4 } }"),
              HasSubstr("topology.dimension is given with a base; expected it in `change`"));
  EXPECT_THAT(Error("base: \"dgx-h100\" device { name: \"H101\" }"), HasSubstr("device.name is \"H101\""));
  EXPECT_THAT(Error("base: \"dgx-h100\" change: \"topology.dimension[7].size=4\""),
              HasSubstr("change \"topology.dimension[7].size=4\""));
  const std::string self = absl::StrCat(::testing::TempDir(), "cluster_base_bad.txtpb");
  EXPECT_THAT(Error(absl::StrCat("base: \"", self, "\"")),
              HasSubstr("expected a chain that does not return to itself"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
