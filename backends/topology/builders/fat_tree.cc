// The networks fat_tree and leaf_spine.
#include <cmath>

#include "backends/topology/builders/clos.h"
#include "backends/topology/builders/common.h"
#include "backends/topology/builders/compose.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMaxRadix = 4096;
constexpr int kMaxPart = 1 << 16;

// The names of the network's parameters for these numbers; null: no such parameter.
struct Keys {
  const char *leaves, *uppers, *pods, *cores;
};
constexpr Keys kLeafSpine = {"leaves", "spines", nullptr, nullptr};
constexpr Keys kFatTree = {"leaves_per_pod", "aggs_per_pod", "pods", "cores_per_agg"};

struct Ratios {
  double leaf = 1, core = 1;
};

// The plan with switches of k ports (Al-Fares 2008 for 1:1). The plan has no leaves if the ratios cannot
// split k.
ClosPlan PlanOfRadix(int k, int tiers, const Ratios& ratios) {
  ClosPlan plan;
  plan.hosts_per_leaf = DownPorts(k, ratios.leaf);
  plan.uppers = k - plan.hosts_per_leaf;
  plan.leaves_per_pod = tiers == 2 ? k : DownPorts(k, ratios.core);
  if (plan.hosts_per_leaf == 0) plan.leaves_per_pod = 0;
  if (tiers == 3) {
    plan.cores_per_upper = k - plan.leaves_per_pod;
    plan.pods = k;
  }
  return plan;
}

// The smallest k >= `from` that the ratios can split, that is even unless equal to `from`, and that has room;
// 0: none.
int RadixFor(int from, int64_t ports, int tiers, const Ratios& ratios) {
  for (int k = from; k <= kMaxRadix; k += k % 2 == 1 ? 1 : 2) {
    const ClosPlan plan = PlanOfRadix(k, tiers, ratios);
    if (plan.leaves_per_pod > 0 && plan.Room() >= ports) return k;
  }
  return 0;
}

absl::StatusOr<ClosPlan> PlanByRadix(const Parameters& p, int ports, int tiers, const Ratios& ratios) {
  if (p.Empty("k")) {
    if (ports == 0)
      return p.Bad("k", "the ports of a switch, 64 for instance, or a number of devices to connect");
    const int k = RadixFor(2, ports, tiers, ratios);
    if (k > 0) return PlanOfRadix(k, tiers, ratios);
    if (RadixFor(2, 1, tiers, ratios) == 0) {
      return p.Bad("oversubscription", absl::StrCat("a ratio that some even k up to ", kMaxRadix,
                                                    " splits into whole ports, 1, 3 or 7 for instance"));
    }
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", ports, " devices; expected at most ",
                                                   PlanOfRadix(kMaxRadix, tiers, ratios).Room(),
                                                   ", with k=", kMaxRadix));
  }
  ASSIGN_OR_RETURN(const auto k, p.Count("k", 2, kMaxRadix));
  const ClosPlan plan = PlanOfRadix(k, tiers, ratios);
  if (plan.leaves_per_pod > 0) return plan;
  const int next = RadixFor(k + 1, 1, tiers, ratios);
  const bool even = ratios.leaf == 1 && ratios.core == 1;
  return p.Bad("k", absl::StrCat(even ? "an even number" : "a number that the ratios split into whole ports",
                                 next > 0 ? absl::StrCat(", ", next, " for instance") : ""));
}

// `value` as a whole number; an error about `key` if it is not whole.
absl::StatusOr<int> Whole(const Parameters& p, const char* key, double value, absl::string_view of) {
  const double whole = std::round(value);
  if (whole >= 1 && whole <= kMaxPart && std::abs(value - whole) < 1e-6 * whole)
    return static_cast<int>(whole);
  return p.Bad(key, absl::StrCat("a value, because ", of, " gives ", value, "; the nearest is ",
                                 std::max(1.0, std::min(whole, double(kMaxPart)))));
}

absl::Status CheckPorts(const Parameters& p, const Keys& keys, const ClosPlan& plan) {
  ASSIGN_OR_RETURN(const auto k, p.Count("k", 2, kMaxRadix));
  const int64_t leaf = plan.hosts_per_leaf + int64_t{plan.uppers} * plan.links_per_pair;
  const int64_t upper = int64_t{plan.leaves_per_pod} * plan.links_per_pair + plan.cores_per_upper;
  const int64_t most = std::max(std::max(leaf, upper), int64_t{plan.pods});
  if (most <= k) return absl::OkStatus();
  return p.Bad(
      "k", absl::StrCat("at least ", most, ": a leaf has ", leaf, " ports, one of ", keys.uppers, " ", upper,
                        keys.pods == nullptr ? "" : absl::StrCat(", a core ", plan.pods)));
}

