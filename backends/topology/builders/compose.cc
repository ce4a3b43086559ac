#include "backends/topology/builders/compose.h"

#include <algorithm>
#include <utility>

#include "backends/topology/builders/common.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMaxNesting = 8;

// Adds all vertices of a part except its devices. Groups are named `prefix` + the group's name.
uint32_t AddOthers(const NetworkGraph& part, absl::string_view prefix, int raise, GraphBuilder* b) {
  uint32_t first = NetworkGraph::kNone;
  for (const VertexGroup& g : part.groups()) {
    if (g.kind == VertexKind::kDevice) continue;
    const uint32_t at =
        b->AddVertices(absl::StrCat(prefix, g.name), g.kind, g.count, g.tier + raise, g.shape);
    if (first == NetworkGraph::kNone) first = at;
  }
  return first;
}

// One arc of each link. Adding links in this order keeps the order of every vertex's arcs.
std::vector<uint32_t> LinkOrder(const NetworkGraph& g) {
  std::vector<uint32_t> order, next(g.vertices()), stack;
  order.reserve(g.links());
  for (uint32_t v = 0; v < g.vertices(); ++v) next[v] = g.begin(v);
  for (uint32_t v = 0; v < g.vertices(); ++v) {
    stack.push_back(v);
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      const uint32_t arc = next[at];
      const uint32_t other = arc == g.end(at) ? at : g.target(arc);
      if (arc == g.end(at) || next[other] != g.reverse(arc)) {
        stack.pop_back();
        continue;
      }
      order.push_back(arc);
      ++next[at];
      ++next[other];
      stack.push_back(other);
    }
  }
  return order;
}

// Adds the links of a part. `vertex` maps vertices of the part to those of the whole, `link_class` maps arcs
// of the part to classes of the whole.
template <typename V, typename C>
void AddPartLinks(const NetworkGraph& part, const V& vertex, const C& link_class, GraphBuilder* b) {
  for (const uint32_t arc : LinkOrder(part)) {
    b->AddLink(vertex(part.source(arc)), vertex(part.target(arc)), link_class(arc));
  }
}

std::vector<uint16_t> AddClasses(const NetworkGraph& part, GraphBuilder* b) {
  std::vector<uint16_t> classes;
  for (const LinkClass& c : part.classes()) classes.push_back(b->AddClass(c));
  return classes;
}

absl::Status CheckCopies(const NetworkGraph& part, int copies) {
  const uint64_t vertices = uint64_t{part.vertices()} * static_cast<uint64_t>(copies);
  const uint64_t links = uint64_t{part.links()} * static_cast<uint64_t>(copies);
  if (vertices <= NetworkGraph::kMaxVertices / 2 && links <= NetworkGraph::kMaxLinks / 2)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(copies, " copies of a network of ", part.vertices(),
                                                 " vertices and ", part.links(), " links; expected at most ",
                                                 NetworkGraph::kMaxVertices / 2, " and ",
                                                 NetworkGraph::kMaxLinks / 2, " in all"));
}

// The base of guides of compositions: maps arcs of a part to arcs of the whole.
class PartGuide : public Guide {
 protected:
  explicit PartGuide(const Network& part)
      : part_(part.guide), part_first_(FirstArcs(part.graph)), part_devices_(part.graph.devices()) {}
  uint32_t PartVertices() const { return static_cast<uint32_t>(part_first_.size() - 1); }
  uint32_t PartDegree(uint32_t v) const { return part_first_[v + 1] - part_first_[v]; }
  // Appends the arcs that the part's guide offers from `v` to `to`. In the whole, the part's arcs of v begin
  // at `begin`.
  void Follow(uint32_t v, uint32_t to, uint32_t begin, std::vector<uint32_t>* arcs) const {
    const size_t old = arcs->size();
    part_->Next(v, to, arcs);
    for (size_t i = old; i < arcs->size(); ++i) (*arcs)[i] = (*arcs)[i] - part_first_[v] + begin;
  }

