#include "backends/topology/routing/route_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// Three leaves with two devices each, two spines; leaf.2 has two links to spine.1.
NetworkGraph Net() {
  GraphBuilder b;
  const LinkClass link{"link", Bandwidth::BytesPerSecond(1000000000), Time::Micros(1)};
  b.AddVertices("device", VertexKind::kDevice, 6);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, 3, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, 2, 2);
  const uint16_t c = b.AddClass(link);
  for (uint32_t d = 0; d < 6; ++d) b.AddLink(d, leaf + d / 2, c);
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t j = 0; j < 2; ++j) b.AddLink(leaf + i, spine + j, c);
  }
  b.AddLink(leaf + 2, spine + 1, c);
  return *b.Build();
}

// The vertices of a route; "-": none.
std::string RouteOf(const NetworkGraph& g, const RouteFile& file, const std::string& src,
                    const std::string& dst) {
  std::vector<uint32_t> arcs;
  if (!file.Lookup(*g.FindVertex(src), *g.FindVertex(dst), &arcs)) {
    EXPECT_TRUE(arcs.empty());
    return "-";
  }
  std::string text = src;
  uint32_t at = *g.FindVertex(src);
  for (const uint32_t arc : arcs) {
    EXPECT_EQ(g.source(arc), at);
    at = g.target(arc);
    absl::StrAppend(&text, " ", g.VertexName(at));
  }
  EXPECT_EQ(g.VertexName(at), dst);
  return text;
}

std::string ErrorOf(const NetworkGraph& g, absl::string_view text) {
  const auto file = RouteFile::Parse(text, "routes.txt", g);
  return file.ok() ? "" : std::string(file.status().message());
}

TEST(RouteFileTest, ReadsRoutesAndComments) {
  const NetworkGraph g = Net();
  const auto file = RouteFile::Parse(
      "# a comment\n\r\n"
      "  device.0 -> device.5: leaf.0 spine.1 leaf.2 device.5  # and here\r\n"
      "device.0->device.1:leaf.0 device.1\n"
      "\tleaf.0 -> leaf.1 : spine.0\tleaf.1",
      "routes.txt", g);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->routes(), 3u);
  EXPECT_EQ(RouteOf(g, *file, "device.0", "device.5"), "device.0 leaf.0 spine.1 leaf.2 device.5");
  EXPECT_EQ(RouteOf(g, *file, "device.0", "device.1"), "device.0 leaf.0 device.1");
  EXPECT_EQ(RouteOf(g, *file, "leaf.0", "leaf.1"), "leaf.0 spine.0 leaf.1");
  EXPECT_EQ(RouteOf(g, *file, "device.5", "device.0"), "-");
  EXPECT_EQ(RouteOf(g, *file, "device.1", "device.5"), "-");
}

TEST(RouteFileTest, ReadsEmptyFiles) {
  const NetworkGraph g = Net();
  const auto file = RouteFile::Parse("\n# nothing\n", "routes.txt", g);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(RouteOf(g, *file, "device.0", "device.5"), "-");
}

TEST(RouteFileTest, ChoosesOneOfSeveralLinks) {
  const NetworkGraph g = Net();
  const auto file = RouteFile::Parse(
      "leaf.0 -> device.5: spine.1 leaf.2/1 device.5\n"
      "leaf.1 -> device.5: spine.1 leaf.2/0 device.5\n"
      "at spine.1 to device.4 via leaf.2/1\nat leaf.2 to device.4 via device.4\n",
      "routes.txt", g);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<uint32_t> first, second, hops;
  ASSERT_TRUE(file->Lookup(*g.FindVertex("leaf.1"), 5, &first));
  ASSERT_TRUE(file->Lookup(*g.FindVertex("leaf.0"), 5, &second));
  ASSERT_TRUE(file->Lookup(*g.FindVertex("spine.1"), 4, &hops));
  EXPECT_EQ(first[1] + 1, second[1]);
  EXPECT_EQ(hops[0], second[1]);
}

