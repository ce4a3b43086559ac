// dgx_pod and nvl72: NVSwitch domains joined by a network.
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/compose.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Rates are payload in each direction. Sources: for links and rates of NVLink by generation, NICs and PCIe
// x16: stas00/ml-engineering, network and accelerator tables; for the switches of the B200 board:
// ServeTheHome, Computex 2024; the split 5+4+4+5: as commonly reported.
struct Generation {
  const char* name;
  std::vector<int> links;  // links of a device to each switch of its domain
  int link_gb;             // GB/s of each link
  const char* nic;
  const char* pcie;
};

const std::vector<Generation>& DgxGenerations() {
  static const auto* const kAll = new std::vector<Generation>{
      {"a100", {2, 2, 2, 2, 2, 2}, 25, "200Gb/s", "31GB/s"},
      {"h100", {5, 4, 4, 5}, 25, "400Gb/s", "63GB/s"},
      {"h200", {5, 4, 4, 5}, 25, "400Gb/s", "63GB/s"},
      {"h20", {5, 4, 4, 5}, 25, "400Gb/s", "63GB/s"},
      {"h800", {2, 2, 2, 2}, 25, "400Gb/s", "63GB/s"},
      {"b200", {9, 9}, 50, "400Gb/s", "63GB/s"},
      {"b300", {9, 9}, 50, "800Gb/s", "121GB/s"},
  };
  return *kAll;
}

const std::vector<Generation>& Nvl72Generations() {
  static const auto* const kAll = new std::vector<Generation>{
      {"gb200", std::vector<int>(18, 1), 50, "400Gb/s", "63GB/s"},
      {"gb300", std::vector<int>(18, 1), 50, "800Gb/s", "121GB/s"},
  };
  return *kAll;
}

absl::StatusOr<const Generation*> ReadGeneration(const Parameters& p, const std::vector<Generation>& all) {
  std::vector<std::string> names;
  for (const Generation& g : all) names.emplace_back(g.name);
  ASSIGN_OR_RETURN(const auto name, p.Choice("generation", names));
  for (const Generation& g : all) {
    if (name == g.name) return &g;
  }
  return p.Bad("generation", "one of the list");
}

absl::StatusOr<Domain> ReadDomain(const Parameters& p, const Generation& g, int size) {
  ASSIGN_OR_RETURN(const auto latency, p.Latency("nvlink_latency"));
  ASSIGN_OR_RETURN(const auto chips, p.Choice("chips", {"all", "one"}));
  Domain domain;
  domain.size = size;
  int64_t sum = 0;
  for (const int links : g.links) {
    const int64_t rate = int64_t{links} * g.link_gb * 1000000000;
    sum += rate;
    domain.chips.push_back({absl::StrCat("nvlink x", links), Bandwidth::BytesPerSecond(rate), latency});
  }
  if (chips == "one") domain.chips = {{"nvlink", Bandwidth::BytesPerSecond(sum), latency}};
  return domain;
}

absl::StatusOr<Network> BuildOneDomain(const Domain& domain, int devices) {
  GraphBuilder b;
  const auto n = static_cast<uint32_t>(devices), chips = static_cast<uint32_t>(domain.chips.size());
  b.AddVertices("device", VertexKind::kDevice, n);
  b.AddVertices("nvswitch", VertexKind::kNvSwitch, chips, 1);
  for (uint32_t c = 0; c < chips; ++c) {
    const uint16_t link = b.AddClass(domain.chips[c]);
    for (uint32_t d = 0; d < n; ++d) b.AddLink(d, n + c, link);
  }
  return Finish(&b, nullptr, "");
}

// The network that joins the NICs: `of`, or `fallback`.
absl::StatusOr<Network> BuildJoin(const Parameters& p, const NetworkSpec& fallback, int count,
                                  const Cards& cards) {
  ASSIGN_OR_RETURN(auto part,
                   p.Empty("of") ? BuildNetwork(fallback, count, cards) : BuildPart(p, "of", count, cards));
  for (const VertexGroup& g : part.graph.groups()) {
    if (g.kind != VertexKind::kDevice && g.kind != VertexKind::kSwitch) {
      return p.Bad("of", absl::StrCat("a network of switches only, because the NICs are present already; \"",
                                      g.name, "\" is a ", std::string(Name(g.kind))));
    }
  }
  return part;
}

struct System {
  const std::vector<Generation>& generations;
  int size;  // devices of a domain
  int tray;  // devices with rails of their own
  const char* count_key;
  const char* nodes_per_unit;  // of the default network
};