  std::shared_ptr<const Guide> part_;
  std::vector<uint32_t> part_first_;
  uint32_t part_devices_;
  std::vector<uint32_t> first_;  // by vertex of the whole: its first arc
};

// Vertices: devices, switches of the domains, then those of the part. Arcs of a device: to its domain's
// switches, then to its NIC. Arcs of a NIC: the part's, then to its devices.
class NicGuide : public PartGuide {
 public:
  NicGuide(const Network& part, const NetworkGraph& whole, uint32_t per_card, uint32_t domain, uint32_t chips)
      : PartGuide(part),
        devices_(whole.devices()),
        per_card_(per_card),
        domain_(domain),
        chips_(chips),
        base_(whole.vertices() - part.graph.vertices()) {
    first_ = FirstArcs(whole);
  }

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    if (at == to || at >= first_.size() - 1 || to >= first_.size() - 1) return;
    const bool to_chip = to >= devices_ && to < base_;
    if (at < devices_) return FromDevice(at, to, arcs);
    if (at < base_) {
      if (to < devices_ && to / domain_ == (at - devices_) / chips_)
        arcs->push_back(first_[at] + to % domain_);
      return;
    }
    if (to_chip) return;
    const uint32_t here = at - base_;
    const uint32_t there = to < devices_ ? to / per_card_ : to - base_;
    if (here != there) return Follow(here, there, first_[at], arcs);
    arcs->push_back(first_[at] + PartDegree(here) + to % per_card_);
  }

 private:
  void FromDevice(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const {
    const uint32_t begin = first_[at], end = first_[at + 1];
    if (to >= devices_ && to < base_) {
      if ((to - devices_) / chips_ == at / domain_) arcs->push_back(begin + (to - devices_) % chips_);
    } else if (chips_ > 0 && to < devices_ && to / domain_ == at / domain_) {
      for (uint32_t arc = begin; arc + 1 < end; ++arc) arcs->push_back(arc);
    } else {
      arcs->push_back(end - 1);
    }
  }

  uint32_t devices_, per_card_, domain_, chips_, base_;
};

// Vertices: devices, then the other vertices of the part, copy by copy. The arcs of a device are also copy by
// copy.
class PlanesGuide : public PartGuide {
 public:
  PlanesGuide(const Network& part, const NetworkGraph& whole, uint32_t copies)
      : PartGuide(part), copies_(copies) {
    first_ = FirstArcs(whole);
  }

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    const uint32_t others = PartVertices() - part_devices_;
    const auto plane = [&](uint32_t v) { return (v - part_devices_) / others; };
    const auto vertex = [&](uint32_t v) {
      return v < part_devices_ ? v : part_devices_ + (v - part_devices_) % others;
    };
    if (at == to) return;
    if (at >= part_devices_) {
      if (to >= part_devices_ && plane(to) != plane(at)) return;
      return Follow(vertex(at), vertex(to), first_[at], arcs);
    }
    for (uint32_t c = 0; c < copies_; ++c) {
      if (to >= part_devices_ && plane(to) != c) continue;
      Follow(at, vertex(to), first_[at] + c * PartDegree(at), arcs);
    }
  }

 private:
  uint32_t copies_;
};

