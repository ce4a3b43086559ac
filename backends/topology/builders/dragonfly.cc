#include <algorithm>
#include <utility>

#include "backends/topology/builders/global_links.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// One more than the h of the largest balanced dragonfly within kMaxNetworkDevices.
constexpr int kMaxBalanced = 46;

struct Shape {
  int p = 0, a = 0, h = 0;  // devices of a router; routers of a group; global links of a router
  int groups = 0;
  int64_t Room() const { return int64_t{p} * a * groups; }
};

Shape Balanced(int h, int groups) {
  return {h, 2 * h, h, groups > 0 ? groups : static_cast<int>(2 * int64_t{h} * h + 1)};
}

// Routes with one global hop: local, global, local, where a local hop is left out if not needed. If two
// groups have several links, the route uses those on the shortest routes. Arcs are numbered in the order in
// which BuildDragonfly() adds links.
class DragonflyGuide : public GroupGuide {
 public:
  DragonflyGuide(const Shape& shape, const GroupPlan& plan, std::vector<uint16_t> rank)
      : GroupGuide(plan, shape.p, shape.h, std::move(rank)), shape_(shape) {}

 private:
  uint32_t Begin(int router) const override {
    return ArcsOfHosts(router) + static_cast<uint32_t>(router) * static_cast<uint32_t>(shape_.a - 1) +
           GlobalsBefore(router / shape_.a, router % shape_.a);
  }
  uint32_t Local(int router, int to) const {
    return AfterHosts(router) + static_cast<uint32_t>(to < router % shape_.a ? to : to - 1);
  }
  uint32_t Global(int router, int port) const {
    return AfterHosts(router) + static_cast<uint32_t>(shape_.a - 1) + Rank(router / shape_.a, port);
  }

  void Between(int here, int there, std::vector<uint32_t>* arcs) const override {
    if (here / shape_.a == there / shape_.a) {
      arcs->push_back(Local(here, there % shape_.a));
    } else {
      Leave(here, there, arcs);
    }
  }

  // Appends the arcs towards a router of another group.
  void Leave(int here, int there, std::vector<uint32_t>* arcs) const {
    const int group = here / shape_.a, self = here % shape_.a;
    const size_t first = arcs->size();
    int fewest = 3;
    ForEachPort(group, there / shape_.a, [&](int port) {
      const int router = port / shape_.h;
      const int end = links().Peer({group, port}).port / shape_.h;
      const int hops = (router != self ? 1 : 0) + 1 + (end != there % shape_.a ? 1 : 0);
      if (hops > fewest) return;
      if (hops < fewest) arcs->resize(first);
      fewest = hops;
      AddOnce(router == self ? Global(here, port) : Local(here, router), first, arcs);
    });
  }

  Shape shape_;
};

absl::StatusOr<Shape> ShapeOf(const Parameters& p, int devices) {
  Shape s;
  RETURN_IF_ERROR(ReadGroupSizes(p, {{"p", &s.p}, {"a", &s.a}, {"h", &s.h}, {"groups", &s.groups}}));
  if (s.p == 0 && s.a == 0 && s.h == 0) {
    int h = devices == 0 ? 2 : 1;
    const auto enough = [&] {
      const Shape b = Balanced(h, s.groups);
      return b.Room() >= devices && s.groups <= b.a * b.h + 1;
    };
    while (h < kMaxGroupPorts / 2 && !enough()) ++h;
    s = Balanced(h, s.groups);
  }
  if (s.h == 0) s.h = s.a > 0 ? (s.a + 1) / 2 : s.p;
  if (s.a == 0) s.a = 2 * s.h;
  if (s.p == 0) s.p = s.h;
  RETURN_IF_ERROR(ChooseGroups(p, "a", s.a, s.h, &s.groups));
  return s;
}

std::string Nearest(int devices) {
  int h = 1;
  while (h < kMaxBalanced && Balanced(h, 0).Room() < devices) ++h;
  return absl::StrCat("p=", h, ",a=", 2 * h, ",h=", h, " with room for ", Balanced(h, 0).Room());
}

absl::StatusOr<Network> BuildDragonfly(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const Shape& s, ShapeOf(p, devices));
  const int64_t routers = int64_t{s.a} * s.groups;
  ASSIGN_OR_RETURN(const auto plan,
                   PlanGroups(p, devices, {s.Room(), Nearest(devices), routers, routers * (s.a - 1) / 2}, "a",
                              GlobalLinks(s.groups, s.a * s.h)));

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(plan.devices));
  const uint32_t first =
      b.AddVertices("router", VertexKind::kSwitch, static_cast<uint32_t>(routers), 1, {s.a, s.groups});
  const auto router = [&](int group, int i) {
    return first + static_cast<uint32_t>(group) * static_cast<uint32_t>(s.a) + static_cast<uint32_t>(i);
  };
  AddHosts(&b, plan, s.p, first);
  const uint16_t local = b.AddClass(plan.classes.local);
  for (int group = 0; group < s.groups; ++group) {
    for (int i = 0; i < s.a; ++i) {
      for (int j = i + 1; j < s.a; ++j) b.AddLink(router(group, i), router(group, j), local);
    }
  }
  std::vector<uint16_t> rank = plan.links.Add(&b, b.AddClass(plan.classes.global), s.h, router);
  return Finish(&b, std::make_shared<DragonflyGuide>(s, plan, std::move(rank)),
                absl::StrCat("p = ", s.p, ", a = ", s.a, ", h = ", s.h, ", ", s.groups, " groups"));
}

}  // namespace

NetworkKind DragonflyNetwork() {
  std::vector<Parameter> parameters = {
      {"p", "", "devices of a router, 1 to 4096; default: h"},
      {"a", "", "routers of a group, all linked to each other, 1 to 4096; default: 2h"},
      {"h", "", "global links of a router, 1 to 4096; default: a/2 or p, else the smallest with room"},
      {"groups", "",
       "number of groups, 1 to a*h+1; default: a*h+1; with fewer, several links between two groups, spread "
       "evenly"}};
  DeclareLinkClasses(&parameters);
  return {"dragonfly",
          "Groups of routers all linked to each other, and every two groups linked: one global hop",
          "Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008",
          std::move(parameters), BuildDragonfly};
}

}  // namespace chakra
