#include "backends/topology/builders/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GridParameters, ReadsRatesOfEachDimension) {
  const Network network = MakeNetwork("torus:shape=3x4,link=(100GB/s, 50GB/s),latency=(1us,2us)");
  const std::vector<LinkClass>& classes = network.graph.classes();
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].name, "dim0");
  EXPECT_EQ(classes[0].bandwidth.bytes_per_second(), 100000000000);
  EXPECT_EQ(classes[0].latency, Time::Micros(1));
  EXPECT_EQ(classes[1].bandwidth.bytes_per_second(), 50000000000);
  EXPECT_EQ(classes[1].latency, Time::Micros(2));
}

TEST(GridParameters, ChoosesMostCubicShape) {
  EXPECT_THAT(MostCubic(64, 3), ElementsAre(4, 4, 4));
  EXPECT_THAT(MostCubic(128, 3), ElementsAre(4, 4, 8));
  EXPECT_THAT(MostCubic(96, 3), ElementsAre(4, 4, 6));
  EXPECT_THAT(MostCubic(60, 2), ElementsAre(6, 10));
  EXPECT_THAT(MostCubic(7, 3), ElementsAre(1, 1, 7));
  EXPECT_THAT(MostCubic(1, 2), ElementsAre(1, 1));
  EXPECT_THAT(MostCubic(1 << 22, 8), ElementsAre(4, 4, 8, 8, 8, 8, 8, 8));
  EXPECT_EQ(MakeNetwork("mesh", 12).note, "3x4");
  EXPECT_EQ(MakeNetwork("torus:dims=2", 12).note, "3x4");
}

TEST(GridParameters, RefusesBadShapes) {
  EXPECT_EQ(NetworkError("torus"), "torus: shape is \"\"; expected the sizes of the dimensions, as 4x4x8");
  EXPECT_EQ(NetworkError("torus:shape=4x4x8", 100),
            "torus: shape 4x4x8 is 128 devices, but 100 are to be connected; expected shape=4x5x5");
  EXPECT_EQ(NetworkError("mesh:shape=4x4", 20), "mesh: 20 devices, but room for 16 only; expected shape=4x5");
  EXPECT_EQ(NetworkError("hyperx:shape=2x2,hosts=2", 12),
            "hyperx: 12 devices, but room for 8 only; expected shape=2x3");
  EXPECT_THAT(NetworkError("torus:shape=4x0"), AllOf(HasSubstr("shape is \"4x0\""), HasSubstr(">= 1")));
  EXPECT_THAT(NetworkError("torus:shape=axb"), HasSubstr("expected 1 to 8 sizes >= 1"));
  EXPECT_THAT(NetworkError("torus:shape=1x1x1x1x1x1x1x1x1"), HasSubstr("1 to 8 sizes"));
  EXPECT_EQ(NetworkError("torus:shape=4194304x4194304x4194304"),
            "torus: shape is \"4194304x4194304x4194304\"; expected sizes with a product of at most 4194304");
  EXPECT_EQ(NetworkError("torus:shape=4x4,dims=3"),
            "torus: dims is \"3\"; expected 2, as shape 4x4 has, or only one of shape and dims");
  EXPECT_THAT(NetworkError("torus", 1 << 23), HasSubstr("8388608 devices; expected at most 4194304"));
  EXPECT_THAT(NetworkError("torus:shape=2048x2048,hosts=2"),
              HasSubstr("room for 8388608 devices; expected at most 4194304"));
  EXPECT_THAT(NetworkError("hyperx:shape=65536"), HasSubstr("2147450880 links; expected at most 16777216"));
}

