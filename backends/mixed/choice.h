// The choice of messages that fabric `mixed` sends by packets.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/fabric_options.h"
#include "backends/topology/topology.h"
#include "trace/base/units.h"

namespace chakra {

// A message is chosen if it matches all given fields. Patterns: * matches any characters, ? matches one.
struct PacketChoice {
  // Links on its path. A pattern for Topology::LinkName(), in either direction ("leaf.0 - spine.*"), or for
  // one end ("leaf.3": all its links).
  std::string link;
  std::string link_class;  // of those links: a pattern for the name
  std::string dimension;   // of those links: a pattern for the name, or a number
  // Devices, in ascending order: the message comes from or goes to one of them. Only used if `by_device`.
  std::vector<int> devices;
  bool by_device = false;
  Time after, until = Time::Never();  // it begins in [after, until)
  std::string label;                  // name of the choice in errors; "": its number

  bool by_link() const { return !link.empty() || !link_class.empty() || !dimension.empty(); }
  bool by_time() const { return after > Time::Zero() || until < Time::Never(); }
};

// The option of `mixed`: messages that match any of the choices go by packets.
struct PacketChoices {
  static constexpr OptionSet kSet = {"messages chosen for packets (--mixed, or `by_packets` of a cluster)",
                                     "are"};
  bool asked() const { return !any_of.empty(); }

  std::vector<PacketChoice> any_of;
};

// Errors name the choice and its field: a choice without fields, a pattern that matches no link (with the
// nearest name), a device that does not exist, an empty interval of time.
absl::Status CheckPacketChoices(const Topology& topology, const std::vector<PacketChoice>& choices);

// By link of the topology: whether a checked choice selects it. Empty if the choice selects no links.
std::vector<bool> ChosenLinks(const Topology& topology, const PacketChoice& choice);

}  // namespace chakra
