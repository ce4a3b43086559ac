#include <algorithm>
#include <utility>

#include "backends/topology/builders/global_links.h"

namespace chakra {
namespace {

constexpr int kMaxPorts = 4096;
constexpr int kMaxBalanced = 46;  // h of the largest balanced one within kMaxNetworkDevices, and one more

struct Shape {
  int p = 0, a = 0, h = 0;  // devices and global links of a router, routers of a group
  int groups = 0;
  int64_t Room() const { return int64_t{p} * a * groups; }
};

Shape Balanced(int h, int groups) {
  return {h, 2 * h, h, groups > 0 ? groups : static_cast<int>(2 * int64_t{h} * h + 1)};
}

// One global hop: local, global, local, each where it is needed. Of several
// links between two groups those with the fewest links in all. Arcs are
// numbered as Build() adds the links.
class DragonflyGuide : public Guide {
 public:
  DragonflyGuide(const Shape& shape, int devices, std::vector<uint16_t> rank)
      : shape_(shape), links_(shape.groups, shape.a * shape.h), devices_(devices), rank_(std::move(rank)) {}

  void Next(uint32_t at_vertex, uint32_t to_vertex, std::vector<uint32_t>* arcs) const override {
    const auto at = static_cast<int>(at_vertex), to = static_cast<int>(to_vertex);
    if (at == to) return;
    if (at < devices_) {
      arcs->push_back(at_vertex);  // its only one
      return;
    }
    const int here = at - devices_, there = to < devices_ ? to / shape_.p : to - devices_;
    if (here == there) {
      arcs->push_back(Begin(here) + static_cast<uint32_t>(to - here * shape_.p));
    } else if (here / shape_.a == there / shape_.a) {
      arcs->push_back(Local(here, there % shape_.a));
    } else {
      Leave(here, there, arcs);
    }
  }

 private:
  uint32_t HostsBefore(int router) const {
    return static_cast<uint32_t>(std::min(int64_t{router} * shape_.p, int64_t{devices_}));
  }
  uint32_t Begin(int router) const {
    const int group = router / shape_.a, i = router % shape_.a;
    return static_cast<uint32_t>(devices_) + HostsBefore(router) +
           static_cast<uint32_t>(router) * static_cast<uint32_t>(shape_.a - 1) +
           static_cast<uint32_t>(group) * static_cast<uint32_t>(links_.used()) +
           static_cast<uint32_t>(std::min(i * shape_.h, links_.used()));
  }
  uint32_t FirstLocal(int router) const {
    return Begin(router) + HostsBefore(router + 1) - HostsBefore(router);
  }
  uint32_t Local(int router, int to) const {
    return FirstLocal(router) + static_cast<uint32_t>(to < router % shape_.a ? to : to - 1);
  }
  uint32_t Global(int router, int port) const {
    const size_t i = static_cast<size_t>(router / shape_.a) * static_cast<size_t>(links_.used());
    return FirstLocal(router) + static_cast<uint32_t>(shape_.a - 1) + rank_[i + static_cast<size_t>(port)];
  }

  // Towards a router of another group.
  void Leave(int here, int there, std::vector<uint32_t>* arcs) const {
    const int group = here / shape_.a, self = here % shape_.a;
    const int offset = links_.Offset(group, there / shape_.a);
    const size_t first = arcs->size();
    int fewest = 3;
    for (int round = 0; round < links_.rounds(); ++round) {
      const int port = links_.PortTo(round, offset);
      if (port < 0) continue;
      const int router = port / shape_.h;
      const int end = links_.Peer({group, port}).port / shape_.h;
      const int hops = (router != self ? 1 : 0) + 1 + (end != there % shape_.a ? 1 : 0);
      if (hops > fewest) continue;
      if (hops < fewest) arcs->resize(first);
      fewest = hops;
      const uint32_t arc = router == self ? Global(here, port) : Local(here, router);
      if (arcs->size() == first || arcs->back() != arc) arcs->push_back(arc);
    }
  }