TEST(GridParameters, RefusesBadValues) {
  EXPECT_THAT(NetworkError("torus:shape=4x4,dims=9"), HasSubstr("1 to 8; the nearest is 8"));
  EXPECT_THAT(NetworkError("torus:shape=4x4,hosts=-1"), HasSubstr("0 to 1024; the nearest is 0"));
  EXPECT_EQ(NetworkError("torus:shape=4x4,host_link=100Gb/s"),
            "torus: hosts is \"0\"; expected at least 1 with host_link or host_latency");
  EXPECT_EQ(NetworkError("mesh:shape=4x4,order=anny"),
            "mesh: order is \"anny\"; expected dimension, any; did you mean 'any'?");
  EXPECT_EQ(NetworkError("torus:shape=4x4x4,link=(100GB/s,50GB/s)"),
            "torus: link is \"(100GB/s,50GB/s)\"; expected one value, or one for each of 3 dimensions in "
            "parentheses with commas between");
  EXPECT_THAT(NetworkError("torus:shape=4x4,link=(100GB/s,50)"),
              AllOf(HasSubstr("torus: link is \"50\""), HasSubstr("50Gb/s (6.25 GB/s)")));
  EXPECT_THAT(NetworkError("torus:shape=4x4,link=400GB/s"), HasSubstr("400Gb/s would be 50GB/s"));
  EXPECT_THAT(NetworkError("torus:shape=4x4,latency=5"), HasSubstr("latency is \"5\"; expected a unit"));
  EXPECT_THAT(NetworkError("hyperx:shape=4x4,hosts=1,host_latency=5"), HasSubstr("host_latency is \"5\""));
  EXPECT_THAT(NetworkError("torus:shap=4x4"), HasSubstr("unknown parameter \"shap\""));
}

TEST(GridParameters, RefusesBadWrapsAndTwists) {
  EXPECT_EQ(NetworkError("torus:shape=4x4x8,wrap=1x1"),
            "torus: wrap is \"1x1\"; expected all, or 0 or 1 for each of 3 dimensions, as 1x1x1");
  EXPECT_THAT(NetworkError("torus:shape=4x4,wrap=1x2"), HasSubstr("wrap is \"1x2\""));
  EXPECT_THAT(NetworkError("torus:shape=4x8,twist=maybe"),
              HasSubstr("twist is \"maybe\"; expected yes or no"));
  EXPECT_EQ(NetworkError("torus:shape=4x8,wrap=1x0,twist=yes"),
            "torus: wrap is \"1x0\"; expected all with twist=yes");
  EXPECT_EQ(NetworkError("torus:shape=4x8,order=dimension,twist=yes"),
            "torus: order is \"dimension\"; expected any with twist=yes, or nothing");
  for (const char* shape : {"4x6", "4x4", "8", "4x4x4", "4x8x16", "1x2", "4x4x8x8"}) {
    EXPECT_THAT(NetworkError(absl::StrCat("torus:twist=yes,shape=", shape)),
                HasSubstr(absl::StrCat("twist with shape ", shape, "; expected sizes k and 2k, k >= 2")));
  }
  EXPECT_THAT(NetworkError("torus:twist=yes,shape=4x6"), HasSubstr("as 4x8, 4x4x8 or 4x8x8"));
}

TEST(GridParameters, RefusesBadRingsAndMeshes) {
  EXPECT_EQ(NetworkError("ring"), "ring: devices is \"0\"; expected how many to connect, >= 1");
  EXPECT_EQ(NetworkError("ring:devices=8", 5),
            "ring: devices is \"8\"; expected 5, as many as are to be connected");
  EXPECT_THAT(NetworkError("ring:devices=-3"), HasSubstr("the nearest is 0"));
  EXPECT_THAT(NetworkError("full_mesh:devices=5000"), HasSubstr("0 to 4096; the nearest is 4096"));
  EXPECT_EQ(NetworkError("full_mesh", 5000), "full_mesh: 5000 devices, but room for 4096 only");
  EXPECT_THAT(NetworkError("ring:devices=4,link=100"), HasSubstr("100Gb/s (12.5 GB/s)"));
}

TEST(GridParameters, RefusesBadHypercubes) {
  EXPECT_EQ(NetworkError("hypercube"), "hypercube: dims is \"\"; expected how many dimensions, 0 to 20");
  EXPECT_THAT(NetworkError("hypercube:dims=21"), HasSubstr("0 to 20; the nearest is 20"));
  EXPECT_EQ(NetworkError("hypercube", 20),
            "hypercube: 20 devices; expected a power of two, at most 1048576; the nearest is 16");
  EXPECT_THAT(NetworkError("hypercube", 30), HasSubstr("the nearest is 32"));
  EXPECT_THAT(NetworkError("hypercube", 1 << 21), HasSubstr("the nearest is 1048576"));
  EXPECT_EQ(NetworkError("hypercube:dims=3", 16),
            "hypercube: 3 dimensions are 8 devices, but 16 are to be connected; expected dims=4");
  EXPECT_EQ(NetworkError("hypercube:dims=3", 7),
            "hypercube: 3 dimensions are 8 devices, but 7 are to be connected; expected 8 devices");
  EXPECT_THAT(NetworkError("hypercube:dims=3,link=400GB/s"), HasSubstr("400Gb/s would be 50GB/s"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
