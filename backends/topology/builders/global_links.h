// What networks of groups share: which port of which group is linked to which.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/builders/common.h"

namespace chakra {

// `groups` groups with `ports` global ports each, ports >= groups - 1. Ports are
// dealt out in rounds: port i of a round leads to the group i + 1 places on
// (modulo the groups), so a full round links every two groups once. With one
// round and no more this is the palm-tree arrangement (Camarero et al., 2014).
// In the last round, when ports are too few for all, the nearest groups on both
// sides are taken, and the one across; so two groups have as many links as any
// other two, or one more. An odd number of groups with an odd number of ports
// leaves one port of each group without a link.
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

  // The port of round `round` to the group `offset` places on, 0 < offset <
  // groups; -1: there is none.
  int PortTo(int round, int offset) const {
    const int base = round * (groups_ - 1);
    if (round < full_) return base + offset - 1;
    const int half = last_ / 2;
    if (offset <= half) return base + offset - 1;
    if (offset >= groups_ - half) return base + last_ - (groups_ - offset);
    return last_ % 2 != 0 && 2 * offset == groups_ ? base + half : -1;
  }
  int Offset(int from, int to) const { return to >= from ? to - from : to - from + groups_; }

  // The other end of a port that is used.
  Port Peer(Port end) const {
    const int round = end.port / (groups_ - 1), i = end.port % (groups_ - 1), half = last_ / 2;
    int offset = i + 1;
    if (round == full_ && i >= half) {
      offset = last_ % 2 != 0 && i == half ? groups_ / 2 : groups_ - (last_ - i);
    }
    const int group = end.group + offset;
    return {group < groups_ ? group : group - groups_, PortTo(round, groups_ - offset)};
  }

  // Adds the links; port `i` is on switch i / `each` of its group, and `vertex`
  // gives a switch's number from group and place. Returns, by group and used
  // port, the port's place among its switch's links added here.
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
  int full_ = 0;  // rounds in which every other group is linked
  int last_ = 0;  // ports of the round after these
};

struct LinkClasses {
  LinkClass host, local, global;
};

// The parameters of the three classes of links, for a builder to declare.
inline void DeclareLinkClasses(std::vector<Parameter>* parameters) {
  parameters->insert(parameters->end(),
                     {{"host", "400Gb/s", "rate of a link between a device and its switch, each direction"},
                      {"local", "400Gb/s", "rate of a link within a group, each direction"},
                      {"global", "400Gb/s", "rate of a link between groups, each direction"},
                      {"host_latency", "500ns", "of a link between a device and its switch"},
                      {"local_latency", "500ns", "of a link within a group"},
                      {"global_latency", "1us", "of a link between groups"}});
}

inline absl::StatusOr<LinkClasses> LinkClassesOf(const Parameters& p) {
  LinkClasses out;
  for (const auto& [name, latency, c] :
       {std::tuple{"host", "host_latency", &out.host}, std::tuple{"local", "local_latency", &out.local},
        std::tuple{"global", "global_latency", &out.global}}) {
    auto made = ClassOf(p, name, name, latency);
    if (!made.ok()) return made.status();
    *c = *std::move(made);
  }
  return out;
}

// An error when there are more than a NetworkGraph holds: before anything is built.
inline absl::Status CheckSize(const Parameters& p, absl::string_view key, int64_t vertices, int64_t links) {
  if (vertices <= int64_t{NetworkGraph::kMaxVertices} &&
      links <= static_cast<int64_t>(NetworkGraph::kMaxLinks)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      p.network(), ": ", vertices, " devices and switches with ", links, " links; expected at most ",
      NetworkGraph::kMaxVertices, " and ", NetworkGraph::kMaxLinks, ": a smaller ", key, ", for instance"));
}

}  // namespace chakra