TEST(RouteFileTest, FollowsNextHops) {
  const NetworkGraph g = Net();
  const auto file = RouteFile::Parse(
      "at device.0 to device.5 via leaf.0\n"
      "at leaf.0 to device.5 via spine.1\n"
      "at * to device.5 via leaf.2\n"  // the spines, device.4
      "at leaf.2 to device.5 via device.5\n"
      "at spine.0 to device.5 via leaf.0\n"
      "device.1 -> device.5: leaf.0 spine.0 leaf.2 device.5\n",
      "routes.txt", g);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->next_hops(), 5u);
  EXPECT_EQ(RouteOf(g, *file, "device.0", "device.5"), "device.0 leaf.0 spine.1 leaf.2 device.5");
  EXPECT_EQ(RouteOf(g, *file, "device.1", "device.5"), "device.1 leaf.0 spine.0 leaf.2 device.5");
  EXPECT_EQ(RouteOf(g, *file, "device.4", "device.5"), "device.4 leaf.2 device.5");
  EXPECT_EQ(RouteOf(g, *file, "spine.0", "device.5"), "spine.0 leaf.0 spine.1 leaf.2 device.5");
  EXPECT_EQ(RouteOf(g, *file, "leaf.1", "device.5"), "-");  // has no link to leaf.2
  EXPECT_EQ(RouteOf(g, *file, "device.0", "device.4"), "-");
}

TEST(RouteFileTest, ErrorsNameFileLineAndVertex) {
  const NetworkGraph g = Net();
  EXPECT_EQ(ErrorOf(g, "\n\ndevice.0 -> device.5: leaf.0 spine.0 leaf.0 spine.1 leaf.2 device.5"),
            "routes.txt:3: the route from device.0 to device.5 passes leaf.0 twice");
  EXPECT_EQ(
      ErrorOf(g, "device.0 -> device.5: leaf.0 leaf.2 device.5"),
      "routes.txt:1: there is no link between leaf.0 and leaf.2; leaf.0 is linked to device.0, device.1, "
      "spine.0, spine.1");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.5: leaf.0 spine.1/1 leaf.2 device.5"),
            "routes.txt:1: there is no link 1 between leaf.0 and spine.1; expected 0 to 0");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.5: leaf.0 spine.0 leaf.2 device.4"),
            "routes.txt:1: device.4 does not forward; expected it only at the end");
  EXPECT_EQ(
      ErrorOf(g, "device.0 -> device.5: leaf.0 spine.0"),
      "routes.txt:1: the route from device.0 to device.5 ends at spine.0; expected device.5 as the last");
  EXPECT_EQ(
      ErrorOf(g, "device.0 -> device.5:"),
      "routes.txt:1: the route from device.0 to device.5 ends at device.0; expected device.5 as the last");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.1: leaf.0 device.1\n\ndevice.0 -> device.1: leaf.0 device.1"),
            "routes.txt:3: the route from device.0 to device.1 is given already, in line 1");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.1: laef.0 device.1"),
            "routes.txt:1: there is no vertex \"laef.0\"; did you mean 'leaf'?");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.6: leaf.0"),
            "routes.txt:1: there is no vertex \"device.6\"; expected \"device.0\" to \"device.5\"");
  EXPECT_EQ(ErrorOf(g, "device.0 -> device.0: leaf.0 device.0"),
            "routes.txt:1: a route from device.0 to itself");
  EXPECT_THAT(ErrorOf(g, "* -> device.0: leaf.0 device.0"), HasSubstr("\"at * to DST via NEXT\""));
  EXPECT_THAT(ErrorOf(g, "device.0 -> device.1 leaf.0"),
              HasSubstr("routes.txt:1: no \":\" after DST; expected"));
  EXPECT_THAT(ErrorOf(g, "device.0 device.1"), HasSubstr("routes.txt:1: \"device.0 device.1\"; expected"));
  EXPECT_THAT(ErrorOf(g, "device.0 -> device.1: leaf.0/x device.1"), HasSubstr("a number after \"/\""));
}

