#include "backends/topology/network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/topology/size.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {

// Each kind is in its own file in builders/.
NetworkKind DgxPodNetwork();
NetworkKind DragonflyNetwork();
NetworkKind DragonflyPlusNetwork();
NetworkKind FatTreeNetwork();
NetworkKind FullMeshNetwork();
NetworkKind HyperXNetwork();
NetworkKind HypercubeNetwork();
NetworkKind LeafSpineNetwork();
NetworkKind MeshNetwork();
NetworkKind MultiPlaneNetwork();
NetworkKind Nvl72Network();
NetworkKind RailOnlyNetwork();
NetworkKind RailOptimizedNetwork();
NetworkKind RingNetwork();
NetworkKind SlimFlyNetwork();
NetworkKind SwitchNetwork();
NetworkKind TorusNetwork();
NetworkKind TpuPodNetwork();
NetworkKind Trn2Network();

namespace {

// A parameter of all networks that are not whole machines.
constexpr char kInjectionKey[] = "injection";
Parameter InjectionParameter() {
  return {
      kInjectionKey, "",
      "total rate of all ports of a device; their links are scaled by one factor; default: rates as given"};
}

}  // namespace

const std::vector<NetworkKind>& NetworkKinds() {
  static const std::vector<NetworkKind>* const kKinds = [] {
    auto* kinds = new std::vector<NetworkKind>{
        DgxPodNetwork(), DragonflyNetwork(), DragonflyPlusNetwork(), FatTreeNetwork(), FullMeshNetwork(),
        HyperXNetwork(), HypercubeNetwork(), LeafSpineNetwork(),     MeshNetwork(),    MultiPlaneNetwork(),
        Nvl72Network(),  RailOnlyNetwork(),  RailOptimizedNetwork(), RingNetwork(),    SlimFlyNetwork(),
        SwitchNetwork(), TorusNetwork(),     TpuPodNetwork(),        Trn2Network(),
    };
    for (NetworkKind& kind : *kinds) {
      if (!kind.whole) kind.parameters.push_back(InjectionParameter());
    }
    std::sort(kinds->begin(), kinds->end(),
              [](const NetworkKind& a, const NetworkKind& b) { return absl::string_view(a.name) < b.name; });
    return kinds;
  }();
  return *kKinds;
}

namespace {

absl::StatusOr<const NetworkKind*> FindKind(const std::string& name) {
  std::vector<std::string> names;
  for (const NetworkKind& kind : NetworkKinds()) {
    names.emplace_back(kind.name);
    if (name == kind.name) return &kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no network \"", name, "\"", SuggestName(name, names)));
}

}  // namespace

absl::Status CheckParameters(const NetworkSpec& spec) {
  ASSIGN_OR_RETURN(auto kind, FindKind(spec.name));
  return Parameters::Make(spec, kind->parameters, {}, kind->name).status();
}

absl::StatusOr<Network> BuildNetwork(const NetworkSpec& spec, int devices, const Cards& cards) {
  ASSIGN_OR_RETURN(auto kind, FindKind(spec.name));
  ASSIGN_OR_RETURN(auto parameters,
                   Parameters::Make(spec, kind->parameters, kind->whole ? Cards() : cards, kind->name));
  auto network = kind->build(parameters, devices);
  if (!network.ok() || parameters.Empty(kInjectionKey)) return network;
  ASSIGN_OR_RETURN(const auto injection, parameters.Rate(kInjectionKey, /*any_rate=*/true));
  auto scaled = WithInjection(network->graph, injection);
  if (!scaled.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(spec.name, ": ", scaled.status().message()));
  }
  network->graph = *std::move(scaled);
  return network;
}

}  // namespace chakra
