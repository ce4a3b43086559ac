#include "backends/registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/analytical/analytical.h"
#include "backends/analytical/fifo.h"
#include "backends/fluid/fluid.h"
#include "backends/mixed/mixed_fabric.h"
#include "backends/packet/packet_fabric.h"

namespace chakra {
namespace {

using Maker = std::unique_ptr<Fabric> (*)(const Topology&, const FabricOptions&);

template <typename T>
std::unique_ptr<Fabric> New(const Topology& topology, const FabricOptions& options) {
  return std::make_unique<T>(topology, options);
}

struct Entry {
  const char* name;
  Maker make;
  bool fluid;            // shares links by rates
  bool packets = false;  // sends packets
  bool chooses = false;  // which messages
};

constexpr Entry kFabrics[] = {
    {"analytical", New<AnalyticalFabric>, false},
    {"analytical-fifo", New<FifoFabric>, false},
    {"fluid", New<FluidFabric>, true},
    {"packet", packet::MakePacketFabric, false, true},
    {"mixed", New<MixedFabric>, true, true, true},
};

absl::Status Check(const Entry& e, const Topology& topology, const FabricOptions& options) {
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("fabric ", e.name, ": ", what));
  };
  if (e.fluid && options.store_and_forward) {
    return bad("store and forward is for analytical and analytical-fifo; flows are no messages here");
  }
  if (!e.fluid && (options.startup != Time::Zero() || options.efficiency != 1 || !options.classes.empty())) {
    return bad("start-up, efficiency and classes of flows are for fluid and mixed");
  }
  if (!e.fluid && !e.packets && !options.changes.empty()) {
    return bad("links that fail or lose packets (--fault) are for fluid, packet and mixed");
  }
  for (const LinkChange& c : options.changes) {
    if (!(c.bandwidth >= 0 && c.bandwidth <= 1)) {
      return bad(absl::StrCat("a link that has ", c.bandwidth, " of its bandwidth; expected 0 to 1"));
    }
    if (!(c.loss >= 0 && c.loss < 1)) {
      return bad(absl::StrCat("a link that loses ", c.loss, " of its packets; expected >= 0 and < 1"));
    }
  }
  if (!e.fluid && !e.packets && options.link_series) {
    return bad("links followed over time (--link-series) are for fluid, packet and mixed");
  }
  if (!e.packets && options.packet_given) {
    return bad(
        "packets, queues and transports (--packet, or `packet` of a cluster) are for packet and mixed");
  }
  if (!e.chooses && !options.choices.empty()) {
    return bad("messages chosen for packets (--mixed, or `by_packets` of a cluster) are for mixed");
  }
  if (!(options.efficiency > 0 && options.efficiency <= 1)) {
    return bad(absl::StrCat("efficiency ", options.efficiency, "; expected > 0 and <= 1"));
  }
  if (options.startup < Time::Zero() || options.startup > Topology::kMaxLatency) {
    return bad(absl::StrCat("start-up ", options.startup.picos(), " ps; expected 0 to 1 s"));
  }
  for (const ServiceClass& c : options.classes) {
    if (!(c.weight > 0 && c.weight < 1e12)) {
      return bad(absl::StrCat("a class of weight ", c.weight, "; expected > 0 and < 1e12"));
    }
  }
  if (options.threads < 1 || options.threads > 4096) {
    return bad(absl::StrCat("threads is ", options.threads, "; expected 1 to 4096, as ",
                            options.threads < 1 ? 1 : 4096));
  }
  if (e.chooses) {
    if (options.packet.skip != packet::PacketOptions::Skip::kOff) {
      return bad("skip is for packet; here the messages that need no packets are fluid: expected skip=off");
    }
    if (absl::Status s = MixedFabric::Check(topology, options); !s.ok()) return s;
  }
  return e.packets ? packet::PacketFabric::Check(topology, options) : absl::OkStatus();
}

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options) {
  for (const Entry& e : kFabrics) {
    if (name != e.name) continue;
    if (absl::Status s = Check(e, topology, options); !s.ok()) return s;
    return e.make(topology, options);
  }
  const Entry* nearest =
      std::min_element(std::begin(kFabrics), std::end(kFabrics), [&](const Entry& a, const Entry& b) {
        return EditDistance(name.substr(0, 64), a.name) < EditDistance(name.substr(0, 64), b.name);
      });
  return absl::InvalidArgumentError(absl::StrCat("unknown fabric \"", name, "\"; did you mean \"",
                                                 nearest->name,
                                                 "\"? Known: ", absl::StrJoin(FabricNames(), ", ")));
}

std::vector<std::string> FabricNames() {
  std::vector<std::string> names;
  for (const Entry& e : kFabrics) names.emplace_back(e.name);
  return names;
}

std::vector<std::string> FabricsThatFollowLinks() {
  std::vector<std::string> names;
  for (const Entry& e : kFabrics) {
    if (e.fluid || e.packets) names.emplace_back(e.name);
  }
  return names;
}

}  // namespace chakra