// Vertices: devices, a switch for each domain, then the other vertices of the part, rail by rail. Arcs of a
// device: to the domain's switch, then those of its rail.
class RailsGuide : public PartGuide {
 public:
  RailsGuide(const Network& part, const NetworkGraph& whole, uint32_t rails)
      : PartGuide(part), rails_(rails), devices_(whole.devices()), base_(devices_ + part_devices_) {
    first_ = FirstArcs(whole);
  }

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    if (at == to || at >= first_.size() - 1 || to >= first_.size() - 1) return;
    if (IsDomain(at)) return FromDomain(at, to, arcs);
    if (at >= base_) {
      if (to >= base_ && RailOf(to) != RailOf(at)) return;
      return Follow(PartVertex(at), PartVertex(to), first_[at], arcs);
    }
    const bool inside = to < base_ && DomainOf(to) == DomainOf(at);
    if (inside || (!IsDomain(to) && RailOf(to) != RailOf(at))) {
      arcs->push_back(first_[at]);
    } else {
      Follow(at / rails_, PartVertex(to), first_[at] + 1, arcs);
    }
  }

 private:
  // Appends the arcs to `to`, or to the device of this domain on the rail of `to`.
  void FromDomain(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const {
    if (!IsDomain(to)) {
      arcs->push_back(first_[at] + RailOf(to));
      return;
    }
    for (uint32_t arc = first_[at]; arc < first_[at + 1]; ++arc) arcs->push_back(arc);
  }
  bool IsDomain(uint32_t v) const { return v >= devices_ && v < base_; }
  uint32_t Others() const { return PartVertices() - part_devices_; }
  uint32_t DomainOf(uint32_t v) const { return v < devices_ ? v / rails_ : v - devices_; }
  uint32_t RailOf(uint32_t v) const { return v < devices_ ? v % rails_ : (v - base_) / Others(); }
  uint32_t PartVertex(uint32_t v) const {
    return v < base_ ? DomainOf(v) : part_devices_ + (v - base_) % Others();
  }

  uint32_t rails_, devices_, base_;
};

}  // namespace

std::vector<uint32_t> FirstArcs(const NetworkGraph& graph) {
  std::vector<uint32_t> first(graph.vertices() + 1);
  for (uint32_t v = 0; v < graph.vertices(); ++v) first[v] = graph.begin(v);
  first.back() = graph.arcs();
  return first;
}

absl::StatusOr<Network> AttachNics(const Network& part, int devices, int per_card, const LinkClass& pcie,
                                   const Domain& domain) {
  const auto n = static_cast<uint32_t>(devices), per = static_cast<uint32_t>(per_card);
  const auto size = static_cast<uint32_t>(domain.size), chips = static_cast<uint32_t>(domain.chips.size());
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, n);
  b.AddVertices("nvswitch", VertexKind::kNvSwitch, (n + size - 1) / size * chips, 1);
  const uint32_t cards = b.AddVertices("nic", VertexKind::kNic, part.graph.devices(), 1);
  AddOthers(part.graph, "", 1, &b);
  for (uint32_t c = 0; c < chips; ++c) {
    const uint16_t link = b.AddClass(domain.chips[c]);
    for (uint32_t d = 0; d < n; ++d) b.AddLink(d, n + d / size * chips + c, link);
  }
  const std::vector<uint16_t> classes = AddClasses(part.graph, &b);
  AddPartLinks(
      part.graph, [&](uint32_t v) { return cards + v; },
      [&](uint32_t arc) { return classes[part.graph.class_of(arc)]; }, &b);
  const uint16_t link = b.AddClass(pcie);
  for (uint32_t d = 0; d < n; ++d) b.AddLink(d, cards + d / per, link);
  auto whole = Finish(&b, nullptr, part.note);
  if (whole.ok() && part.guide != nullptr) {
    whole->guide = std::make_shared<NicGuide>(part, whole->graph, per, size, chips);
  }
  return whole;
}

absl::StatusOr<Network> Planes(const Network& part, int copies, int share) {
  const NetworkGraph& g = part.graph;
  RETURN_IF_ERROR(CheckCopies(g, copies));
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, g.devices());
  std::vector<uint32_t> first;
  for (int c = 0; c < copies; ++c) first.push_back(AddOthers(g, absl::StrCat("plane", c, "."), 0, &b));
  const std::vector<uint16_t> classes = AddClasses(g, &b);
  std::vector<uint16_t> ports;
  for (LinkClass c : g.classes()) {
    c.bandwidth = Bandwidth::BytesPerSecond(c.bandwidth.bytes_per_second() / share);
    ports.push_back(share == 1 ? classes[ports.size()] : b.AddClass(c));
  }
  const auto port = [&](uint32_t v) { return v < g.devices() || g.kind(v) == VertexKind::kNic; };
  for (const uint32_t others : first) {
    AddPartLinks(
        g, [&](uint32_t v) { return v < g.devices() ? v : others + v - g.devices(); },
        [&](uint32_t arc) {
          return (port(g.source(arc)) || port(g.target(arc)) ? ports : classes)[g.class_of(arc)];
        },
        &b);
  }
  auto whole = Finish(&b, nullptr, absl::StrCat(copies, " planes: ", part.note));
  if (whole.ok() && part.guide != nullptr) {
    whole->guide = std::make_shared<PlanesGuide>(part, whole->graph, static_cast<uint32_t>(copies));
  }
  return whole;
}