// The number of devices, from `devices` and the number of domains.
absl::StatusOr<int> SystemDevices(const Parameters& p, const System& system, int devices) {
  const char* key = system.count_key;
  if (p.Empty(key)) {
    if (devices == 0) return p.Bad(key, "how many, or a number of devices to connect");
    return devices;
  }
  ASSIGN_OR_RETURN(const auto n, p.Count(key, 1, kMaxNetworkDevices / system.size));
  return DevicesOf(p, devices, int64_t{n} * system.size,
                   absl::StrCat(key, "=", (devices - 1) / system.size + 1));
}

struct Card {
  int devices = 1;
  LinkClass pcie;
};

absl::StatusOr<Card> ReadCard(const Parameters& p, const System& system, const Generation& g) {
  ASSIGN_OR_RETURN(const auto per, p.Count("devices_per_nic", 1, system.tray));
  if (system.tray % per != 0) {
    return p.Bad("devices_per_nic", absl::StrCat("a divisor of ", system.tray, ", 2 for instance"));
  }
  ASSIGN_OR_RETURN(const auto rate, p.Empty("pcie") ? ParseRate(g.pcie) : p.Rate("pcie", /*any_rate=*/true));
  ASSIGN_OR_RETURN(const auto latency, p.Latency("pcie_latency"));
  return Card{per, {"pcie", rate, latency}};
}

absl::StatusOr<Network> BuildSystem(const Parameters& p, int devices, const System& system) {
  ASSIGN_OR_RETURN(const auto generation, ReadGeneration(p, system.generations));
  const Generation& g = *generation;
  ASSIGN_OR_RETURN(const auto domain, ReadDomain(p, g, system.size));
  ASSIGN_OR_RETURN(const auto card, ReadCard(p, system, g));
  ASSIGN_OR_RETURN(const auto n, SystemDevices(p, system, devices));
  if (n <= system.size && p.Empty("of")) return BuildOneDomain(domain, n);
  const NetworkSpec rails = {"rail_optimized",
                             {{"gpus_per_node", absl::StrCat(system.tray / card.devices)},
                              {"nodes_per_unit", system.nodes_per_unit}}};
  ASSIGN_OR_RETURN(const auto nic, ParseRate(g.nic));
  ASSIGN_OR_RETURN(const auto part, BuildJoin(p, rails, (n - 1) / card.devices + 1, {nic, Time::Nanos(500)}));
  if (card.devices > 1 && part.guide == nullptr) {
    // A search would find a NIC that two devices share as near as their NVSwitches.
    return p.Bad("devices_per_nic",
                 "1 with an `of` that is routed by search; fat_tree, leaf_spine, rail_optimized and "
                 "multi_plane of these accept any");
  }
  auto whole = AttachNics(part, n, card.devices, card.pcie, domain);
  if (whole.ok()) whole->note = absl::StrCat((n - 1) / system.size + 1, " x ", g.name, "; ", whole->note);
  return whole;
}

absl::StatusOr<Network> BuildDgxPod(const Parameters& p, int devices) {
  return BuildSystem(p, devices, {DgxGenerations(), 8, 8, "nodes", "32"});
}

absl::StatusOr<Network> BuildNvl72(const Parameters& p, int devices) {
  return BuildSystem(p, devices, {Nvl72Generations(), 72, 4, "racks", "72"});
}

std::vector<Parameter> SystemParameters(const char* generation, const char* choices, const char* count_key,
                                        const char* of) {
  return {
      {"generation", generation, choices},
      {count_key, "", "number; default: as many as the devices need"},
      {"chips", "all", "all: one switch for each NVSwitch chip; one: a single switch with the rate of all"},
      {"nvlink_latency", "25ns", "latency of a link to an NVSwitch"},
      {"devices_per_nic", "1", "devices that share a NIC"},
      {"pcie", "", "rate between a device and its NIC; default: PCIe x16 of the generation"},
      {"pcie_latency", "150ns", "latency of that link"},
      {"of", "", of}};
}

}  // namespace

NetworkKind DgxPodNetwork() {
  return {"dgx_pod",
          "Nodes of 8 devices on NVSwitches, with NICs, joined by a network",
          "NVIDIA DGX user guides; DGX SuperPOD reference architecture",
          SystemParameters("h100", "generation of the devices: a100, h100, h200, h20, h800, b200 or b300",
                           "nodes",
                           "network of the NICs, in parentheses; default: none for one node, else "
                           "rail_optimized at the rate of the generation's NICs"),
          BuildDgxPod,
          /*whole=*/true};
}

NetworkKind Nvl72Network() {
  return {"nvl72",
          "Racks of 72 devices on 18 NVSwitches, joined by a network",
          "NVIDIA GB200 NVL72",
          SystemParameters("gb200", "generation: gb200 or gb300", "racks",
                           "network of the NICs, in parentheses; default: none for one rack, else "
                           "rail_optimized with the 4 devices of a tray as its rails and 4 racks per unit"),
          BuildNvl72,
          /*whole=*/true};
}

}  // namespace chakra
