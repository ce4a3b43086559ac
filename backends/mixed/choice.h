// Which messages fabric `mixed` sends by packets.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/fabric_options.h"
#include "backends/topology/topology.h"
#include "trace/base/units.h"

namespace chakra {

// A message is chosen when it is of all that is given. Patterns: * stands for any characters, ? for one.
struct PacketChoice {
  // Links that it would cross. A name as Topology::LinkName() has it, in either direction ("leaf.0 -
  // spine.*"), or of one end ("leaf.3": all links of it).
  std::string link;
  std::string link_class;  // of those links: a name
  std::string dimension;   // of those links: a name or a number
  // Devices of which it comes or to which it goes, ascending; used where `by_device`.
  std::vector<int> devices;
  bool by_device = false;
  Time after, until = Time::Never();  // it begins in [after, until)
  std::string label;                  // what messages call it; "": its place

  bool by_link() const { return !link.empty() || !link_class.empty() || !dimension.empty(); }
  bool by_time() const { return after > Time::Zero() || until < Time::Never(); }
};

// What `mixed` is asked for: messages that are of any of the choices go by packets.
struct PacketChoices {
  static constexpr OptionSet kSet = {"messages chosen for packets (--mixed, or `by_packets` of a cluster)",
                                     "are"};
  bool asked() const { return !any_of.empty(); }

  std::vector<PacketChoice> any_of;
};

// Errors name the choice and its part: one that says nothing, a pattern that matches no link (with the
// nearest name), devices that are not there, a time that is empty.
absl::Status CheckPacketChoices(const Topology& topology, const std::vector<PacketChoice>& choices);

// By link of the topology, whether it is one that a checked choice means; empty where the choice names no
// links.
std::vector<bool> ChosenLinks(const Topology& topology, const PacketChoice& choice);

}  // namespace chakra
