#include "backends/topology/inputs/infragraph.h"

#include <gmock/gmock.h>

#include "absl/strings/str_replace.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Two hosts of 2 xpus behind a switch with ports: 15 nodes, 16 edges.
constexpr char kTwoHosts[] = R"({"name":"two-hosts",
 "devices":[
  {"name":"box",
   "components":[{"name":"xpu","count":2,"choice":"xpu"},{"name":"nic","count":2,"choice":"nic"},
                 {"name":"nvsw","count":1,"choice":"switch"}],
   "links":[{"name":"nv","physical":{"bandwidth":{"choice":"gigabytes_per_second","gigabytes_per_second":450},
                                     "latency":{"choice":"ns","ns":300}}},{"name":"pcie"}],
   "edges":[{"ep1":{"component":"xpu"},"ep2":{"component":"nvsw[0]"},"scheme":"many2many","link":"nv"},
            {"ep1":{"component":"xpu[0:2]"},"ep2":{"component":"nic[0:2]"},"scheme":"one2one","link":"pcie"}]},
  {"name":"tor",
   "components":[{"name":"asic","count":1,"choice":"custom","custom":{"type":"asic"}},
                 {"name":"port","count":4,"choice":"port"}],
   "links":[{"name":"ic"}],
   "edges":[{"ep1":{"component":"asic"},"ep2":{"component":"port"},"scheme":"many2many","link":"ic"}]}],
 "links":[{"name":"eth","physical":{"bandwidth":{"choice":"gigabits_per_second","gigabits_per_second":400},
                                    "latency":{"choice":"us","us":0.5}}}],
 "instances":[{"name":"host","device":"box","count":2},{"name":"sw","device":"tor","count":1}],
 "edges":[{"ep1":{"instance":"host[0:2]","component":"nic[0:2]"},"ep2":{"instance":"sw[0]","component":"port[0:4]"},
           "scheme":"one2one","link":"eth"}]})";

ReadNetwork Read(const std::string& text) {
  auto read = ReadNetworkFile(text, "infra.json");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : ReadNetwork();
}

std::string Error(const std::string& text) {
  const auto read = ReadInfraGraph(text, "infra.json");
  return read.ok() ? "" : std::string(read.status().message());
}

// The example with `to` in place of `from`, which it must contain.
std::string With(absl::string_view from, absl::string_view to) {
  EXPECT_THAT(kTwoHosts, HasSubstr(std::string(from)));
  return absl::StrReplaceAll(kTwoHosts, {{from, to}});
}

std::string Annotated(const std::string& annotations) {
  return absl::StrCat("{\"infrastructure\":", kTwoHosts, ",\"annotations\":", annotations, "}");
}

uint32_t At(const NetworkGraph& g, const std::string& name) {
  const auto v = g.FindVertex(name);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : 0;
}

TEST(InfraGraph, ExpandsTheExample) {
  const ReadNetwork r = Read(kTwoHosts);
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.vertices(), 15u);
  EXPECT_EQ(g.links(), 16u);
  EXPECT_EQ(g.devices(), 4u);
  EXPECT_EQ(g.VertexName(3), "host.1.xpu.1");
  EXPECT_EQ(CountOf(g, VertexKind::kNvSwitch), 2u);
  EXPECT_EQ(CountOf(g, VertexKind::kSwitch), 1u);
  EXPECT_EQ(CountOf(g, VertexKind::kNic), 8u);  // with the ports
  const LinkClass& eth = g.link_class(g.FindArc(At(g, "host.1.nic.1"), At(g, "sw.0.port.3")));
  EXPECT_EQ(eth.bandwidth.bytes_per_second(), 50000000000);
  EXPECT_EQ(eth.latency, Time::Nanos(500));
  EXPECT_NE(g.FindArc(At(g, "host.0.nic.0"), At(g, "sw.0.port.0")), NetworkGraph::kNone);
  const LinkClass& nv = g.link_class(g.FindArc(At(g, "host.0.xpu.0"), At(g, "host.0.nvsw")));
  EXPECT_EQ(nv.bandwidth.bytes_per_second(), 450000000000);
  EXPECT_EQ(nv.latency, Time::Nanos(300));
  // Missing rates come from the link's name; each gives one note.
  const LinkClass& pcie = g.link_class(g.FindArc(0, At(g, "host.0.nic.0")));
  EXPECT_EQ(pcie.bandwidth.bytes_per_second(), 63000000000);
  EXPECT_THAT(r.notes, ::testing::ElementsAre(HasSubstr("\"pcie\" of device \"box\""),
                                              HasSubstr("\"ic\" of device \"tor\"")));
  EXPECT_EQ(DeviceDistances(g).diameter, 6);  // xpu nic port asic port nic xpu
  CheckRandomRoutes(r.network, 30, 6);
  EXPECT_FALSE(g.devices_forward());
}

