#include "replay/cluster/options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/topology/routing/router.h"
#include "replay/cluster/faults.h"
#include "replay/cluster/mixed.h"
#include "replay/cluster/packet.h"
#include "replay/cluster/terms.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

// Whether some dimension is a network. Dimensions that faults name become networks.
bool HasNetwork(const proto::Topology& topology) {
  return topology.fault_size() > 0 ||
         std::any_of(topology.dimension().begin(), topology.dimension().end(),
                     [](const proto::Dimension& d) { return d.kind() == proto::Dimension::NETWORK; });
}

}  // namespace

absl::Status SetRouting(const std::string& text, proto::Topology* topology) {
  ASSIGN_OR_RETURN(auto form, ParseShortForm(text));
  auto policy = ParseRoutingPolicy(form.name);
  if (!policy.ok()) return policy.status();
  // Replaces all routing options except the files of routes.
  proto::Routing routing;
  *routing.mutable_route_file() = topology->routing().route_file();
  routing.set_policy(form.name);
  const auto routes =
      std::find_if(form.set.begin(), form.set.end(), [](const auto& item) { return item.first == "routes"; });
  std::string file;
  if (routes != form.set.end()) {
    file = std::string(WithoutParentheses(routes->second));
    form.set.erase(routes);
  }
  if (absl::Status s = ReadSettings(form, &routing); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("routing ", form.name, ": ", s.message()));
  }
  *topology->mutable_routing() = routing;
  if (file.empty()) return absl::OkStatus();
  int networks = 0;
  for (const proto::Dimension& d : topology->dimension())
    networks += d.kind() == proto::Dimension::NETWORK ? 1 : 0;
  proto::Routing* r = topology->mutable_routing();
  while (r->route_file_size() < networks - 1) r->add_route_file("");
  r->add_route_file(file);
  return absl::OkStatus();
}

absl::Status ApplyTopologyOptions(const TopologyOptions& options, proto::Cluster* cluster,
                                  std::vector<std::string>* notes) {
  if (!options.network.empty()) {
    if (absl::Status s = ReplaceNetwork(options.network, cluster, notes); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--network: ", s.message()));
    }
  }
  if (!options.routing.empty()) {
    if (absl::Status s = SetRouting(options.routing, cluster->mutable_topology()); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--routing: ", s.message()));
    }
  }
  for (const std::string& fault : options.faults) {
    RETURN_IF_ERROR(AddFault(fault, cluster->mutable_topology()));
  }
  if (!options.packet.empty()) {
    RETURN_IF_ERROR(SetPacket(options.packet, cluster));
  }
  for (const std::string& choice : options.mixed) {
    RETURN_IF_ERROR(AddPacketChoice(choice, cluster));
  }
  RETURN_IF_ERROR(SetFields(options.set, cluster));
  RETURN_IF_ERROR(TakeTerms(cluster));
  if (absl::Status s = BuildPacket(cluster->packet()).status(); !s.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.packet.empty() ? "" : "--packet and the ", s.message()));
  }
  if (!options.routing.empty() && !HasNetwork(cluster->topology())) {
    notes->push_back(absl::StrCat("no dimension of the cluster is a network: --routing ", options.routing,
                                  " is not used"));
  }
  return absl::OkStatus();
}

}  // namespace chakra
