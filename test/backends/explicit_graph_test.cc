#include "backends/topology/inputs/explicit_graph.h"

#include <gmock/gmock.h>

#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr char kTwoTiers[] = R"(
name: "two tiers"
vertices { name: "device" kind: DEVICE count: 8 shape: 4 shape: 2 }
vertices { name: "leaf" count: 4 }
vertices { name: "spine" count: 2 }
links { from: "device" to: "leaf" scheme: BLOCKS bandwidth_gbits_per_s: 400 latency_ns: 500 name: "host" }
links { from: "leaf[0:2]" to: "spine" scheme: ALL_PAIRS bandwidth_gbytes_per_s: 100 latency_ns: 600 parallel: 2 loss_rate: 0.25 }
links { from: "leaf[2:]" to: "spine" scheme: ONE_TO_ONE bandwidth_gbytes_per_s: 100 latency_ns: 600 }
links { from: "spine" to: "spine" scheme: RING bandwidth_gbytes_per_s: 10 name: "ring" }
)";

ReadNetwork Read(const std::string& text) {
  auto read = ReadNetworkFile(text, "net.txtpb");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : ReadNetwork();
}

std::string Error(const std::string& text) {
  const auto read = ReadExplicitGraph(text, "net.txtpb");
  return read.ok() ? "" : std::string(read.status().message());
}

TEST(ExplicitGraph, BuildsAllSchemes) {
  const ReadNetwork r = Read(kTwoTiers);
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 8u);
  EXPECT_EQ(g.vertices(), 14u);
  EXPECT_EQ(LinksOf(g, "host"), 8u);
  EXPECT_EQ(LinksOf(g, "leaf-spine"), 2u * 2 * 2 + 2);
  EXPECT_EQ(LinksOf(g, "ring"), 1u);  // a ring of two is one link
  EXPECT_NE(g.FindArc(5, *g.FindVertex("leaf.2")), NetworkGraph::kNone);
  EXPECT_NE(g.FindArc(*g.FindVertex("leaf.3"), *g.FindVertex("spine.1")), NetworkGraph::kNone);
  EXPECT_EQ(g.FindArc(*g.FindVertex("leaf.3"), *g.FindVertex("spine.0")), NetworkGraph::kNone);
  EXPECT_EQ(g.link_class(0).bandwidth.bytes_per_second(), 50000000000);
  EXPECT_EQ(g.group(12).tier, 2);
  EXPECT_EQ(g.group(0).shape, (std::vector<int>{4, 2}));
  EXPECT_EQ(r.losses.size(), 8u);
  for (const LinkLoss& l : r.losses) EXPECT_EQ(g.link_class(l.arc).name, "leaf-spine");
  EXPECT_TRUE(r.notes.empty());
  EXPECT_EQ(DeviceDistances(g).diameter, 5);
  CheckRandomRoutes(r.network, 50, 5);
}

TEST(ExplicitGraph, ReadsBinaryAndJson) {
  const ReadNetwork json = Read(R"({"vertices":[{"name":"gpu","kind":"DEVICE","count":5}],
    "links":[{"from":"gpu","to":"gpu","scheme":"RING","bandwidth_gbytes_per_s":1}],"devices_forward":true})");
  EXPECT_EQ(json.network.graph.links(), 5u);
  EXPECT_TRUE(json.network.graph.devices_forward());
  EXPECT_EQ(DeviceDistances(json.network.graph).diameter, 2);
  proto::ExplicitGraph graph;
  auto* v = graph.add_vertices();
  v->set_name("gpu");
  v->set_kind(proto::VertexSet::DEVICE);
  v->set_count(5);
  auto* l = graph.add_links();
  l->set_from("gpu");
  l->set_to("gpu");
  l->set_scheme(proto::LinkSet::ALL_PAIRS);
  l->set_bandwidth_gbytes_per_s(1);
  EXPECT_EQ(Read(graph.SerializeAsString()).network.graph.links(), 10u);
}

TEST(ExplicitGraph, NotesUnreachableDevices) {
  const ReadNetwork r = Read(R"(
vertices { name: "device" kind: DEVICE count: 4 }
vertices { name: "rail" count: 2 tier: 1 }
links { from: "device" to: "rail" scheme: BLOCKS bandwidth_gbits_per_s: 400 }
)");
  EXPECT_THAT(r.notes, ::testing::ElementsAre(HasSubstr("device.2 cannot be reached from device.0")));
}