TEST(InfraGraph, ReadsBinaryTextAndYaml) {
  const auto parsed = ParseInfraGraph(kTwoHosts, "infra.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const infragraph::Infrastructure& infra = parsed->infrastructure();
  EXPECT_EQ(Read(infra.SerializeAsString()).network.graph.links(), 16u);
  EXPECT_EQ(Read(infra.DebugString()).network.graph.links(), 16u);
  EXPECT_EQ(Read(parsed->DebugString()).network.graph.links(), 16u);
  const ReadNetwork yaml = Read(R"(# a pair
name: pair
devices:
- name: box
  components:
  - {name: xpu, count: 1, choice: xpu}
instances:
- name: host
  device: box
  count: 2
links:
- name: wire
  physical:
    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}
    latency: {choice: us, us: 0.1}
edges:
- ep1: {instance: "host[0]", component: xpu}
  ep2: {instance: "host[1]", component: xpu}
  scheme: one2one
  link: wire
)");
  const NetworkGraph& g = yaml.network.graph;
  EXPECT_EQ(g.devices(), 2u);
  ASSERT_EQ(g.links(), 1u);
  EXPECT_EQ(g.link_class(0).bandwidth.bytes_per_second(), 12500000000);
  EXPECT_EQ(g.link_class(0).latency, Time::Nanos(100));  // 0.1 as written, not as a float
  EXPECT_THAT(Error("devices:\n- name: [\n"), HasSubstr("infra.json:"));
  EXPECT_THAT(Error("devices: &a\n- *a\n"), HasSubstr("infra.json"));
}

// A rack of 4 trays. A tray has 2 xpus and 2 composed NICs, as in the DGX blueprints.
constexpr char kComposed[] = R"(
name: "composed"
devices { name: "cx7" components { name: "asic" count: 1 choice: cpu } components { name: "port" count: 2 choice: port }
  links { name: "ic" } edges { ep1 { component: "asic" } ep2 { component: "port" } scheme: many2many link: "ic" } }
devices { name: "tray"
  components { name: "xpu" count: 2 choice: xpu } components { name: "cx7" count: 2 choice: device device {} }
  components { name: "mem" count: 3 choice: memory }
  links { name: "pcie_gen5" } links { name: "bus" }
  edges { ep1 { component: "xpu" } ep2 { device: "cx7[0:2]" component: "asic" } scheme: one2one link: "pcie_gen5" }
  edges { ep1 { component: "xpu" } ep2 { component: "mem" } scheme: many2many link: "bus" } }
devices { name: "rack" components { name: "tray" count: 4 choice: device } components { name: "nvsw" count: 3 choice: switch }
  links { name: "xpu_fabric" }
  edges { ep1 { device: "tray" component: "xpu" } ep2 { component: "nvsw" } scheme: many2many link: "xpu_fabric" } }
instances { name: "r" device: "rack" count: 2 }
links { name: "eth" physical { bandwidth { gigabits_per_second: 200 } latency { choice: ns ns: 700 } } }
edges { ep1 { instance: "r[0]" component: "tray[::2].cx7[1].port[0]" } ep2 { instance: "r[1]" component: "tray[0:4:2].cx7[1].port[0]" }
  scheme: one2one link: "eth" }
)";