TEST(RouteFileTest, ErrorsNameBadNextHops) {
  const NetworkGraph g = Net();
  EXPECT_EQ(ErrorOf(g, "at leaf.0 to device.5 via spine.0\nat spine.0 to device.5 via leaf.0"),
            "routes.txt:1: the hops to device.5 form a cycle: leaf.0, spine.0, leaf.0");
  EXPECT_EQ(
      ErrorOf(g, "at leaf.0 to device.5 via spine.0\nat * to device.5 via leaf.1"),
      "routes.txt:1: the hops to device.5 end at leaf.1; expected a line \"at leaf.1 to device.5 via NEXT\"");
  EXPECT_EQ(ErrorOf(g, "at * to device.5 via leaf.1\nat leaf.1 to device.5 via spine.0"),
            "routes.txt:1: the hops to device.5 form a cycle: leaf.1, spine.0, leaf.1");
  EXPECT_EQ(ErrorOf(g, "at * to device.5 via device.5\nat * to device.5 via leaf.2"),
            "routes.txt:2: the hop at * to device.5 is given already, in line 1");
  EXPECT_EQ(ErrorOf(g, "at leaf.2 to device.5 via device.5\nat leaf.2 to device.5 via device.5"),
            "routes.txt:2: the hop at leaf.2 to device.5 is given already, in line 1");
  EXPECT_EQ(ErrorOf(g, "at leaf.2 to device.5 via device.4"),
            "routes.txt:1: device.4 does not forward; expected it only at the end");
  EXPECT_EQ(ErrorOf(g, "at * to device.5 via device.4"),
            "routes.txt:1: device.4 does not forward; expected a switch or device.5");
  EXPECT_EQ(ErrorOf(g, "at * to device.5 via leaf.2/2"), "routes.txt:1: no vertex has that link to leaf.2/2");
  EXPECT_EQ(ErrorOf(g, "at device.5 to device.5 via leaf.2"), "routes.txt:1: a hop at device.5 to itself");
}

TEST(RouteFileTest, LoadErrorsNameTheFile) {
  const NetworkGraph g = Net();
  const std::string path = ::testing::TempDir() + "/route_file_test.txt";
  std::ofstream(path) << "device.0 -> device.1: leaf.0 device.1\nnonsense\n";
  const auto file = RouteFile::Load(path, g);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(path + ":2: \"nonsense\""));
  std::filesystem::remove(path);
  EXPECT_FALSE(RouteFile::Load(path, g).ok());
}

// A line for each switch and destination. The work must grow only with the size of the file.
TEST(RouteFileTest, ReadsManyLines) {
  GraphBuilder b;
  const LinkClass link{"link", Bandwidth::BytesPerSecond(1000000000), Time::Micros(1)};
  constexpr uint32_t kDevices = 400, kSwitches = 50;  // a line of switches
  b.AddVertices("device", VertexKind::kDevice, kDevices);
  const uint32_t first = b.AddVertices("switch", VertexKind::kSwitch, kSwitches, 1);
  const uint16_t c = b.AddClass(link);
  for (uint32_t d = 0; d < kDevices; ++d) b.AddLink(d, first + d % kSwitches, c);
  for (uint32_t s = 0; s + 1 < kSwitches; ++s) b.AddLink(first + s, first + s + 1, c);
  const NetworkGraph g = *b.Build();
  std::string text;
  for (uint32_t d = 0; d < kDevices; ++d) {
    for (uint32_t s = 0; s < kSwitches; ++s) {
      const uint32_t home = d % kSwitches;
      const std::string next =
          s == home ? absl::StrCat("device.", d) : absl::StrCat("switch.", s < home ? s + 1 : s - 1);
      absl::StrAppend(&text, "at switch.", s, " to device.", d, " via ", next, "\n");
    }
  }
  const auto file = RouteFile::Parse(text, "routes.txt", g);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<uint32_t> arcs;
  ASSERT_TRUE(file->Lookup(first, kDevices - 1, &arcs));
  EXPECT_EQ(arcs.size(), kSwitches);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
