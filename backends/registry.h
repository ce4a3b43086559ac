// The fabrics by name. To add one: a folder beside analytical/, and a line in
// registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/fabric.h"
#include "backends/mixed/choice.h"
#include "backends/packet/options.h"
#include "backends/topology/routing/router.h"
#include "backends/topology/topology.h"

namespace chakra {

// How a class of flows shares links with the others (fabric `fluid`).
struct ServiceClass {
  double weight = 1;  // > 0: share among flows of the same priority
  int priority = 0;   // higher ones take what they can first
};

struct FabricOptions {
  bool store_and_forward = false;  // each link takes the whole message before the next does; not `fluid`
  Time startup;                    // `fluid`: before a flow takes its links
  double efficiency = 1;           // `fluid`: share of each bandwidth that flows get, in (0, 1]
  RoutingOptions routing;          // through networks; `analytical-fifo` does not split messages
  std::vector<LinkChange>
      changes;               // `fluid`: links that go down, come back, or have less bandwidth for a while
  bool link_series = false;  // `fluid`: Links() tells what was taken over time
  std::vector<ServiceClass> classes;  // by Flow::service_class; a class that is not there has the defaults
  packet::PacketOptions packet;       // fabric `packet`
  bool packet_given = false;          // somebody asked for it; fabrics without packets refuse that
  std::vector<PacketChoice> choices;  // fabric `mixed`: messages that are of any of these go by packets
  int threads = 1;                    // `packet`: that run it, 1 to 4096; they change no result

  ServiceClass ClassOf(int service_class) const {
    const auto c = static_cast<size_t>(service_class);
    return service_class >= 0 && c < classes.size() ? classes[c] : ServiceClass();
  }
};

// Errors: an unknown name, with the nearest one and the list; an option that the
// fabric does not have, or out of range.
absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options);
std::vector<std::string> FabricNames();
// Those whose Links() tells of links.
std::vector<std::string> FabricsThatFollowLinks();

}  // namespace chakra
