// The networks rail_optimized and rail_only.
#include <algorithm>
#include <cmath>

#include "backends/topology/builders/clos.h"
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/compose.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMaxRailRadix = 4096;
constexpr int kMaxRails = 1024;

// The numbers of a rail-optimized network before its tiers are known.
struct Rail {
  int rails = 8;
  int nodes = 32;  // nodes of a unit, equal to the ports down of a leaf
  int tiers = 0;   // 0: the minimum for k
  int spines = 0;
  int pairs = 1;
  int units_per_pod = 0;    // 0: derived from k
  int cores_per_spine = 0;  // 0: derived from core_ratio
  double core_ratio = 1;
};

// A plan with room for all units that spines and cores of k ports can join. The plan has no leaves if k is
// too small for one unit.
ClosPlan PlanOf(const Rail& r, int k, int64_t units) {
  ClosPlan plan;
  plan.rails = r.rails;
  plan.hosts_per_leaf = r.nodes;
  plan.uppers = r.spines;
  plan.links_per_pair = r.pairs;
  const int most = k / r.pairs / r.rails;  // units below one spine
  if (r.tiers == 2 || (r.tiers == 0 && units <= most)) {
    plan.leaves_per_pod = most * r.rails;
    return plan;
  }
  int pod = r.units_per_pod;
  if (pod == 0)
    pod = static_cast<int>(std::floor(k * r.core_ratio / (r.core_ratio + 1) / r.pairs / r.rails + 1e-9));
  plan.leaves_per_pod = pod * r.rails;
  plan.cores_per_upper = r.cores_per_spine;
  if (plan.cores_per_upper == 0) {
    plan.cores_per_upper =
        std::max(1, static_cast<int>(std::ceil(plan.leaves_per_pod * r.pairs / r.core_ratio - 1e-9)));
  }
  plan.pods = k;
  return plan;
}

absl::Status Read(const Parameters& p, const char* key, int least, int most, int* out) {
  if (p.Empty(key)) return absl::OkStatus();
  const auto n = p.Count(key, least, most);
  if (n.ok()) *out = *n;
  return n.status();
}

absl::StatusOr<Rail> ReadRail(const Parameters& p, int per_card) {
  Rail r;
  int gpus = 8;
  for (auto s : {Read(p, "gpus_per_node", 1, kMaxRails, &gpus),
                 Read(p, "nodes_per_unit", 1, 1 << 14, &r.nodes), Read(p, "links_per_pair", 1, 64, &r.pairs),
                 Read(p, "tiers", 0, 3, &r.tiers), Read(p, "spines", 1, 1 << 14, &r.spines),
                 Read(p, "units_per_pod", 1, kMaxRailRadix, &r.units_per_pod),
                 Read(p, "cores_per_spine", 1, 1 << 14, &r.cores_per_spine)}) {
    if (!s.ok()) return s;
  }
  if (r.tiers == 1) return p.Bad("tiers", "0 (as few as k allows), 2 or 3; the nearest is 2");
  if (gpus % per_card != 0) {
    return p.Bad("gpus_per_node", absl::StrCat("a multiple of devices_per_nic (", per_card, "), ",
                                               (gpus / per_card + 1) * per_card, " for instance"));
  }
  r.rails = gpus / per_card;
  ASSIGN_OR_RETURN(const auto o, ReadRatio(p, "oversubscription"));
  ASSIGN_OR_RETURN(r.core_ratio, ReadRatio(p, "core_oversubscription"));
  if (r.spines == 0) {
    const double spines = r.nodes / o / r.pairs;
    r.spines = static_cast<int>(std::round(spines));
    if (r.spines < 1 || std::abs(spines - r.spines) > 1e-6) {
      return p.Bad(
          "oversubscription",
          absl::StrCat(
              "a ratio that leaves whole spines: nodes_per_unit / oversubscription / links_per_pair is ",
              spines, "; spines=", std::max(1, r.spines), " is the nearest"));
    }
  }
  return r;
}