TEST(InfraGraph, ExpandsNestedDevices) {
  const ReadNetwork r = Read(kComposed);
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 16u);
  EXPECT_EQ(g.vertices(), 16u + 2 * (4 * 2 * 3 + 3));  // without memory
  EXPECT_EQ(LinksOf(g, "pcie_gen5"), 16u);
  EXPECT_EQ(LinksOf(g, "xpu_fabric"), 2u * 8 * 3);
  EXPECT_EQ(LinksOf(g, "bus"), 0u);
  EXPECT_EQ(LinksOf(g, "eth"), 2u);
  const uint32_t a = At(g, "r.0.tray.2.cx7.1.port.0"), b = At(g, "r.1.tray.2.cx7.1.port.0");
  ASSERT_NE(g.FindArc(a, b), NetworkGraph::kNone);
  EXPECT_EQ(g.link_class(g.FindArc(a, b)).latency, Time::Nanos(700));
  // 450 GB/s over an xpu's three edges.
  const uint32_t x = At(g, "r.1.tray.3.xpu.1");
  EXPECT_EQ(x, 15u);
  EXPECT_EQ(g.link_class(g.FindArc(x, At(g, "r.1.nvsw.2"))).bandwidth.bytes_per_second(), 150000000000);
  EXPECT_THAT(r.notes, Contains(HasSubstr("memory \"mem\" (24 of them)")));
  EXPECT_THAT(r.notes, Contains(HasSubstr("\"xpu_fabric\" of device \"rack\"")));
  EXPECT_NE(g.FindArc(At(g, "r.0.tray.1.xpu.1"), At(g, "r.0.tray.1.cx7.1.asic")), NetworkGraph::kNone);
  // Most xpus reach the other rack only through an xpu that has a cable.
  EXPECT_THAT(r.notes, Contains(HasSubstr("xpus forward messages")));
  EXPECT_EQ(DeviceDistances(g).diameter, 9);  // xpu nvsw xpu asic port, and the same back
}

// One device of components, links and edges, without other devices.
std::string Isolated(const std::string& name, const std::string& components, const std::string& links,
                     const std::string& edges) {
  return absl::StrCat("name: \"lone\"\ndevices { name: \"", name, "\" ", components, links, edges,
                      " }\ninstances { name: \"n\" device: \"", name, "\" count: 1 }\n");
}

TEST(InfraGraph, BuildsBlueprintShapes) {
  const std::string nv =
      "components { name: \"xpu\" count: 8 choice: xpu } components { name: \"nvsw\" count: 6 choice: switch "
      "}";
  const std::string fabric = "links { name: \"xpu_fabric\" }";
  const std::string star =
      "edges { ep1 { component: \"xpu\" } ep2 { component: \"nvsw\" } scheme: many2many link: \"xpu_fabric\" "
      "}";
  const ReadNetwork a100 = Read(Isolated("dgx_a100", nv, fabric, star));
  EXPECT_EQ(LinksOf(a100.network.graph, "xpu_fabric"), 48u);
  EXPECT_EQ(a100.network.graph.link_class(0).bandwidth.bytes_per_second(), 50000000000);  // 300 / 6
  EXPECT_EQ(CountOf(a100.network.graph, VertexKind::kNvSwitch), 6u);

  const std::string mesh =
      "edges { ep1 { component: \"xpu\" } ep2 { component: \"xpu\" } scheme: many2many link: "
      "\"infinity_fabric\" }";
  const ReadNetwork mi300 = Read(Isolated("mi300x", "components { name: \"xpu\" count: 8 choice: xpu }",
                                          "links { name: \"infinity_fabric\" }", mesh));
  EXPECT_EQ(mi300.network.graph.links(), 28u);
  EXPECT_EQ(mi300.network.graph.link_class(0).bandwidth.bytes_per_second(), 64000000000);
  EXPECT_EQ(DeviceDistances(mi300.network.graph).diameter, 1);
  EXPECT_FALSE(mi300.network.graph.devices_forward());
}

TEST(InfraGraph, RingsForwardThroughXpus) {
  const std::string xpus = "components { name: \"xpu\" count: 6 choice: xpu }";
  const std::string ring =
      "edges { ep1 { component: \"xpu\" } ep2 { component: \"xpu\" } scheme: ring link: \"wire\" }";
  const std::string wire = "links { name: \"wire\" physical { bandwidth { gigabytes_per_second: 10 } } }";
  const ReadNetwork r = Read(Isolated("six", xpus, wire, ring));
  EXPECT_EQ(r.network.graph.links(), 6u);
  EXPECT_TRUE(r.network.graph.devices_forward());
  EXPECT_THAT(r.notes,
              Contains(HasSubstr("xpus forward messages: n.0.xpu.0 has no other path to n.0.xpu.2")));
  EXPECT_EQ(DeviceDistances(r.network.graph).diameter, 3);
  // The vertices of both ends make one ring.
  const std::string parts =
      "edges { ep1 { component: \"xpu[0]\" } ep2 { component: \"xpu[1:6]\" } scheme: ring link: \"wire\" }";
  EXPECT_EQ(Read(Isolated("six", xpus, wire, parts)).network.graph.links(), 6u);
  const std::string no =
      absl::StrCat("infrastructure {\n", Isolated("six", xpus, wire, ring),
                   "}\nannotations { graph { attribute: \"devices_forward\" value: \"no\" } }");
  EXPECT_THAT(Error(no), HasSubstr("n.0.xpu.2 cannot be reached from n.0.xpu.0"));
}

