#include <algorithm>
#include <utility>

#include "backends/topology/builders/global_links.h"

namespace chakra {
namespace {

constexpr int kMaxPorts = 4096;
constexpr int kMaxBalanced = 46;  // room for more than kMaxNetworkDevices

struct Shape {
  int p = 0, l = 0, s = 0, h = 0;  // devices of a leaf; leaves and spines of a group; global links of a spine
  int groups = 0;
  int64_t Room() const { return int64_t{p} * l * groups; }
};

Shape Balanced(int n, int groups) {
  return {n, n, n, n, groups > 0 ? groups : static_cast<int>(int64_t{n} * n + 1)};
}

// Leaf, spine, global link, spine, leaf. From a spine without a link to where a
// message goes, back over a leaf. Arcs are numbered as Build() adds the links.
class DragonflyPlusGuide : public Guide {
 public:
  DragonflyPlusGuide(const Shape& shape, int devices, std::vector<uint16_t> rank)
      : shape_(shape),
        links_(shape.groups, shape.s * shape.h),
        devices_(devices),
        leaves_(shape.l * shape.groups),
        rank_(std::move(rank)) {}

  void Next(uint32_t at_vertex, uint32_t to_vertex, std::vector<uint32_t>* arcs) const override {
    const auto at = static_cast<int>(at_vertex), to = static_cast<int>(to_vertex);
    if (at == to) return;
    if (at < devices_) {
      arcs->push_back(at_vertex);  // its only one
      return;
    }
    const int here = at - devices_, there = to < devices_ ? to / shape_.p : to - devices_;
    if (here == there) {
      arcs->push_back(LeafBegin(here) + static_cast<uint32_t>(to - here * shape_.p));
    } else if (here < leaves_) {
      FromLeaf(here, there, arcs);
    } else {
      FromSpine(here - leaves_, there, arcs);
    }
  }

 private:
  int GroupOf(int sw) const { return sw < leaves_ ? sw / shape_.l : (sw - leaves_) / shape_.s; }
  uint32_t HostsBefore(int leaf) const {
    return static_cast<uint32_t>(std::min(int64_t{leaf} * shape_.p, int64_t{devices_}));
  }
  uint32_t LeafBegin(int leaf) const {
    return static_cast<uint32_t>(devices_) + HostsBefore(leaf) +
           static_cast<uint32_t>(leaf) * static_cast<uint32_t>(shape_.s);
  }
  uint32_t Up(int leaf, int spine) const {
    return LeafBegin(leaf) + HostsBefore(leaf + 1) - HostsBefore(leaf) + static_cast<uint32_t>(spine);
  }
  uint32_t Down(int spine, int leaf) const {
    const int group = spine / shape_.s, i = spine % shape_.s;
    return LeafBegin(leaves_) + static_cast<uint32_t>(spine) * static_cast<uint32_t>(shape_.l) +
           static_cast<uint32_t>(group) * static_cast<uint32_t>(links_.used()) +
           static_cast<uint32_t>(std::min(i * shape_.h, links_.used())) + static_cast<uint32_t>(leaf);
  }

  void FromLeaf(int here, int there, std::vector<uint32_t>* arcs) const {
    const int group = here / shape_.l, target = GroupOf(there);
    if (group != target) {
      const int offset = links_.Offset(group, target);
      const size_t first = arcs->size();
      for (int round = 0; round < links_.rounds(); ++round) {
        const int port = links_.PortTo(round, offset);
        if (port < 0) continue;
        const uint32_t arc = Up(here, port / shape_.h);
        if (arcs->size() == first || arcs->back() != arc) arcs->push_back(arc);
      }
    } else if (there >= leaves_) {
      arcs->push_back(Up(here, (there - leaves_) % shape_.s));
    } else {
      for (int spine = 0; spine < shape_.s; ++spine) arcs->push_back(Up(here, spine));
    }
  }

  void FromSpine(int here, int there, std::vector<uint32_t>* arcs) const {
    const int group = here / shape_.s, target = GroupOf(there);
    if (group == target && there < leaves_) {
      arcs->push_back(Down(here, there % shape_.l));
      return;
    }
    const size_t first = arcs->size();
    for (int round = 0; group != target && round < links_.rounds(); ++round) {
      const int port = links_.PortTo(round, links_.Offset(group, target));
      if (port < 0 || port / shape_.h != here % shape_.s) continue;
      const size_t i = static_cast<size_t>(group) * static_cast<size_t>(links_.used());
      arcs->push_back(Down(here, shape_.l) + rank_[i + static_cast<size_t>(port)]);
    }
    if (arcs->size() > first) return;
    for (int leaf = 0; leaf < shape_.l; ++leaf) arcs->push_back(Down(here, leaf));
  }

