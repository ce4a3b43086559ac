#include "backends/topology/draw.h"

#include <gmock/gmock.h>

#include <set>

#include "backends/topology/draw/picture.h"
#include "backends/topology/expand.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

NetworkGraph LeafSpine(uint32_t leaves, uint32_t d, uint32_t spines, const char* leaf_name = "leaf") {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, leaves * d);
  const uint32_t leaf = b.AddVertices(leaf_name, VertexKind::kSwitch, leaves, 1);
  const uint32_t spine = b.AddVertices("spine", VertexKind::kSwitch, spines, 2);
  const uint16_t host = b.AddClass({"host", Bandwidth::FromGigabytes(50), Time::Nanos(500)});
  const uint16_t up = b.AddClass({"leaf-spine", Bandwidth::FromGigabytes(100), Time::Nanos(500)});
  for (uint32_t v = 0; v < leaves * d; ++v) b.AddLink(v, leaf + v / d, host);
  for (uint32_t l = 0; l < leaves; ++l) {
    for (uint32_t s = 0; s < spines; ++s) b.AddLink(leaf + l, spine + s, up);
  }
  return *b.Build();
}

// Groups of `a` routers with `p` devices each; one link joins every two groups.
NetworkGraph Dragonfly(uint32_t p, uint32_t a, uint32_t groups) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, p * a * groups);
  const uint32_t router = b.AddVertices("router", VertexKind::kSwitch, a * groups, 1,
                                        {static_cast<int>(a), static_cast<int>(groups)});
  const uint16_t link = b.AddClass({"link", Bandwidth::FromGigabytes(50), Time::Nanos(500)});
  for (uint32_t d = 0; d < p * a * groups; ++d) b.AddLink(d, router + d / p, link);
  for (uint32_t g = 0; g < groups; ++g) {
    for (uint32_t i = 0; i < a; ++i) {
      for (uint32_t j = i + 1; j < a; ++j) b.AddLink(router + g * a + i, router + g * a + j, link);
    }
    for (uint32_t h = g + 1; h < groups; ++h) b.AddLink(router + g * a + h % a, router + h * a + g % a, link);
  }
  return *b.Build();
}

NetworkGraph Torus(const std::vector<int>& sizes) {
  std::vector<TopologyDimension> dimensions;
  for (const int size : sizes) {
    TopologyDimension d;
    d.kind = TopologyDimension::Kind::kRing;
    d.size = size;
    d.bandwidth = Bandwidth::FromGigabytes(50);
    dimensions.push_back(d);
  }
  return ExpandTopology(*Topology::Make(dimensions))->graph;
}

// The picture has every vertex and every link exactly once, also after folding, and no node covers another.
void CheckPicture(const NetworkGraph& g, const Picture& p) {
  ASSERT_EQ(p.node_of.size(), g.vertices());
  std::vector<uint64_t> count(p.nodes.size(), 0);
  for (uint32_t v = 0; v < g.vertices(); ++v) {
    ASSERT_LT(p.node_of[v], p.nodes.size());
    if (p.nodes[p.node_of[v]].kind == g.kind(v)) ++count[p.node_of[v]];
  }
  uint64_t links = 0, inside = 0;
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
    inside += arc < g.reverse(arc) && p.node_of[g.source(arc)] == p.node_of[g.target(arc)] ? 1 : 0;
  }
  for (const PictureLine& l : p.lines) links += l.count;
  EXPECT_EQ(links + inside, g.links());
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    const PictureNode& n = p.nodes[i];
    EXPECT_EQ(n.count, count[i]) << n.name;
    EXPECT_GE(n.x - n.w / 2, 0) << n.name;
    EXPECT_LE(n.x + n.w / 2, p.width) << n.name;
    EXPECT_GE(n.y - n.h / 2, 0) << n.name;
    EXPECT_LE(n.y + n.h / 2, p.height) << n.name;
    for (size_t j = 0; j < i; ++j) {
      const PictureNode& m = p.nodes[j];
      const bool apart = std::abs(n.x - m.x) >= (n.w + m.w) / 2 || std::abs(n.y - m.y) >= (n.h + m.h) / 2;
      EXPECT_TRUE(apart) << n.name << " covers " << m.name;
    }
  }
  std::set<uint32_t> in_rows;
  for (const auto& row : p.rows) in_rows.insert(row.begin(), row.end());
  EXPECT_EQ(in_rows.size(), p.nodes.size());
}

