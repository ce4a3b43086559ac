#include "backends/topology/builders/clos.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/compose.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kMaxRatio = 64;

// The leaf of each port, and the numbers of vertices. Their order is: ports, leaves, uppers (pod by pod),
// cores (group by group).
struct Layout {
  Layout(const ClosPlan& p, int n) : plan(p), ports(static_cast<uint32_t>(n)) {
    const int unit = p.rails * p.hosts_per_leaf;
    const int full = (n - 1) / unit;  // units before the last
    leaves = static_cast<uint32_t>(full * p.rails + std::min(p.rails, n - full * unit));
    pods = (leaves + Lpp() - 1) / Lpp();
    first_leaf = ports;
    first_upper = first_leaf + leaves;
    first_core = first_upper + pods * Uppers();
    cores = Uppers() * Cores();
  }
  uint32_t Lpp() const { return static_cast<uint32_t>(plan.leaves_per_pod); }
  uint32_t Uppers() const { return static_cast<uint32_t>(plan.uppers); }
  uint32_t Pairs() const { return static_cast<uint32_t>(plan.links_per_pair); }
  uint32_t Cores() const { return static_cast<uint32_t>(plan.cores_per_upper); }
  uint32_t Rails() const { return static_cast<uint32_t>(plan.rails); }
  uint32_t Hosts() const { return static_cast<uint32_t>(plan.hosts_per_leaf); }
  uint32_t LeafOf(uint32_t port) const { return port / (Rails() * Hosts()) * Rails() + port % Rails(); }
  uint32_t SlotOf(uint32_t port) const { return port / Rails() % Hosts(); }
  uint32_t LeavesOf(uint32_t pod) const { return std::min(Lpp(), leaves - pod * Lpp()); }

  ClosPlan plan;
  uint32_t ports, leaves, pods, first_leaf, first_upper, first_core, cores;
};

// The arcs of a leaf lead to its ports, then to its uppers; those of an upper switch to its leaves, then to
// its cores; those of a core to its pods.
class ClosGuide : public Guide {
 public:
  ClosGuide(const Layout& layout, std::vector<uint32_t> first) : layout_(layout), first_(std::move(first)) {}

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    const Layout& l = layout_;
    if (at == to || to >= l.first_upper) return;
    const uint32_t leaf = to < l.ports ? l.LeafOf(to) : to - l.first_leaf;
    const uint32_t pod = leaf / l.Lpp();
    const uint32_t begin = first_[at], end = first_[at + 1];
    if (at < l.ports) return Add(begin, end, arcs);
    if (at < l.first_upper) {
      if (at - l.first_leaf == leaf) return Add(begin + l.SlotOf(to), begin + l.SlotOf(to) + 1, arcs);
      return Add(end - l.Uppers() * l.Pairs(), end, arcs);
    }
    if (at >= l.first_core) return Add(begin + pod, begin + pod + 1, arcs);
    const uint32_t here = (at - l.first_upper) / l.Uppers();
    if (here != pod) return Add(end - l.Cores(), end, arcs);
    const uint32_t down = begin + leaf % l.Lpp() * l.Pairs();
    Add(down, down + l.Pairs(), arcs);
  }

 private:
  static void Add(uint32_t from, uint32_t to, std::vector<uint32_t>* arcs) {
    for (uint32_t arc = from; arc < to; ++arc) arcs->push_back(arc);
  }

  Layout layout_;
  std::vector<uint32_t> first_;  // first arc of each vertex, and the number of arcs
};

void AddLinks(const Layout& l, const ClosLinks& links, GraphBuilder* b) {
  const uint16_t host = b->AddClass(links.host);
  for (uint32_t port = 0; port < l.ports; ++port) b->AddLink(port, l.first_leaf + l.LeafOf(port), host);
  if (l.Uppers() == 0) return;
  const uint16_t up = b->AddClass(links.up);
  for (uint32_t leaf = 0; leaf < l.leaves; ++leaf) {
    const uint32_t upper = l.first_upper + leaf / l.Lpp() * l.Uppers();
    for (uint32_t u = 0; u < l.Uppers(); ++u) {
      for (uint32_t i = 0; i < l.Pairs(); ++i) b->AddLink(l.first_leaf + leaf, upper + u, up);
    }
  }
  if (l.Cores() == 0) return;
  const uint16_t core = b->AddClass(links.core);
  for (uint32_t pod = 0; pod < l.pods; ++pod) {
    for (uint32_t c = 0; c < l.cores; ++c) {
      b->AddLink(l.first_upper + pod * l.Uppers() + c / l.Cores(), l.first_core + c, core);
    }
  }
}

std::string Ratio(double down, double up) { return absl::StrFormat("%.4g:1", down / up); }

}  // namespace

std::string ClosPlan::Note(int leaves, int pods_built, double host_rate, double up_rate,
                           double core_rate) const {
  const int tiers = Tiers();
  std::string note =
      absl::StrCat(tiers, tiers == 1 ? " tier, " : " tiers, ", leaves, leaves == 1 ? " leaf" : " leaves");
  if (tiers == 3) absl::StrAppend(&note, " in ", pods_built, pods_built == 1 ? " pod" : " pods");
  absl::StrAppend(&note, " of ", hosts_per_leaf);
  if (rails > 1) absl::StrAppend(&note, ", ", rails, " rails");
  if (tiers == 1) return note;
  absl::StrAppend(&note, ", ", Ratio(hosts_per_leaf * host_rate, double(uppers) * links_per_pair * up_rate),
                  " at the leaves");
  if (tiers == 3) {
    absl::StrAppend(&note, ", ",
                    Ratio(double(leaves_per_pod) * links_per_pair * up_rate, cores_per_upper * core_rate),
                    " below the cores");
  }
  return note;
}