  Shape shape_;
  GlobalLinks links_;
  int devices_, leaves_;
  std::vector<uint16_t> rank_;  // by group and port: among its spine's global links
};

absl::StatusOr<Shape> ShapeOf(const Parameters& p, int devices) {
  Shape s;
  for (const auto& [key, out] : {std::tuple{"p", &s.p}, std::tuple{"l", &s.l}, std::tuple{"s", &s.s},
                                 std::tuple{"h", &s.h}, std::tuple{"groups", &s.groups}}) {
    if (p.Empty(key)) continue;
    const auto count = p.Count(key, 1, key == absl::string_view("groups") ? kMaxNetworkDevices : kMaxPorts);
    if (!count.ok()) return count.status();
    *out = *count;
  }
  int n = 0;
  for (const int given : {s.l, s.s, s.h, s.p}) n = n == 0 ? given : n;
  if (n == 0) {
    n = devices == 0 ? 2 : 1;
    const auto enough = [&] {
      return Balanced(n, s.groups).Room() >= devices && s.groups <= int64_t{n} * n + 1;
    };
    while (n < kMaxPorts && !enough()) ++n;
  }
  for (int* size : {&s.p, &s.l, &s.s, &s.h}) *size = *size == 0 ? n : *size;
  const int64_t most = int64_t{s.s} * s.h + 1;
  if (s.groups == 0) s.groups = static_cast<int>(most);
  if (s.groups > most) {
    return p.Bad("groups",
                 absl::StrCat("1 to s*h+1 = ", most, " (s=", s.s, ", h=", s.h, "); the nearest is ", most));
  }
  return s;
}

std::string Nearest(int devices) {
  int n = 1;
  while (n < kMaxBalanced && Balanced(n, 0).Room() < devices) ++n;
  return absl::StrCat("p=", n, ",l=", n, ",s=", n, ",h=", n, " with room for ", Balanced(n, 0).Room());
}

absl::StatusOr<Network> Build(const Parameters& p, int devices) {
  const auto shape = ShapeOf(p, devices);
  if (!shape.ok()) return shape.status();
  const Shape& s = *shape;
  const auto n = DevicesOf(p, devices, s.Room(), Nearest(devices));
  if (!n.ok()) return n.status();
  const auto classes = LinkClassesOf(p);
  if (!classes.ok()) return classes.status();
  const GlobalLinks globals(s.groups, s.s * s.h);
  const int64_t leaves = int64_t{s.l} * s.groups, spines = int64_t{s.s} * s.groups;
  const absl::Status size = CheckSize(p, p.Given("groups") ? "groups" : "s", *n + leaves + spines,
                                      *n + leaves * s.s + int64_t{s.groups} * globals.used() / 2);
  if (!size.ok()) return size;

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(*n));
  const uint32_t leaf =
      b.AddVertices("leaf", VertexKind::kSwitch, static_cast<uint32_t>(leaves), 1, {s.l, s.groups});
  const uint32_t spine =
      b.AddVertices("spine", VertexKind::kSwitch, static_cast<uint32_t>(spines), 2, {s.s, s.groups});
  const uint16_t host = b.AddClass(classes->host);
  for (int d = 0; d < *n; ++d)
    b.AddLink(static_cast<uint32_t>(d), leaf + static_cast<uint32_t>(d / s.p), host);
  const uint16_t local = b.AddClass(classes->local);
  const auto spine_of = [&](int group, int i) {
    return spine + static_cast<uint32_t>(group) * static_cast<uint32_t>(s.s) + static_cast<uint32_t>(i);
  };
  for (int i = 0; i < static_cast<int>(leaves); ++i) {
    for (int j = 0; j < s.s; ++j) b.AddLink(leaf + static_cast<uint32_t>(i), spine_of(i / s.l, j), local);
  }
  std::vector<uint16_t> rank = globals.Add(&b, b.AddClass(classes->global), s.h, spine_of);
  return Finish(
      &b, std::make_shared<DragonflyPlusGuide>(s, *n, std::move(rank)),
      absl::StrCat("p = ", s.p, ", l = ", s.l, ", s = ", s.s, ", h = ", s.h, ", ", s.groups, " groups"));
}

}  // namespace

NetworkKind DragonflyPlusNetwork() {
  std::vector<Parameter> parameters = {
      {"p", "",
       "devices of a leaf, 1 to 4096; default of p, l, s, h: the first given of l, s, h, p; else the "
       "smallest with room"},
      {"l", "", "leaves of a group, each linked to all its spines, 1 to 4096"},
      {"s", "", "spines of a group, 1 to 4096"},
      {"h", "", "global links of a spine, 1 to 4096"},
      {"groups", "", "1 to s*h+1, the default; with fewer, several links between two groups, evenly spread"}};
  DeclareLinkClasses(&parameters);
  return {"dragonfly_plus",
          "Groups of leaves and spines, the spines of every two groups linked: leaf, spine, spine, leaf",
          "Shpiner et al.: Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017",
          std::move(parameters), Build};
}

}  // namespace chakra