absl::StatusOr<int> RadixOf(const Parameters& p, const Rail& r) {
  if (p.Empty("k")) return std::max({2 * r.nodes, r.nodes + r.spines * r.pairs, 2 * r.rails * r.pairs});
  const auto k = p.Count("k", 2, kMaxRailRadix);
  if (k.ok() && r.nodes + r.spines * r.pairs > *k) {
    return p.Bad("k", absl::StrCat("at least ", r.nodes + r.spines * r.pairs, ": a leaf has ", r.nodes,
                                   " ports down and ", r.spines * r.pairs, " up"));
  }
  return k;
}

// The plan for `units` units; error if k does not fit.
absl::StatusOr<ClosPlan> PlanUnits(const Parameters& p, const Rail& r, int k, int units) {
  const ClosPlan plan = PlanOf(r, k, units);
  if (plan.leaves_per_pod == 0) {
    int least = k;
    while (PlanOf(r, least, units).leaves_per_pod == 0) ++least;
    return p.Bad("k", absl::StrCat("at least ", least, ", because a unit has ", r.rails,
                                   " leaves, and a spine of k=", k, " joins fewer"));
  }
  const int spine = plan.leaves_per_pod * r.pairs + plan.cores_per_upper;
  if (plan.Tiers() == 3 && spine > k && p.Given("k")) {
    return p.Bad("k", absl::StrCat("at least ", spine,
                                   ", the ports of a spine with units_per_pod and cores_per_spine"));
  }
  return plan;
}

// The number of devices, from `asked`, the plan's room and the parameter `units` (`given`; 0: not given).
// `units`: units that are needed. `unit`: devices of a unit.
absl::StatusOr<int> RailDevices(const Parameters& p, const Rail& r, const ClosPlan& plan, int k, int asked,
                                int units, int given, int64_t unit) {
  std::string fits;
  for (int more = k + 2; more <= kMaxRailRadix && fits.empty(); more += 2) {
    if (PlanOf(r, more, units).Room() >= int64_t{units} * r.rails * r.nodes) fits = absl::StrCat("k=", more);
  }
  const int64_t most = plan.Room() / (int64_t{r.rails} * r.nodes);
  if (given == 0) return DevicesOf(p, asked, (asked == 0 ? 1 : most) * unit, fits);
  if (given > most) {
    return p.Bad("units", absl::StrCat("at most ", most, " with k=", k,
                                       fits.empty() || asked > 0 ? "" : absl::StrCat(", or ", fits)));
  }
  return DevicesOf(p, asked, given * unit, absl::StrCat("units=", units));
}

absl::StatusOr<Network> BuildRailOptimized(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto nics, ReadNics(p));
  ASSIGN_OR_RETURN(const auto r, ReadRail(p, nics.per_card));
  ASSIGN_OR_RETURN(const auto k, RadixOf(p, r));
  int given = 0;
  RETURN_IF_ERROR(Read(p, "units", 1, 1 << 20, &given));
  const int64_t unit = int64_t{r.rails} * r.nodes * nics.per_card;
  int units = static_cast<int>((devices + unit - 1) / unit);
  if (devices == 0) units = std::max(1, given);
  ASSIGN_OR_RETURN(const auto plan, PlanUnits(p, r, k, units));
  ASSIGN_OR_RETURN(const auto n, RailDevices(p, r, plan, k, devices, units, given, unit));
  ASSIGN_OR_RETURN(const auto links, ReadClosLinks(p, plan.Tiers(), 3));
  return WithNics(BuildClos(plan, nics.Ports(n), links), n, nics);
}