// Reads `key`; without `key`, `fallback`. Error if the value is not a count.
absl::Status ReadNumber(const Parameters& p, const char* key, int fallback, int* out) {
  if (!p.Empty(key)) {
    const auto n = p.Count(key, 1, kMaxPart);
    if (n.ok()) *out = *n;
    return n.status();
  }
  if (fallback < 1) return p.Bad(key, absl::StrCat("how many, 1 to ", kMaxPart, ", or k"));
  *out = fallback;
  return absl::OkStatus();
}

// As ReadNumber(), with a fallback that is derived from other numbers.
absl::Status ReadDerived(const Parameters& p, const char* key, double value, absl::string_view of, int* out) {
  if (!p.Empty(key)) return ReadNumber(p, key, 0, out);
  const auto n = Whole(p, key, value, of);
  if (n.ok()) *out = *n;
  return n.status();
}

// `leaves`: the number that the devices need; 0: unknown. `radix`: the plan for k, or null.
absl::Status ReadPods(const Parameters& p, const Keys& keys, const ClosPlan* radix, int leaves, double ratio,
                      ClosPlan* plan) {
  const int pods = radix != nullptr ? radix->pods : leaves == 0 ? 0 : (leaves - 1) / plan->leaves_per_pod + 1;
  RETURN_IF_ERROR(ReadNumber(p, keys.pods, std::min(pods, kMaxPart), &plan->pods));
  return ReadDerived(p, keys.cores, double(plan->leaves_per_pod) * plan->links_per_pair / ratio,
                     "leaves_per_pod, links_per_pair and core_oversubscription", &plan->cores_per_upper);
}

// Reads each number, or derives it from `k`, the ratios and the devices.
absl::StatusOr<ClosPlan> PlanByNumbers(const Parameters& p, const Keys& keys, int ports,
                                       const Ratios& ratios) {
  const bool by_k = !p.Empty("k"), two = keys.pods == nullptr;
  ClosPlan radix, plan;
  if (by_k) {
    ASSIGN_OR_RETURN(radix, PlanByRadix(p, ports, two ? 2 : 3, ratios));
  }
  RETURN_IF_ERROR(ReadNumber(p, "hosts_per_leaf", by_k ? radix.hosts_per_leaf : 0, &plan.hosts_per_leaf));
  RETURN_IF_ERROR(ReadNumber(p, "links_per_pair", 1, &plan.links_per_pair));
  const int needed = ports == 0 ? 0 : (ports - 1) / plan.hosts_per_leaf + 1;
  const int leaves = by_k ? radix.leaves_per_pod : two ? std::min(needed, kMaxPart) : 0;
  RETURN_IF_ERROR(ReadNumber(p, keys.leaves, leaves, &plan.leaves_per_pod));
  RETURN_IF_ERROR(ReadDerived(p, keys.uppers, plan.hosts_per_leaf / ratios.leaf / plan.links_per_pair,
                              "hosts_per_leaf, oversubscription and links_per_pair", &plan.uppers));
  if (!two) {
    RETURN_IF_ERROR(ReadPods(p, keys, by_k ? &radix : nullptr, needed, ratios.core, &plan));
  }
  if (by_k) {
    RETURN_IF_ERROR(CheckPorts(p, keys, plan));
  }
  return plan;
}

// Builds the network of a plan; `fits` names parameters with more room.
absl::StatusOr<Network> BuildPlan(const Parameters& p, int devices, const ClosPlan& plan, const Keys& keys,
                                  const NicOptions& nics, absl::string_view fits) {
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, plan.Room() * nics.per_card, fits));
  ASSIGN_OR_RETURN(const auto links, ReadClosLinks(p, plan.Tiers(), keys.pods == nullptr ? 2 : 3));
  return WithNics(BuildClos(plan, nics.Ports(n), links), n, nics);
}

bool AnyGiven(const Parameters& p, const Keys& keys) {
  for (const char* key :
       {"hosts_per_leaf", "links_per_pair", keys.leaves, keys.uppers, keys.pods, keys.cores}) {
    if (key != nullptr && p.Given(key)) return true;
  }
  return false;
}

