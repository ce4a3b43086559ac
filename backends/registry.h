// The fabrics by name. To add one: a folder beside analytical/, and a line in
// registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/fabric.h"
#include "backends/topology/topology.h"

namespace chakra {

struct FabricOptions {
  bool store_and_forward = false;  // each link takes the whole message before the next does
};

// Errors: an unknown name, with the nearest one and the list.
absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options);
std::vector<std::string> FabricNames();

}  // namespace chakra