TEST(InfraGraph, SchemesMatchTheReference) {
  // The rest of the longer end stays unconnected, with a note.
  const ReadNetwork r = Read(With("\"count\":4,\"choice\":\"port\"", "\"count\":9,\"choice\":\"port\""));
  EXPECT_EQ(r.network.graph.vertices(), 20u);
  const ReadNetwork longer = Read(absl::StrReplaceAll(
      kTwoHosts,
      {{"\"count\":4,\"choice\":\"port\"", "\"count\":9,\"choice\":\"port\""}, {"port[0:4]", "port"}}));
  EXPECT_EQ(LinksOf(longer.network.graph, "eth"), 4u);
  EXPECT_THAT(longer.notes, Contains(HasSubstr("one2one between 4 and 9 vertices joins only the first 4")));
  // If two edges join the same pair, the link of the later edge stays.
  const ReadNetwork twice =
      Read(With("{\"ep1\":{\"component\":\"xpu[0:2]\"}",
                "{\"ep1\":{\"component\":\"xpu[0]\"},\"ep2\":{\"component\":\"nvsw\"},\"scheme\":\"one2one\","
                "\"link\":\"pcie\"},{\"ep1\":{\"component\":\"xpu[0:2]\"}"));
  EXPECT_EQ(twice.network.graph.links(), 16u);
  EXPECT_EQ(
      twice.network.graph.link_class(twice.network.graph.FindArc(0, At(twice.network.graph, "host.0.nvsw")))
          .name,
      "pcie");
  EXPECT_THAT(twice.notes, Contains(HasSubstr("2 edges join vertices that another edge joins")));
}

TEST(InfraGraph, AnnotationsSetRanks) {
  const auto ranks = [](const std::vector<std::pair<std::string, int>>& of) {
    std::string nodes;
    for (const auto& [name, rank] : of) {
      absl::StrAppend(&nodes, nodes.empty() ? "" : ",", "{\"name\":\"", name,
                      "\",\"attributes\":[{\"attribute\":\"rank\",\"value\":\"", rank, "\"}]}");
    }
    return Annotated(absl::StrCat("{\"nodes\":[", nodes, "]}"));
  };
  const ReadNetwork straight =
      Read(ranks({{"host.0.xpu.0", 0}, {"host[0]xpu[1]", 1}, {"host.1.xpu.0", 2}, {"host.1.xpu.1", 3}}));
  EXPECT_EQ(straight.network.graph.VertexName(3), "host.1.xpu.1");
  const ReadNetwork r =
      Read(ranks({{"host.0.xpu.0", 3}, {"host.0.xpu.1", 1}, {"host.1.xpu.0", 2}, {"host.1.xpu.1", 0}}));
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.VertexName(3), "xpu.3");
  EXPECT_NE(g.FindArc(3, At(g, "host.0.nic.0")), NetworkGraph::kNone);
  EXPECT_NE(g.FindArc(0, At(g, "host.1.nic.1")), NetworkGraph::kNone);
  EXPECT_THAT(r.notes, Contains(HasSubstr("xpu.0 is host.1.xpu.1")));
  EXPECT_THAT(Error(ranks({{"host.0.xpu.0", 0}})), HasSubstr("host.0.xpu.1 has no rank"));
  EXPECT_THAT(
      Error(ranks({{"host.0.xpu.0", 0}, {"host.0.xpu.1", 0}, {"host.1.xpu.0", 1}, {"host.1.xpu.1", 2}})),
      HasSubstr("host.0.xpu.0 has too"));
  EXPECT_THAT(
      Error(ranks({{"host.0.xpu.0", 0}, {"host.0.xpu.1", 1}, {"host.1.xpu.0", 2}, {"host.1.xpu.1", 4}})),
      HasSubstr("expected each of 0 to 3 once"));
  EXPECT_THAT(Error(ranks({{"host.0", 0}})), HasSubstr("2 xpus; expected one"));
  EXPECT_THAT(Error(ranks({{"host.0.xpu.2", 0}})), HasSubstr("[0:2]"));
  EXPECT_THAT(Error(ranks({{"hots.0.xpu.0", 0}})), HasSubstr("did you mean 'host'"));
}

