// Trees of leaves, spines and cores: the common part of fat_tree, leaf_spine, rail_optimized and rail_only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/network.h"

namespace chakra {

// A folded Clos network of one to three tiers. Each leaf of a pod is linked to every upper switch of the pod
// `links_per_pair` times. With three tiers, upper switch i of each pod is linked once to each of the
// `cores_per_upper` cores of group i. With one or two tiers there is a single pod.
struct ClosPlan {
  int hosts_per_leaf = 1;
  int rails = 1;           // port p is on leaf p mod `rails` of unit p / (rails * hosts_per_leaf)
  int leaves_per_pod = 1;  // a multiple of `rails`
  int pods = 1;
  int uppers = 0;  // 0: one tier
  int links_per_pair = 1;
  int cores_per_upper = 0;  // 0: at most two tiers

  int64_t Room() const { return int64_t{hosts_per_leaf} * leaves_per_pod * pods; }
  int Tiers() const { return uppers == 0 ? 1 : cores_per_upper == 0 ? 2 : 3; }
  // "2 tiers, 1.5:1 at the leaves, ..."; ratios compare links * rate.
  std::string Note(int leaves, int pods_built, double host_rate, double up_rate, double core_rate) const;
};

struct ClosLinks {
  LinkClass host, up, core;
};

// Builds the network for `ports` devices. Leaves are filled in order; pods and leaves without devices are
// left out, but all spines and cores are built. The guide goes up to the lowest common switch and then down,
// by formula. Precondition: 1 <= ports <= plan.Room().
absl::StatusOr<Network> BuildClos(const ClosPlan& plan, int ports, const ClosLinks& links);

// The parameters for rates and latencies of a kind of network with up to `tiers` tiers.
std::vector<Parameter> ClosLinkParameters(int tiers);
// `tiers`: the tiers of this network; `most`: the maximum of its kind.
absl::StatusOr<ClosLinks> ReadClosLinks(const Parameters& p, int tiers, int most);

// Reads a ratio of ports down to ports up, such as "7:1", or only the first number if the second is 1. Range:
// 1/64 to 64.
absl::StatusOr<double> ReadRatio(const Parameters& p, absl::string_view key);

// The whole number of ports down, of k, such that down : (k - down) is `ratio` : 1; 0 if there is none.
int DownPorts(int k, double ratio);

}  // namespace chakra
