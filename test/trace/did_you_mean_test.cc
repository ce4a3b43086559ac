#include "trace/base/did_you_mean.h"

#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

TEST(DidYouMean, ComputesEditDistance) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("ring", "ring"), 0u);
  EXPECT_EQ(EditDistance("rnig", "ring"), 1u);  // a swap
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("workload.0.et", "workload.et"), 2u);
}

TEST(DidYouMean, FindsTheNearestName) {
  const std::vector<std::string> names = {"ring", "fully_connected", "switch"};
  EXPECT_EQ(NearestName("Rnig", names), "ring");
  EXPECT_EQ(NearestName("FullyConected", names), "fully_connected");
  EXPECT_EQ(NearestName("torus", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(SuggestName("torus", names), "; known: ring, fully_connected, switch");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