absl::StatusOr<Network> BuildClos(const ClosPlan& plan, int ports, const ClosLinks& links) {
  const Layout l(plan, ports);
  const uint64_t ups = uint64_t{l.leaves} * l.Uppers() * l.Pairs();
  const uint64_t cores = uint64_t{l.pods} * l.Uppers() * l.Cores();
  const uint64_t switches = l.leaves + uint64_t{l.Uppers()} * (l.pods + l.Cores());
  if (l.ports + switches > NetworkGraph::kMaxVertices || ups + cores + l.ports > NetworkGraph::kMaxLinks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tree of ", switches, " switches and ", ups + cores, " links between them; expected at most ",
        NetworkGraph::kMaxVertices - l.ports, " and ", NetworkGraph::kMaxLinks - l.ports));
  }
  const bool three = plan.Tiers() == 3;
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, l.ports);
  b.AddVertices("leaf", VertexKind::kSwitch, l.leaves, 1);
  b.AddVertices(three ? "agg" : "spine", VertexKind::kSwitch, l.pods * l.Uppers(), 2);
  b.AddVertices("core", VertexKind::kSwitch, l.cores, 3);
  AddLinks(l, links, &b);
  const auto rate = [](const LinkClass& c) { return static_cast<double>(c.bandwidth.bytes_per_second()); };
  ASSIGN_OR_RETURN(auto network, Finish(&b, nullptr,
                                        plan.Note(static_cast<int>(l.leaves), static_cast<int>(l.pods),
                                                  rate(links.host), rate(links.up), rate(links.core))));
  network.guide = std::make_shared<ClosGuide>(l, FirstArcs(network.graph));
  return network;
}

std::vector<Parameter> ClosLinkParameters(int tiers) {
  std::vector<Parameter> out = {
      {"link", "400Gb/s", "rate of a device's port, each direction", kCardBandwidth},
      {"latency", "500ns", "latency of a device's link", kCardLatency},
      {"uplink", "",
       tiers == 2 ? "rate of a link between leaf and spine; default: `link`"
                  : "rate of a link between a leaf and the tier above; default: `link`"},
      {"uplink_latency", "", "latency of such a link; default: `latency`, or 500ns if that is a NIC's"},
  };
  if (tiers == 3) {
    out.push_back({"core_link", "", "rate of a link to a core; default: `uplink`"});
    out.push_back({"core_latency", "", "latency of such a link; default: `uplink_latency`"});
  }
  return out;
}

absl::StatusOr<ClosLinks> ReadClosLinks(const Parameters& p, int tiers, int most) {
  const auto read = [&](absl::string_view name, const char* rate, const char* latency, LinkClass* out) {
    out->name = std::string(name);
    if (!p.Empty(rate)) {
      ASSIGN_OR_RETURN(out->bandwidth, p.Rate(rate));
    }
    if (!p.Empty(latency)) {
      ASSIGN_OR_RETURN(out->latency, p.Latency(latency));
    }
    return absl::OkStatus();
  };
  ClosLinks links;
  RETURN_IF_ERROR(read("host", "link", "latency", &links.host));
  links.up = links.host;
  if (!p.Given("latency")) links.up.latency = Time::Nanos(500);
  RETURN_IF_ERROR(read(tiers == 3 ? "leaf-agg" : "leaf-spine", "uplink", "uplink_latency", &links.up));
  links.core = links.up;
  if (most < 3) return links;
  RETURN_IF_ERROR(read("agg-core", "core_link", "core_latency", &links.core));
  return links;
}

absl::StatusOr<double> ReadRatio(const Parameters& p, absl::string_view key) {
  const absl::string_view text = p.Text(key);
  const size_t colon = text.find(':');
  double down = 0, up = 1;
  const bool number = absl::SimpleAtod(text.substr(0, colon), &down) &&
                      (colon == absl::string_view::npos || absl::SimpleAtod(text.substr(colon + 1), &up));
  if (!number || !(down > 0) || !(up > 0) || !std::isfinite(down) || !std::isfinite(up)) {
    return p.Bad(key, "ports down : ports up, as 3:1 or 3");
  }
  const double ratio = down / up;
  if (ratio >= 1 / kMaxRatio && ratio <= kMaxRatio) return ratio;
  return p.Bad(key, absl::StrCat("1:", kMaxRatio, " to ", kMaxRatio, ":1; the nearest is ",
                                 ratio < 1 ? "1:64" : "64:1"));
}

int DownPorts(int k, double ratio) {
  const double down = k * ratio / (ratio + 1);
  const double whole = std::round(down);
  if (std::abs(down - whole) > 1e-9 * k || whole < 1 || whole > k - 1) return 0;
  return static_cast<int>(whole);
}

}  // namespace chakra