absl::StatusOr<Network> BuildTree(const Parameters& p, int devices, int tiers, const Keys& keys,
                                  const Ratios& ratios) {
  ASSIGN_OR_RETURN(const auto nics, ReadNics(p));
  const int ports = nics.Ports(devices);
  const bool by_numbers = AnyGiven(p, keys);
  ASSIGN_OR_RETURN(const auto plan,
                   by_numbers ? PlanByNumbers(p, keys, ports, ratios) : PlanByRadix(p, ports, tiers, ratios));
  std::string fits;
  if (by_numbers) {
    const char* key = keys.pods == nullptr ? keys.leaves : keys.pods;
    const int64_t each = int64_t{plan.hosts_per_leaf} * (keys.pods == nullptr ? 1 : plan.leaves_per_pod);
    const int64_t need = (ports + each - 1) / each;
    fits = need <= kMaxPart ? absl::StrCat(key, "=", need) : "more devices a leaf";
  } else if (const int k = RadixFor(2, ports, tiers, ratios); k > 0) {
    fits = absl::StrCat("k=", k);
  }
  return BuildPlan(p, devices, plan, keys, nics, fits);
}

absl::StatusOr<Network> BuildLeafSpine(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto o, ReadRatio(p, "oversubscription"));
  return BuildTree(p, devices, 2, kLeafSpine, {o, 1});
}

absl::StatusOr<Network> BuildFatTree(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto tiers, p.Count("tiers", 2, 3));
  ASSIGN_OR_RETURN(const auto o, ReadRatio(p, "oversubscription"));
  ASSIGN_OR_RETURN(const auto core, ReadRatio(p, "core_oversubscription"));
  if (tiers == 2) {
    for (const char* key : {"core_oversubscription", "core_link", "core_latency", "hosts_per_leaf",
                            "leaves_per_pod", "aggs_per_pod", "pods", "cores_per_agg", "links_per_pair"}) {
      if (p.Given(key)) return p.Bad(key, "tiers=3 with it (leaf_spine accepts these numbers for two tiers)");
    }
  }
  return BuildTree(p, devices, tiers, kFatTree, {o, core});
}

}  // namespace

NetworkKind LeafSpineNetwork() {
  return {"leaf_spine", "Two tiers of switches: every leaf linked to every spine",
          "C. Clos 1953; with k ports: k leaves of k*o/(o+1) devices, k/(o+1) spines",
          Concat({{"k", "", "ports of a switch; default: the least even number with room for the devices"},
                  {"oversubscription", "1:1", "ports down : ports up at a leaf, 1:64 to 64:1"},
                  {"leaves", "", "limit of leaves; default: k, or as many as the devices need"},
                  {"hosts_per_leaf", "", "ports down of a leaf; default: by k and oversubscription"},
                  {"spines", "", "number; default: hosts_per_leaf / oversubscription / links_per_pair"},
                  {"links_per_pair", "1", "links between a leaf and a spine"}},
                 Concat(ClosLinkParameters(2), NicParameters())),
          BuildLeafSpine};
}

NetworkKind FatTreeNetwork() {
  return {"fat_tree", "Fat tree of equal switches, two or three tiers, or a Clos network by numbers",
          "Al-Fares et al., SIGCOMM 2008",
          Concat({{"tiers", "3", "number of tiers: 2 or 3"},
                  {"k", "", "ports of a switch; default: the least even number with room for the devices"},
                  {"oversubscription", "1:1", "ports down : ports up at a leaf, 1:64 to 64:1"},
                  {"core_oversubscription", "1:1",
                   "ports down : ports up below the cores, 1:64 to 64:1; three tiers"},
                  {"pods", "", "limit of pods; default: k, or as many as the devices need"},
                  {"leaves_per_pod", "", "number of leaves; default: by k and core_oversubscription"},
                  {"hosts_per_leaf", "", "ports down of a leaf; default: by k and oversubscription"},
                  {"aggs_per_pod", "", "number; default: hosts_per_leaf / oversubscription / links_per_pair"},
                  {"cores_per_agg", "",
                   "links up of an upper switch, which is the number of cores of its group; default: "
                   "leaves_per_pod * links_per_pair / core_oversubscription"},
                  {"links_per_pair", "1", "links between a leaf and an upper switch of its pod"}},
                 Concat(ClosLinkParameters(3), NicParameters())),
          BuildFatTree};
}

}  // namespace chakra