TEST(InfraGraph, AnnotationsSetRates) {
  const ReadNetwork r = Read(
      Annotated(R"({"links":[{"name":"pcie","attributes":[{"attribute":"link_bandwidth_gbps","value":"256"},
      {"attribute":"link_latency_ms","value":"0.0002"}]},{"name":"nv","attributes":[{"attribute":"latency","value":"40 ns"}]}],
    "edges":[{"ep1":"host.1","ep2":"sw.0.port.2","attributes":[{"attribute":"bandwidth","value":"12.5 GBps"},
      {"attribute":"packet_loss_rate","value":"0.01"},{"attribute":"colour","value":"red"}]}]})"));
  const NetworkGraph& g = r.network.graph;
  const LinkClass& pcie = g.link_class(g.FindArc(0, At(g, "host.0.nic.0")));
  EXPECT_EQ(pcie.bandwidth.bytes_per_second(), 32000000000);
  EXPECT_EQ(pcie.latency, Time::Nanos(200));
  EXPECT_EQ(g.link_class(g.FindArc(0, At(g, "host.0.nvsw"))).latency, Time::Nanos(40));
  const uint32_t changed = g.FindArc(At(g, "host.1.nic.0"), At(g, "sw.0.port.2"));
  EXPECT_EQ(g.link_class(changed).bandwidth.bytes_per_second(), 12500000000);
  EXPECT_EQ(g.link_class(g.FindArc(At(g, "host.1.nic.1"), At(g, "sw.0.port.3"))).bandwidth.bytes_per_second(),
            50000000000);
  ASSERT_EQ(r.losses.size(), 1u);
  EXPECT_TRUE(r.losses[0].arc == changed || r.losses[0].arc == g.reverse(changed));
  EXPECT_EQ(r.losses[0].rate, 0.01);
  EXPECT_THAT(r.notes, Contains(HasSubstr("not used: colour (1)")));
  EXPECT_THAT(Error(Annotated(R"({"edges":[{"ep1":"host.0","ep2":"sw.0.port.3","attributes":[]}]})")),
              HasSubstr("no edge joins"));
}

TEST(InfraGraph, ErrorsNameTheMistake) {
  const std::tuple<std::string, std::string, std::vector<std::string>> cases[] = {
      {"\"xpu[0:2]\"", "\"xpu[0:3]\"", {"\"box\": edges[1].ep1", "there are 2", "\"xpu[0:2]\""}},
      {"\"nvsw[0]\"", "\"nvsw[1]\"", {"edges[0].ep2", "at most \"nvsw[0]\""}},
      {"\"nvsw[0]\"", "\"nvws[0]\"", {"edges[0].ep2", "no component \"nvws\"", "did you mean 'nvsw'"}},
      {"\"nvsw[0]\"", "\"nvsw[-1]\"", {"edges[0].ep2", "do not count from the end"}},
      {"\"nvsw[0]\"", "\"nvsw[0\"", {"expected \"]\""}},
      {"\"link\":\"pcie\"", "\"link\":\"pci\"", {"edges[1]", "no link \"pci\"", "did you mean 'pcie'"}},
      {"\"link\":\"eth\"", "\"link\":\"ehh\"", {"edges[0]", "no link \"ehh\"", "did you mean 'eth'"}},
      {"host[0:2]", "host[0:3]", {"edges[0].ep1", "there are 2"}},
      {"host[0:2]", "hots[0:2]", {"edges[0].ep1", "no instance \"hots\"", "did you mean 'host'"}},
      {"\"component\":\"nic[0:2]\"},\"ep2\":{\"ins",
       "\"component\":\"nci\"},\"ep2\":{\"ins",
       {"no component \"nci\"", "did you mean 'nic'"}},
      {"\"device\":\"box\"",
       "\"device\":\"boxx\"",
       {"instance \"host\"", "no device \"boxx\"", "did you mean 'box'"}},
      {"\"scheme\":\"one2one\",\"link\":\"eth\"", "\"link\":\"eth\"", {"edges[0]", "no scheme", "4 and 4"}},
      {"\"scheme\":\"one2one\",\"link\":\"pcie\"",
       "\"scheme\":\"one2on\",\"link\":\"pcie\"",
       {"one2on", "infra.json:"}},
      {"\"count\":4,\"choice\":\"port\"",
       "\"count\":0,\"choice\":\"port\"",
       {"component \"port\"", "count is 0", ">= 1"}},
      {"\"count\":4,\"choice\":\"port\"", "\"count\":4", {"component \"port\"", "no choice"}},
      {"\"name\":\"port\"", "\"name\":\"po.rt\"", {"\"po.rt\"", "letters"}},
      {"\"name\":\"port\"", "\"name\":\"port[2]\"", {"\"port[2]\"", "letters"}},
      {"\"name\":\"port\"", "\"name\":\"asic\"", {"\"asic\" is there twice"}},
      {"\"count\":2},{\"name\":\"sw\"",
       "\"count\":2000000},{\"name\":\"sw\"",
       {"instance \"host\"", "2000000", "at most 4194304"}},
      {"\"gigabits_per_second\":400",
       "\"gigabits_per_second\":0",
       {"link \"eth\"", "gigabits_per_second is 0", "above 0"}},
      {"\"gigabits_per_second\":400", "\"gigabytes_per_second\":400", {"link \"eth\"", "choice"}},
      {"\"us\":0.5", "\"us\":-1", {"link \"eth\"", "-1", "0 to 1 s"}},
      {"\"choice\":\"xpu\"", "\"choice\":\"cpu\"", {"no xpu"}},
      {"\"choice\":\"gigabits_per_second\",\"gigabits_per_second\":400",
       "\"choice\":\"gigatransfers_per_second\",\"gigatransfers_per_second\":32",
       {"link \"eth\"", "GT/s", "link_bandwidth_gbps"}},
      {"\"instances\":", "\"inventory\":", {"before version 1"}},
      {"\"instances\":", "\"instance\":", {"instance", "did you mean 'instances'"}},
      {"port[0:4]\"},", "port[0:1]\"},", {"cannot be reached"}},
  };
  for (const auto& [from, to, parts] : cases) {
    const std::string error = Error(With(from, to));
    for (const std::string& part : parts) EXPECT_THAT(error, HasSubstr(part)) << to;
    EXPECT_THAT(error, HasSubstr("infra.json")) << to;
  }
  EXPECT_THAT(
      Error(With("\"bandwidth\":{\"choice\":\"gigabits_per_second\",\"gigabits_per_second\":400},", "")),
      HasSubstr("link \"eth\": no bandwidth"));
  EXPECT_THAT(
      Error("name: \"x\"\ndevices { name: \"a\" components { name: \"a\" count: 1 choice: device } }\n"
            "instances { name: \"i\" device: \"a\" count: 1 }"),
      HasSubstr("a > a"));
}