TEST(Draw, EachLayoutAcceptsOnlyFittingNetworks) {
  const auto fits = [](const NetworkGraph& g, DrawLayout layout) { return MakePicture(g, layout).ok(); };
  const NetworkGraph dragonfly = Dragonfly(2, 4, 9), torus = Torus({4, 4}), ring = Torus({6});
  EXPECT_TRUE(fits(dragonfly, DrawLayout::kGroups));
  EXPECT_FALSE(fits(torus, DrawLayout::kGroups));
  EXPECT_FALSE(fits(LeafSpine(4, 2, 2), DrawLayout::kGroups));
  EXPECT_TRUE(fits(torus, DrawLayout::kGrid));
  EXPECT_FALSE(fits(ring, DrawLayout::kGrid));
  EXPECT_FALSE(fits(LeafSpine(4, 2, 2), DrawLayout::kGrid));
  EXPECT_TRUE(fits(ring, DrawLayout::kRing));
  EXPECT_FALSE(fits(torus, DrawLayout::kRing));
  EXPECT_FALSE(fits(dragonfly, DrawLayout::kRing));
  for (const NetworkGraph& g : {dragonfly, torus, ring}) EXPECT_TRUE(fits(g, DrawLayout::kTiered));
  EXPECT_THAT(std::string(MakePicture(ring, DrawLayout::kGrid).status().message()),
              HasSubstr("\"tiered\" fits"));
}

TEST(Draw, NodesAreCompleteAndDoNotOverlap) {
  for (const auto& sizes :
       std::vector<std::vector<int>>{{6}, {200}, {4, 4}, {4, 4, 4}, {3, 40}, {16, 32, 32}}) {
    const NetworkGraph g = Torus(sizes);
    CheckPicture(g, *MakePicture(g, DrawLayout::kAuto));
  }
  for (const uint32_t leaves : {4u, 64u, 65u, 400u}) {
    const NetworkGraph g = LeafSpine(leaves, 3, 5);
    CheckPicture(g, *MakePicture(g, DrawLayout::kAuto));
  }
  for (const uint32_t groups : {9u, 41u, 129u}) {
    const NetworkGraph g = Dragonfly(2, groups < 20 ? 4 : 16, groups);
    CheckPicture(g, *MakePicture(g, DrawLayout::kAuto));
  }
}

TEST(Draw, TieredLayoutPutsDevicesBelowSwitches) {
  const NetworkGraph g = LeafSpine(4, 3, 2);
  const Picture p = *MakePicture(g, DrawLayout::kTiered);
  ASSERT_EQ(p.rows.size(), 3u);
  EXPECT_EQ(p.rows[0].size(), 2u);
  EXPECT_EQ(p.rows[1].size(), 4u);
  EXPECT_EQ(p.rows[2].size(), 12u);
  EXPECT_LT(p.nodes[p.rows[0][0]].y, p.nodes[p.rows[1][0]].y);
  EXPECT_LT(p.nodes[p.rows[1][0]].y, p.nodes[p.rows[2][0]].y);
}

TEST(Draw, NvSwitchesAreBelowTheDevices) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 4);
  const uint32_t nv = b.AddVertices("nvswitch", VertexKind::kNvSwitch, 2, 1);
  const uint32_t leaf = b.AddVertices("leaf", VertexKind::kSwitch, 1, 1);
  const uint16_t link = b.AddClass({"link", Bandwidth::FromGigabytes(50), Time()});
  for (uint32_t d = 0; d < 4; ++d) {
    b.AddLink(d, nv + d / 2, link);
    b.AddLink(d, leaf, link);
  }
  const NetworkGraph g = *b.Build();
  const Picture p = *MakePicture(g, DrawLayout::kAuto);
  CheckPicture(g, p);
  EXPECT_LT(p.nodes[p.node_of[leaf]].y, p.nodes[p.node_of[0]].y);
  EXPECT_GT(p.nodes[p.node_of[nv]].y, p.nodes[p.node_of[0]].y);
}

