// The common part of networks of groups: links between ports of groups, parameters, and most of the guides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/builders/common.h"

namespace chakra {

// `groups` groups with `ports` global ports each, ports >= groups - 1. Ports are assigned in rounds: port i
// of a round leads to the group i + 1 places further (modulo the groups), so a full round links every two
// groups once. Exactly one round is the palm-tree arrangement (Camarero et al., 2014). If the last round has
// too few ports for all groups, it links the nearest groups on both sides and the opposite group; so the
// numbers of links between two groups differ by at most one. With an odd number of groups and an odd number
// of ports, one port of each group has no link.
class GlobalLinks {
 public:
  struct Port {
    int group, port;
  };

  GlobalLinks(int groups, int ports) : groups_(groups) {
    if (groups < 2) return;
    full_ = ports / (groups - 1);
    last_ = ports % (groups - 1);
    if (last_ % 2 != 0 && groups % 2 != 0) --last_;
  }

  int groups() const { return groups_; }
  // Ports [0, used()) of each group carry a link.
  int used() const { return full_ * (groups_ - 1) + last_; }
  int rounds() const { return full_ + (last_ > 0 ? 1 : 0); }

  // The port of round `round` that leads to the group `offset` places further, 0 < offset < groups; -1: none.
  int PortTo(int round, int offset) const {
    const int base = round * (groups_ - 1);
    if (round < full_) return base + offset - 1;
    const int half = last_ / 2;
    if (offset <= half) return base + offset - 1;
    if (offset >= groups_ - half) return base + last_ - (groups_ - offset);
    return last_ % 2 != 0 && 2 * offset == groups_ ? base + half : -1;
  }
  int Offset(int from, int to) const { return to >= from ? to - from : to - from + groups_; }

  // The other end of the link of a used port.
  Port Peer(Port end) const {
    const int round = end.port / (groups_ - 1), i = end.port % (groups_ - 1), half = last_ / 2;
    int offset = i + 1;
    if (round == full_ && i >= half) {
      offset = last_ % 2 != 0 && i == half ? groups_ / 2 : groups_ - (last_ - i);
    }
    const int group = end.group + offset;
    return {group < groups_ ? group : group - groups_, PortTo(round, groups_ - offset)};
  }

  // Adds the links. Port `i` is on switch i / `each` of its group; `vertex` gives a switch's vertex from
  // group and place. Returns, by group and used port, the port's rank among the links of its switch that are
  // added here.
  template <typename F>
  std::vector<uint16_t> Add(GraphBuilder* b, uint16_t link_class, int each, F vertex) const {
    const int n = used();
    std::vector<uint16_t> rank(static_cast<size_t>(groups_) * static_cast<size_t>(n));
    const int switches = (n + each - 1) / each;
    std::vector<uint16_t> next(static_cast<size_t>(groups_) * static_cast<size_t>(switches));
    const auto take = [&](int group, int port) {
      const size_t g = static_cast<size_t>(group);
      rank[g * static_cast<size_t>(n) + static_cast<size_t>(port)] =
          next[g * static_cast<size_t>(switches) + static_cast<size_t>(port / each)]++;
    };
    for (int group = 0; group < groups_; ++group) {
      for (int port = 0; port < n; ++port) {
        const Port peer = Peer({group, port});
        if (peer.group < group) continue;
        b->AddLink(vertex(group, port / each), vertex(peer.group, peer.port / each), link_class);
        take(group, port);
        take(peer.group, peer.port);
      }
    }
    return rank;
  }