TEST(InfraGraph, GigatransfersNeedAnAnnotatedRate) {
  std::string text = With("\"choice\":\"gigabits_per_second\",\"gigabits_per_second\":400",
                          "\"choice\":\"gigatransfers_per_second\",\"gigatransfers_per_second\":32");
  text = absl::StrCat(
      "{\"infrastructure\":", text,
      R"(,"annotations":{"links":[{"name":"eth","attributes":[{"attribute":"link_bandwidth_gbps","value":"200"}]}]}})");
  const NetworkGraph g = Read(text).network.graph;
  EXPECT_EQ(g.link_class(g.FindArc(At(g, "host.0.nic.0"), At(g, "sw.0.port.0"))).bandwidth.bytes_per_second(),
            25000000000);
}

TEST(InfraGraph, FindsVerticesAmongManyGroups) {
  // 8,192 hosts of 4 xpus on one switch.
  const std::string text = absl::StrReplaceAll(
      kComposed, {{"count: 4 choice: device", "count: 2 choice: device"},
                  {"name: \"r\" device: \"rack\" count: 2", "name: \"r\" device: \"rack\" count: 8192"},
                  {"r[0]", "r[0:4096]"},
                  {"r[1]", "r[4096:8192]"},
                  {"tray[::2]", "tray[0]"},
                  {"tray[0:4:2]", "tray[0]"}});
  const std::string joined =
      absl::StrCat(text,
                   "devices { name: \"big\" components { name: \"sw\" count: 1 choice: switch } }\ninstances "
                   "{ name: \"s\" device: \"big\" count: 1 }\n",
                   "edges { ep1 { instance: \"r\" component: \"nvsw[0]\" } ep2 { instance: \"s\" component: "
                   "\"sw\" } scheme: many2many link: \"eth\" }\n");
  const ReadNetwork r = Read(joined);
  const NetworkGraph& g = r.network.graph;
  EXPECT_EQ(g.devices(), 8192u * 4);
  for (const char* name : {"r.8191.tray.1.xpu.1", "r.17.tray.0.cx7.1.port.1", "s.0.sw"})
    EXPECT_EQ(g.VertexName(At(g, name)), name);
  const auto bad = g.FindVertex("r.9000.tray.0.xpu.0");
  EXPECT_FALSE(bad.ok());
  EXPECT_LT(bad.status().message().size(), 300u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