TEST(Draw, LargeNetworksAreFolded) {
  const NetworkGraph g = LeafSpine(800, 20, 400);
  const Picture p = *MakePicture(g, DrawLayout::kAuto);
  for (const auto& row : p.rows) EXPECT_LE(row.size(), 64u);
  const std::string svg = *DrawSvg(g, {});
  EXPECT_LT(svg.size(), 200000u);
  EXPECT_THAT(svg, HasSubstr("20 devices"));
  EXPECT_THAT(svg, HasSubstr("… 788 more"));
  EXPECT_THAT(svg, HasSubstr(">×20</text>"));
  EXPECT_THAT(svg, HasSubstr(">×305744</text>"));  // 788 leaves and 388 spines
  EXPECT_THAT(svg, HasSubstr("leaf.8 … leaf.795"));
}

TEST(Draw, SvgEscapesTextAndLabelsLinks) {
  DrawOptions options;
  options.title = "a <title> & \"more\"";
  options.figures = {"12 devices", "bisection \x01 \xff"};
  const std::string svg = *DrawSvg(LeafSpine(4, 3, 2, "<leaf> & 'co'"), options);
  EXPECT_THAT(svg, HasSubstr("a &lt;title&gt; &amp; &quot;more&quot;"));
  EXPECT_THAT(svg, HasSubstr("&lt;leaf&gt; &amp; 'co'"));
  EXPECT_THAT(svg, Not(HasSubstr("<leaf>")));
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("host: 400 Gb/s, 500 ns, 12 links"));
  EXPECT_THAT(svg, HasSubstr("leaf-spine: 800 Gb/s, 500 ns, 8 links"));
  EXPECT_THAT(svg, HasSubstr("device.11</title>"));
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"4.0\""));  // the fastest link
  // Every element that is opened is closed.
  size_t open = 0, close = 0;
  for (size_t i = 0; i + 1 < svg.size(); ++i) {
    if (svg[i] == '<' && svg[i + 1] != '/') ++open;
    if ((svg[i] == '<' && svg[i + 1] == '/') || (svg[i] == '/' && svg[i + 1] == '>')) ++close;
  }
  EXPECT_EQ(open, close);
}

TEST(Draw, DotHasTheSameNodesAndLinks) {
  const NetworkGraph g = LeafSpine(100, 3, 2, "a \"leaf\"");
  const std::string dot = *DrawDot(g, {DrawLayout::kAuto, "title \\ \"quoted\"", {"second line"}});
  const Picture p = *MakePicture(g, DrawLayout::kAuto);
  const auto count = [&](const std::string& text) {
    size_t n = 0;
    for (size_t at = dot.find(text); at != std::string::npos; at = dot.find(text, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(" -- "), p.lines.size());
  EXPECT_EQ(count("fillcolor="), p.nodes.size());
  EXPECT_EQ(count("rank=same"), 3u);
  EXPECT_THAT(dot, HasSubstr("label=\"title \\\\ \\\"quoted\\\"\\nsecond line\""));
  EXPECT_THAT(dot, HasSubstr("a \\\"leaf\\\".0"));
  EXPECT_EQ(dot.substr(0, 8), "graph {\n");
  EXPECT_EQ(dot.substr(dot.size() - 2), "}\n");
}

TEST(Draw, ParsesLayoutNames) {
  for (const std::string& name : DrawLayoutNames()) EXPECT_TRUE(ParseDrawLayout(name).ok()) << name;
  EXPECT_EQ(*ParseDrawLayout("groups"), DrawLayout::kGroups);
  EXPECT_THAT(std::string(ParseDrawLayout("tired").status().message()), HasSubstr("did you mean 'tiered'?"));
}

TEST(Fold, KeepsFirstAndLast) {
  const Folding all = Fold(10, 10, 3, 2);
  EXPECT_EQ(all.shown(), 10u);
  EXPECT_EQ(all.Of(9), 9u);
  const Folding f = Fold(100, 10, 3, 2);
  EXPECT_EQ(f.shown(), 6u);
  EXPECT_EQ(f.folded(), 95u);
  EXPECT_EQ(f.Of(2), 2u);
  EXPECT_EQ(f.Of(3), 3u);
  EXPECT_EQ(f.Of(97), 3u);
  EXPECT_EQ(f.Of(98), 4u);
  EXPECT_EQ(f.Of(99), 5u);
  EXPECT_TRUE(f.IsFold(3));
  EXPECT_FALSE(f.IsFold(4));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
