#include <algorithm>
#include <utility>

#include "backends/topology/builders/global_links.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMaxBalancedPlus = 46;  // room for more than kMaxNetworkDevices

struct PlusShape {
  int p = 0, l = 0, s = 0, h = 0;  // devices of a leaf; leaves and spines of a group; global links of a spine
  int groups = 0;
  int64_t Room() const { return int64_t{p} * l * groups; }
};

PlusShape BalancedPlus(int n, int groups) {
  return {n, n, n, n, groups > 0 ? groups : static_cast<int>(int64_t{n} * n + 1)};
}

// Routes: leaf, spine, global link, spine, leaf. From a spine without a link to the destination's group, the
// route goes back over a leaf. Arcs are numbered in the order in which BuildDragonflyPlus() adds links.
class DragonflyPlusGuide : public GroupGuide {
 public:
  DragonflyPlusGuide(const PlusShape& shape, const GroupPlan& plan, std::vector<uint16_t> rank)
      : GroupGuide(plan, shape.p, shape.h, std::move(rank)), shape_(shape), leaves_(shape.l * shape.groups) {}

 private:
  int GroupOf(int sw) const { return sw < leaves_ ? sw / shape_.l : (sw - leaves_) / shape_.s; }
  uint32_t Begin(int leaf) const override {
    return ArcsOfHosts(leaf) + static_cast<uint32_t>(leaf) * static_cast<uint32_t>(shape_.s);
  }
  uint32_t Up(int leaf, int spine) const { return AfterHosts(leaf) + static_cast<uint32_t>(spine); }
  uint32_t Down(int spine, int leaf) const {
    return Begin(leaves_) + static_cast<uint32_t>(spine) * static_cast<uint32_t>(shape_.l) +
           GlobalsBefore(spine / shape_.s, spine % shape_.s) + static_cast<uint32_t>(leaf);
  }

  void Between(int here, int there, std::vector<uint32_t>* arcs) const override {
    if (here < leaves_) {
      FromLeaf(here, there, arcs);
    } else {
      FromSpine(here - leaves_, there, arcs);
    }
  }

  void FromLeaf(int here, int there, std::vector<uint32_t>* arcs) const {
    const int group = here / shape_.l, target = GroupOf(there);
    if (group != target) {
      const size_t first = arcs->size();
      ForEachPort(group, target, [&](int port) { AddOnce(Up(here, port / shape_.h), first, arcs); });
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
    if (group != target) {
      ForEachPort(group, target, [&](int port) {
        if (port / shape_.h != here % shape_.s) return;
        arcs->push_back(Down(here, shape_.l) + Rank(group, port));
      });
    }
    if (arcs->size() > first) return;
    for (int leaf = 0; leaf < shape_.l; ++leaf) arcs->push_back(Down(here, leaf));
  }

  PlusShape shape_;
  int leaves_;
};

absl::StatusOr<PlusShape> PlusShapeOf(const Parameters& p, int devices) {
  PlusShape s;
  RETURN_IF_ERROR(
      ReadGroupSizes(p, {{"p", &s.p}, {"l", &s.l}, {"s", &s.s}, {"h", &s.h}, {"groups", &s.groups}}));
  int n = 0;
  for (const int given : {s.l, s.s, s.h, s.p}) n = n == 0 ? given : n;
  if (n == 0) {
    n = devices == 0 ? 2 : 1;
    const auto enough = [&] {
      return BalancedPlus(n, s.groups).Room() >= devices && s.groups <= int64_t{n} * n + 1;
    };
    while (n < kMaxGroupPorts && !enough()) ++n;
  }
  for (int* size : {&s.p, &s.l, &s.s, &s.h}) *size = *size == 0 ? n : *size;
  RETURN_IF_ERROR(ChooseGroups(p, "s", s.s, s.h, &s.groups));
  return s;
}

std::string NearestPlus(int devices) {
  int n = 1;
  while (n < kMaxBalancedPlus && BalancedPlus(n, 0).Room() < devices) ++n;
  return absl::StrCat("p=", n, ",l=", n, ",s=", n, ",h=", n, " with room for ", BalancedPlus(n, 0).Room());
}

absl::StatusOr<Network> BuildDragonflyPlus(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const PlusShape& s, PlusShapeOf(p, devices));
  const int64_t leaves = int64_t{s.l} * s.groups, spines = int64_t{s.s} * s.groups;
  ASSIGN_OR_RETURN(const auto plan,
                   PlanGroups(p, devices, {s.Room(), NearestPlus(devices), leaves + spines, leaves * s.s},
                              "s", GlobalLinks(s.groups, s.s * s.h)));

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(plan.devices));
  const uint32_t leaf =
      b.AddVertices("leaf", VertexKind::kSwitch, static_cast<uint32_t>(leaves), 1, {s.l, s.groups});
  const uint32_t spine =
      b.AddVertices("spine", VertexKind::kSwitch, static_cast<uint32_t>(spines), 2, {s.s, s.groups});
  AddHosts(&b, plan, s.p, leaf);
  const uint16_t local = b.AddClass(plan.classes.local);
  const auto spine_of = [&](int group, int i) {
    return spine + static_cast<uint32_t>(group) * static_cast<uint32_t>(s.s) + static_cast<uint32_t>(i);
  };
  for (int i = 0; i < static_cast<int>(leaves); ++i) {
    for (int j = 0; j < s.s; ++j) b.AddLink(leaf + static_cast<uint32_t>(i), spine_of(i / s.l, j), local);
  }
  std::vector<uint16_t> rank = plan.links.Add(&b, b.AddClass(plan.classes.global), s.h, spine_of);
  return Finish(
      &b, std::make_shared<DragonflyPlusGuide>(s, plan, std::move(rank)),
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
      {"groups", "",
       "number of groups, 1 to s*h+1; default: s*h+1; with fewer, several links between two groups, spread "
       "evenly"}};
  DeclareLinkClasses(&parameters);
  return {"dragonfly_plus",
          "Groups of leaves and spines, the spines of every two groups linked: leaf, spine, spine, leaf",
          "Shpiner et al.: Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017",
          std::move(parameters), BuildDragonflyPlus};
}

}  // namespace chakra
