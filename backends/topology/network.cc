#include "backends/topology/network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/spelling.h"

namespace chakra {

// Each is in its own file in builders/.
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

const std::vector<NetworkKind>& NetworkKinds() {
  static const std::vector<NetworkKind>* const kKinds = [] {
    auto* kinds = new std::vector<NetworkKind>{
        DgxPodNetwork(), DragonflyNetwork(), DragonflyPlusNetwork(), FatTreeNetwork(), FullMeshNetwork(),
        HyperXNetwork(), HypercubeNetwork(), LeafSpineNetwork(),     MeshNetwork(),    MultiPlaneNetwork(),
        Nvl72Network(),  RailOnlyNetwork(),  RailOptimizedNetwork(), RingNetwork(),    SlimFlyNetwork(),
        SwitchNetwork(), TorusNetwork(),     TpuPodNetwork(),        Trn2Network(),
    };
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
  auto kind = FindKind(spec.name);
  if (!kind.ok()) return kind.status();
  return Parameters::Make(spec, (*kind)->parameters).status();
}

absl::StatusOr<Network> BuildNetwork(const NetworkSpec& spec, int devices) {
  auto kind = FindKind(spec.name);
  if (!kind.ok()) return kind.status();
  auto parameters = Parameters::Make(spec, (*kind)->parameters);
  if (!parameters.ok()) return parameters.status();
  return (*kind)->build(*parameters, devices);
}

}  // namespace chakra