TEST(ExplicitGraph, ErrorsNameTheMistake) {
  const std::string sets =
      "vertices { name: \"d\" kind: DEVICE count: 4 } vertices { name: \"leaf\" count: 3 } ";
  const auto link = [&](const std::string& text) { return sets + "links { " + text + " }"; };
  const std::string rate = " bandwidth_gbits_per_s: 1";
  ASSERT_EQ(Error(link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS" + rate)), "");
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"vertices { name: \"s\" }", {"no devices"}},
      {"vertices { name: \"s\" } vertices { name: \"d\" kind: DEVICE }", {"\"d\"", "devices first"}},
      {sets + "vertices { name: \"leaf\" }", {"\"leaf\"", "twice"}},
      {sets + "vertices { name: \"a[0]\" }", {"a[0]", "letters"}},
      {sets + "vertices { count: 2 }", {"vertices[2]", "name"}},
      {sets + "vertices { name: \"x\" count: -1 }", {"count is -1"}},
      {sets + "vertices { name: \"x\" count: 5000000 }", {"count is 5000000", "4194297"}},
      {sets + "vertices { name: \"x\" count: 6 shape: 4 }", {"shape", "4 vertices", "6"}},
      {link("from: \"d\" to: \"laef\" scheme: ALL_PAIRS" + rate),
       {"links[0]", "\"laef\"", "did you mean 'leaf'"}},
      {link("from: \"d[0:5]\" to: \"leaf\" scheme: ALL_PAIRS" + rate), {"from", "there are 4", "d[0:4]"}},
      {link("from: \"d\" to: \"leaf\"" + rate), {"scheme", "between 4 and 3"}},
      {link("from: \"d\" to: \"leaf\" scheme: ONE_TO_ONE" + rate), {"ONE_TO_ONE", "3 on both sides"}},
      {link("from: \"d\" to: \"leaf\" scheme: BLOCKS" + rate), {"BLOCKS", "a multiple"}},
      {link("from: \"d\" to: \"leaf\" scheme: RING" + rate), {"RING", "between two sets"}},
      {link("from: \"d\" to: \"d\" scheme: BLOCKS" + rate), {"BLOCKS", "ALL_PAIRS or RING"}},
      {link("from: \"d[0]\" to: \"d[0]\"" + rate), {"links[0]"}},
      {link("from: \"d[0:3]\" to: \"d[2:4]\" scheme: ALL_PAIRS" + rate), {"overlapping"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS"), {"bandwidth", "not given"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS bandwidth_gbytes_per_s: 1" + rate), {"given twice"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS bandwidth_gbits_per_s: -4"),
       {"bandwidth_gbits_per_s is -4"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS latency_ns: 2e9" + rate), {"latency_ns", "1e9"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS loss_rate: 1" + rate), {"loss_rate", "below 1"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PAIRS parallel: 16777216" + rate), {"at most 16777216"}},
      {link("from: \"d\" to: \"leaf\" scheme: ALL_PARIS" + rate), {"ALL_PAIRS"}},
  };
  for (const auto& [text, parts] : cases) {
    const std::string error = Error(text);
    for (const std::string& part : parts) EXPECT_THAT(error, HasSubstr(part)) << text;
    EXPECT_THAT(error, HasSubstr("net.txtpb")) << text;
  }
}

TEST(SniffNetwork, RecognizesTheFormats) {
  for (const char* text : {"", "hello", "{\"a\": 1}", "\x01\x02\x03", "{", "vertices"}) {
    const auto read = ReadNetworkFile(text, "some.file");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("some.file")) << text;
  }
  EXPECT_EQ(*SniffNetwork("  3 1 2\n", "f"), NetworkFormat::kLinks);
  EXPECT_EQ(*SniffNetwork("{\"vertices\" : []}", "f"), NetworkFormat::kExplicit);
  EXPECT_EQ(*SniffNetwork("{\"devices\": [], \"name\": \"vertices\"}", "f"), NetworkFormat::kInfraGraph);
  EXPECT_EQ(*SniffNetwork("# text\nvertices {\n}", "f"), NetworkFormat::kExplicit);
  EXPECT_EQ(*SniffNetwork("name: \"a\"\ndevices:\n- x\n", "f"), NetworkFormat::kInfraGraph);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