// The switches of one rail, with the fewest tiers of k-port switches.
absl::StatusOr<ClosPlan> RailPlan(const Parameters& p, int nodes) {
  ClosPlan plan;
  plan.hosts_per_leaf = nodes;
  if (p.Empty("k")) return plan;
  ASSIGN_OR_RETURN(const auto k, p.Count("k", 2, kMaxRailRadix));
  if (nodes <= k) return plan;
  const int half = k / 2;
  plan.hosts_per_leaf = plan.uppers = half;
  plan.leaves_per_pod = k;
  if (nodes <= plan.Room()) return plan;
  plan.leaves_per_pod = plan.cores_per_upper = half;
  plan.pods = k;
  if (nodes <= plan.Room()) return plan;
  int more = k;
  while (int64_t{more / 2} * (more / 2) * more < nodes) ++more;
  return p.Bad("k", absl::StrCat("at least ", more, " for ", nodes, " nodes in three tiers"));
}

absl::StatusOr<Network> BuildRailOnly(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto rails, p.Count("gpus_per_node", 1, kMaxRails));
  int nodes = devices / rails;
  if (devices % rails != 0) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", devices,
                                                   " devices; expected whole nodes of ", rails, ": ",
                                                   (nodes + 1) * rails, " for instance"));
  }
  if (!p.Empty("nodes")) {
    ASSIGN_OR_RETURN(const auto room, p.Count("nodes", 1, kMaxNetworkDevices / rails));
    ASSIGN_OR_RETURN(const auto n,
                     DevicesOf(p, devices, int64_t{room} * rails, absl::StrCat("nodes=", nodes)));
    nodes = n / rails;
  }
  if (nodes == 0) return p.Bad("nodes", "how many, or a number of devices to connect");
  ASSIGN_OR_RETURN(const auto plan, RailPlan(p, nodes));
  ASSIGN_OR_RETURN(const auto links, ReadClosLinks(p, plan.Tiers(), 3));
  ASSIGN_OR_RETURN(const auto scale_up,
                   ClassOf(p, "scale-up", "scale_up", "scale_up_latency", /*any_rate=*/true));
  ASSIGN_OR_RETURN(const auto rail, BuildClos(plan, nodes, links));
  return Rails(rail, rails, scale_up);
}

}  // namespace

NetworkKind RailOptimizedNetwork() {
  return {
      "rail_optimized", "Devices at the same position in their nodes share a leaf; spines join the leaves",
      "NVIDIA DGX SuperPOD reference architecture",
      Concat(
          {{"gpus_per_node", "8", "devices of a node; device d is on leaf d mod gpus_per_node of its unit"},
           {"nodes_per_unit", "32", "nodes of a scalable unit: the ports down of a leaf"},
           {"units", "", "limit of units; default: as many as the devices need"},
           {"k", "",
            "ports of a switch; default: twice nodes_per_unit, or more if spines or gpus_per_node need more"},
           {"tiers", "0", "number of tiers: 0 (as few as k allows), 2 or 3"},
           {"oversubscription", "1:1", "ports down : ports up at a leaf, 1:64 to 64:1"},
           {"links_per_pair", "1", "links between a leaf and a spine"},
           {"spines", "", "spines of a pod; default: nodes_per_unit / oversubscription / links_per_pair"},
           {"units_per_pod", "", "with three tiers: units below the same spines; default: as k allows"},
           {"core_oversubscription", "1:1", "ports down : ports up below the cores, 1:64 to 64:1"},
           {"cores_per_spine", "", "links up of a spine; default: by core_oversubscription, rounded up"}},
          Concat(ClosLinkParameters(3), NicParameters())),
      BuildRailOptimized};
}

NetworkKind RailOnlyNetwork() {
  return {"rail_only",
          "Nodes with a switch inside, and one network for each position in the node; devices forward",
          "Wang et al., arXiv 2307.12169",
          Concat({{"gpus_per_node", "8", "devices of a node, which is the number of rails, 1 to 1024"},
                  {"nodes", "", "number; default: as many as the devices need"},
                  {"k", "",
                   "ports of a switch of a rail, which has as many tiers as it needs; default: one switch"},
                  {"scale_up", "450GB/s", "rate between a device and the switch inside its node"},
                  {"scale_up_latency", "25ns", "latency of that link"}},
                 ClosLinkParameters(3)),
          BuildRailOnly,
          /*whole=*/true};
}

}  // namespace chakra