  Shape shape_;
  GlobalLinks links_;
  int devices_;
  std::vector<uint16_t> rank_;  // by group and port: among its router's global links
};

absl::StatusOr<Shape> ShapeOf(const Parameters& p, int devices) {
  Shape s;
  for (const auto& [key, out] : {std::tuple{"p", &s.p}, std::tuple{"a", &s.a}, std::tuple{"h", &s.h},
                                 std::tuple{"groups", &s.groups}}) {
    if (p.Empty(key)) continue;
    const auto count = p.Count(key, 1, key == absl::string_view("groups") ? kMaxNetworkDevices : kMaxPorts);
    if (!count.ok()) return count.status();
    *out = *count;
  }
  if (s.p == 0 && s.a == 0 && s.h == 0) {
    int h = devices == 0 ? 2 : 1;
    const auto enough = [&] {
      const Shape b = Balanced(h, s.groups);
      return b.Room() >= devices && s.groups <= b.a * b.h + 1;
    };
    while (h < kMaxPorts / 2 && !enough()) ++h;
    s = Balanced(h, s.groups);
  }
  if (s.h == 0) s.h = s.a > 0 ? (s.a + 1) / 2 : s.p;
  if (s.a == 0) s.a = 2 * s.h;
  if (s.p == 0) s.p = s.h;
  const int64_t most = int64_t{s.a} * s.h + 1;
  if (s.groups == 0) s.groups = static_cast<int>(most);
  if (s.groups > most) {
    return p.Bad("groups",
                 absl::StrCat("1 to a*h+1 = ", most, " (a=", s.a, ", h=", s.h, "); the nearest is ", most));
  }
  return s;
}

std::string Nearest(int devices) {
  int h = 1;
  while (h < kMaxBalanced && Balanced(h, 0).Room() < devices) ++h;
  return absl::StrCat("p=", h, ",a=", 2 * h, ",h=", h, " with room for ", Balanced(h, 0).Room());
}

absl::StatusOr<Network> Build(const Parameters& p, int devices) {
  const auto shape = ShapeOf(p, devices);
  if (!shape.ok()) return shape.status();
  const Shape& s = *shape;
  const auto n = DevicesOf(p, devices, s.Room(), Nearest(devices));
  if (!n.ok()) return n.status();
  const auto classes = LinkClassesOf(p);
  if (!classes.ok()) return classes.status();
  const GlobalLinks globals(s.groups, s.a * s.h);
  const int64_t routers = int64_t{s.a} * s.groups;
  const absl::Status size = CheckSize(p, p.Given("groups") ? "groups" : "a", *n + routers,
                                      *n + routers * (s.a - 1) / 2 + int64_t{s.groups} * globals.used() / 2);
  if (!size.ok()) return size;

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(*n));
  const uint32_t first =
      b.AddVertices("router", VertexKind::kSwitch, static_cast<uint32_t>(routers), 1, {s.a, s.groups});
  const auto router = [&](int group, int i) {
    return first + static_cast<uint32_t>(group) * static_cast<uint32_t>(s.a) + static_cast<uint32_t>(i);
  };
  const uint16_t host = b.AddClass(classes->host);
  for (int d = 0; d < *n; ++d)
    b.AddLink(static_cast<uint32_t>(d), first + static_cast<uint32_t>(d / s.p), host);
  const uint16_t local = b.AddClass(classes->local);
  for (int group = 0; group < s.groups; ++group) {
    for (int i = 0; i < s.a; ++i) {
      for (int j = i + 1; j < s.a; ++j) b.AddLink(router(group, i), router(group, j), local);
    }
  }
  std::vector<uint16_t> rank =
      globals.Add(&b, b.AddClass(classes->global), s.h, [&](int group, int i) { return router(group, i); });
  return Finish(&b, std::make_shared<DragonflyGuide>(s, *n, std::move(rank)),
                absl::StrCat("p = ", s.p, ", a = ", s.a, ", h = ", s.h, ", ", s.groups, " groups"));
}

}  // namespace

NetworkKind DragonflyNetwork() {
  std::vector<Parameter> parameters = {
      {"p", "", "devices of a router, 1 to 4096; default: h"},
      {"a", "", "routers of a group, all linked to each other, 1 to 4096; default: 2h"},
      {"h", "", "global links of a router, 1 to 4096; default: a/2 or p, else the smallest with room"},
      {"groups", "", "1 to a*h+1, the default; with fewer, several links between two groups, evenly spread"}};
  DeclareLinkClasses(&parameters);
  return {"dragonfly",
          "Groups of routers all linked to each other, and every two groups linked: one global hop",
          "Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008",
          std::move(parameters), Build};
}

}  // namespace chakra