 private:
  int groups_;
  int full_ = 0;  // full rounds: each links every other group
  int last_ = 0;  // ports of the last, partial round
};

constexpr int kMaxGroupPorts = 4096;

// A parameter for a size of a network of groups; *size is unchanged if the parameter is not given.
struct GroupSize {
  const char* key;
  int* size;
};
// Reads sizes from 1 to kMaxGroupPorts; `groups` may be up to kMaxNetworkDevices.
absl::Status ReadGroupSizes(const Parameters& p, const std::vector<GroupSize>& sizes);

// If *groups is 0, sets it to the maximum number of groups that can be linked. `key` names the parameter for
// the switches of a group that have global links, `h` on each.
absl::Status ChooseGroups(const Parameters& p, absl::string_view key, int switches, int h, int* groups);

// Adds the parameters of the three classes of links, for a builder to declare.
void DeclareLinkClasses(std::vector<Parameter>* parameters);

struct LinkClasses {
  LinkClass host, local, global;
};
absl::StatusOr<LinkClasses> LinkClassesOf(const Parameters& p);

// A builder's plan, made before it builds.
struct GroupPlan {
  int devices = 0;
  LinkClasses classes;
  GlobalLinks links;
};

struct GroupNetworkSize {
  int64_t room = 0;      // number of devices
  std::string fits;      // parameters with room for the requested devices
  int64_t switches = 0;  // in all groups
  int64_t local = 0;     // links within groups, in all groups
};

// Errors: no room; invalid classes of links; more links or vertices than a NetworkGraph can hold (if the
// number of groups is not given, the error names `key` as the parameter to reduce).
absl::StatusOr<GroupPlan> PlanGroups(const Parameters& p, int devices, const GroupNetworkSize& size,
                                     absl::string_view key, const GlobalLinks& links);

// Links every `each` devices to one switch; the switches begin at vertex `first`.
void AddHosts(GraphBuilder* b, const GroupPlan& plan, int each, uint32_t first);

// The base of guides for networks of groups. Devices are the first vertices, each with one link; their
// switches follow. Arcs are numbered in the order of links, with those of devices first.
class GroupGuide : public Guide {
 public:
  // Each switch has `each` devices, in order. `rank` is the result of GlobalLinks::Add(), for switches with
  // `h` global links each.
  GroupGuide(const GroupPlan& plan, int each, int h, std::vector<uint16_t> rank)
      : links_(plan.links), devices_(plan.devices), each_(each), h_(h), rank_(std::move(rank)) {}

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const final;

 protected:
  // The first arc of a switch; the arcs to its devices come first.
  virtual uint32_t Begin(int sw) const = 0;
  // Appends the arcs from one switch towards another one.
  virtual void Between(int here, int there, std::vector<uint32_t>* arcs) const = 0;

  // The number of arcs out of devices, plus the arcs to devices of the switches before `sw`.
  uint32_t ArcsOfHosts(int sw) const { return static_cast<uint32_t>(devices_) + HostsBefore(sw); }
  // The first arc of a switch that does not lead to a device.
  uint32_t AfterHosts(int sw) const { return Begin(sw) + HostsBefore(sw + 1) - HostsBefore(sw); }
  // The number of global arcs in all groups before `group` and of the switches before place `i` of this
  // group.
  uint32_t GlobalsBefore(int group, int i) const {
    return static_cast<uint32_t>(group) * static_cast<uint32_t>(links_.used()) +
           static_cast<uint32_t>(std::min(i * h_, links_.used()));
  }
  // The rank of a global port among the global arcs of its switch.
  uint32_t Rank(int group, int port) const {
    return rank_[static_cast<size_t>(group) * static_cast<size_t>(links_.used()) + static_cast<size_t>(port)];
  }
  // Calls visit(port) for each port of `group` that leads to group `to`, in order.
  template <typename F>
  void ForEachPort(int group, int to, F visit) const {
    const int offset = links_.Offset(group, to);
    for (int round = 0; round < links_.rounds(); ++round) {
      const int port = links_.PortTo(round, offset);
      if (port >= 0) visit(port);
    }
  }
  // Appends `arc`, unless it is the last of the arcs from `first` on.
  static void AddOnce(uint32_t arc, size_t first, std::vector<uint32_t>* arcs) {
    if (arcs->size() == first || arcs->back() != arc) arcs->push_back(arc);
  }
  const GlobalLinks& links() const { return links_; }

 private:
  uint32_t HostsBefore(int sw) const {
    return static_cast<uint32_t>(std::min(int64_t{sw} * each_, int64_t{devices_}));
  }

  GlobalLinks links_;
  int devices_, each_, h_;
  std::vector<uint16_t> rank_;  // by group and port
};

}  // namespace chakra
