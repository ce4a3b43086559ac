// Clusters that change another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "replay/cluster/base.h"
#include "replay/cluster/load.h"

namespace chakra {
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

TEST_F(ClusterBase, FieldsReplaceAndChangesComeLast) {
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

TEST_F(ClusterBase, AFileMayBeABase) {
  const std::string first = File("first.txtpb", "base: \"dgx-a100\" device { name: \"A100-40GB\" }");
  const auto c = LoadCluster(File("second.txtpb", absl::StrCat("base: \"", first, "\"")));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->device().memory_gbytes_per_s(), 1555);
}

TEST_F(ClusterBase, Refuses) {
  EXPECT_THAT(Error("base: \"dgx-h10\""),
              HasSubstr("base: cluster \"dgx-h10\" is neither a preset nor a file"));
  EXPECT_THAT(Error("base: \"dgx-h100\" topology { dimension { size: 4 } }"),
              HasSubstr("topology.dimension is given beside a base; expected it in `change`"));
  EXPECT_THAT(Error("base: \"dgx-h100\" device { name: \"H101\" }"), HasSubstr("device.name is \"H101\""));
  EXPECT_THAT(Error("base: \"dgx-h100\" change: \"topology.dimension[7].size=4\""),
              HasSubstr("change \"topology.dimension[7].size=4\""));
  const std::string self = absl::StrCat(::testing::TempDir(), "cluster_base_bad.txtpb");
  EXPECT_THAT(Error(absl::StrCat("base: \"", self, "\"")),
              HasSubstr("expected none that leads back to itself"));
}

}  // namespace
}  // namespace chakra