absl::StatusOr<Network> Rails(const Network& part, int rails, const LinkClass& scale_up) {
  const NetworkGraph& g = part.graph;
  const auto k = static_cast<uint32_t>(rails);
  RETURN_IF_ERROR(CheckCopies(g, rails));
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, g.devices() * k);
  const uint32_t domains = b.AddVertices("nvswitch", VertexKind::kNvSwitch, g.devices(), 1);
  b.set_devices_forward(true);
  const uint16_t inside = b.AddClass(scale_up);
  for (uint32_t d = 0; d < g.devices() * k; ++d) b.AddLink(d, domains + d / k, inside);
  const std::vector<uint16_t> classes = AddClasses(g, &b);
  for (uint32_t r = 0; r < k; ++r) {
    const uint32_t others = AddOthers(g, absl::StrCat("rail", r, "."), 0, &b);
    AddPartLinks(
        g, [&](uint32_t v) { return v < g.devices() ? v * k + r : others + v - g.devices(); },
        [&](uint32_t arc) { return classes[g.class_of(arc)]; }, &b);
  }
  auto whole = Finish(&b, nullptr, absl::StrCat(rails, " rails: ", part.note));
  if (whole.ok()) whole->guide = std::make_shared<RailsGuide>(part, whole->graph, k);
  return whole;
}

std::vector<Parameter> NicParameters() {
  return {{"devices_per_nic", "1",
           "devices that share a NIC and its port; there are NICs if this is above 1, or with pcie or "
           "pcie_latency"},
          {"pcie", "", "rate between a device and its NIC; default: 63GB/s (PCIe 5 x16)"},
          {"pcie_latency", "", "latency of that link; default: 150ns"}};
}

absl::StatusOr<NicOptions> ReadNics(const Parameters& p) {
  NicOptions out;
  ASSIGN_OR_RETURN(const auto per, p.Count("devices_per_nic", 1, 64));
  out.per_card = per;
  out.present = per > 1 || p.Given("pcie") || p.Given("pcie_latency");
  out.pcie = {"pcie", Bandwidth::BytesPerSecond(63000000000), Time::Nanos(150)};
  if (!p.Empty("pcie")) {
    ASSIGN_OR_RETURN(out.pcie.bandwidth, p.Rate("pcie", /*any_rate=*/true));
  }
  if (!p.Empty("pcie_latency")) {
    ASSIGN_OR_RETURN(out.pcie.latency, p.Latency("pcie_latency"));
  }
  return out;
}

absl::StatusOr<Network> WithNics(absl::StatusOr<Network> network, int devices, const NicOptions& options) {
  if (!network.ok() || !options.present) return network;
  return AttachNics(*network, devices, options.per_card, options.pcie, Domain());
}

absl::StatusOr<Network> BuildPart(const Parameters& p, absl::string_view key, int devices,
                                  const Cards& cards) {
  int depth = 0, deepest = 0;
  for (const char c : p.Text(key)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  if (deepest > kMaxNesting) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", key, " nests ", deepest,
                                                   " networks; expected at most ", kMaxNesting));
  }
  ASSIGN_OR_RETURN(const auto spec, p.Part(key));
  auto part = BuildNetwork(spec, devices, cards);
  if (part.ok()) return part;
  return absl::Status(part.status().code(),
                      absl::StrCat(p.network(), ": ", key, ": ", part.status().message()));
}

std::vector<Parameter> Concat(std::vector<Parameter> a, const std::vector<Parameter>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace chakra
