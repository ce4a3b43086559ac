// Checks whether all ranks reach each other, and will still do so after all faults.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/topology/paths/shortest_paths.h"
#include "replay/cluster/topology.h"

namespace chakra {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

class Reach {
 public:
  Reach(const NetworkGraph& graph, const std::vector<bool>* alive) : graph_(graph), alive_(alive) {}

  // Finds two of the devices such that the first has no path to the second.
  std::optional<Pair> FindCutOff(const std::vector<uint32_t>& devices) {
    if (devices.size() < 2) return std::nullopt;
    for (const bool forward : {true, false}) {
      const std::vector<bool> seen = Search(devices.front(), forward);
      for (const uint32_t d : devices) {
        if (seen[d]) continue;
        return forward ? Pair{devices.front(), d} : Pair{d, devices.front()};
      }
    }
    if (graph_.devices_forward()) return std::nullopt;
    return graph_.devices() == graph_.vertices() ? FindUnlinked(devices) : FindApart(devices);
  }

 private:
  bool Alive(uint32_t arc) const { return alive_ == nullptr || (*alive_)[arc]; }

  std::vector<bool> Search(uint32_t from, bool forward) const {
    std::vector<bool> seen(graph_.vertices(), false);
    std::vector<uint32_t> queue = {from};
    seen[from] = true;
    for (size_t i = 0; i < queue.size(); ++i) {
      if (queue[i] != from && !graph_.Forwards(queue[i])) continue;
      for (uint32_t arc = graph_.begin(queue[i]); arc < graph_.end(queue[i]); ++arc) {
        const uint32_t to = graph_.target(arc);
        if (seen[to] || !Alive(forward ? arc : graph_.reverse(arc))) continue;
        seen[to] = true;
        queue.push_back(to);
      }
    }
    return seen;
  }

  // For networks in which no vertex forwards: finds two devices without a link.
  std::optional<Pair> FindUnlinked(const std::vector<uint32_t>& devices) const {
    std::vector<uint32_t> mark(graph_.vertices(), NetworkGraph::kNone);
    for (const uint32_t d : devices) {
      mark[d] = d;
      for (uint32_t arc = graph_.begin(d); arc < graph_.end(d); ++arc) {
        if (Alive(arc)) mark[graph_.target(arc)] = d;
      }
      for (const uint32_t e : devices) {
        if (mark[e] != d) return Pair{d, e};
      }
    }
    return std::nullopt;
  }

  // Finds two devices that are attached to no common part of the network. Parts that only devices connect are
  // separate, because devices do not forward.
  std::optional<Pair> FindApart(const std::vector<uint32_t>& devices) {
    std::vector<uint32_t> part(graph_.vertices(), NetworkGraph::kNone);
    uint32_t parts = 0;
    for (uint32_t v = graph_.devices(); v < graph_.vertices(); ++v) {
      if (part[v] != NetworkGraph::kNone) continue;
      std::vector<uint32_t> queue = {v};
      part[v] = parts;
      for (size_t i = 0; i < queue.size(); ++i) {
        for (uint32_t arc = graph_.begin(queue[i]); arc < graph_.end(queue[i]); ++arc) {
          const uint32_t to = graph_.target(arc);
          if (!graph_.Forwards(to) || part[to] != NetworkGraph::kNone || !Alive(arc)) continue;
          part[to] = parts;
          queue.push_back(to);
        }
      }
      ++parts;
    }
    if (parts < 2) return std::nullopt;
    std::map<std::set<uint32_t>, uint32_t> kinds;  // sets of parts to which devices are attached, and the
                                                   // first device with each set
    for (const uint32_t d : devices) {
      std::set<uint32_t> of;
      for (uint32_t arc = graph_.begin(d); arc < graph_.end(d); ++arc) {
        if (Alive(arc) && graph_.Forwards(graph_.target(arc))) of.insert(part[graph_.target(arc)]);
      }
      kinds.try_emplace(of, d);
    }
    ShortestPaths paths(graph_);
    if (alive_ != nullptr) paths.SetAlive(alive_);
    for (const auto& [parts_a, a] : kinds) {
      for (const auto& [parts_b, b] : kinds) {
        if (a != b && paths.Distance(a, b) == ShortestPaths::kUnreachable) return Pair{a, b};
      }
    }
    return std::nullopt;
  }

  const NetworkGraph& graph_;
  const std::vector<bool>* alive_;
};

// By dimension and copy: which arcs of the network are up after all faults. Only networks with links that are
// down.
std::map<Pair, std::vector<bool>> AliveAtTheEnd(const BuiltTopology& built) {
  std::map<uint32_t, double> left;
  for (const LinkChange& c : built.changes) left[c.link] = c.bandwidth;
  std::map<Pair, std::vector<bool>> alive;  // by dimension and copy
  for (const auto& [link, bandwidth] : left) {
    if (bandwidth > 0) continue;
    const auto [dimension, copy, arc] = built.topology.NetworkArc(link);
    std::vector<bool>& of = alive[{static_cast<uint32_t>(dimension), copy}];
    if (of.empty()) {
      of.assign(built.topology.dimensions()[static_cast<size_t>(dimension)].network->graph.arcs(), true);
    }
    of[arc] = false;
  }
  return alive;
}

// By copy of a network: the devices that ranks use. If messages pass through devices on their path between
// dimensions, all devices.
std::map<uint32_t, std::vector<uint32_t>> Used(const BuiltTopology& built, int dimension,
                                               const std::vector<int>& device_of, int ranks) {
  const TopologyDimension& d = built.topology.dimensions()[static_cast<size_t>(dimension)];
  std::map<uint32_t, std::set<uint32_t>> used;
  for (int r = 0; r < ranks; ++r) {
    const int device = device_of.empty() ? r : device_of[static_cast<size_t>(r)];
    used[built.topology.NetworkCopy(dimension, device)].insert(
        built.topology.NetworkDevice(dimension, device));
  }
  std::map<uint32_t, std::vector<uint32_t>> out;
  for (const auto& [copy, devices] : used) {
    out[copy].assign(devices.begin(), devices.end());
    if (!d.each_rail) continue;
    out[copy].clear();
    for (uint32_t v = 0; v < d.network->graph.devices(); ++v) out[copy].push_back(v);
  }
  return out;
}

}  // namespace

absl::Status CheckReachable(const BuiltTopology& built, const std::vector<int>& device_of, int ranks) {
  const std::map<Pair, std::vector<bool>> alive = AliveAtTheEnd(built);
  for (size_t i = 0; i < built.topology.dimensions().size(); ++i) {
    const TopologyDimension& d = built.topology.dimensions()[i];
    if (d.network == nullptr) continue;
    const int dimension = static_cast<int>(i);
    std::set<std::vector<uint32_t>> whole;  // sets of devices that are connected without faults
    for (const auto& [copy, devices] : Used(built, dimension, device_of, ranks)) {
      const auto dead = alive.find({static_cast<uint32_t>(i), copy});
      if (dead == alive.end() && !whole.insert(devices).second) continue;
      auto pair = Reach(d.network->graph, dead == alive.end() ? nullptr : &dead->second).FindCutOff(devices);
      if (!pair) continue;
      const int from = built.topology.DeviceAt(dimension, copy, pair->first);
      const int to = built.topology.DeviceAt(dimension, copy, pair->second);
      return absl::InvalidArgumentError(
          absl::StrCat("cluster: topology.dimension[", built.asked[i], "] (\"", d.name, "\"): device ", from,
                       " cannot reach device ", to,
                       dead == alive.end() ? "; expected a network that joins all ranks"
                                           : " after topology.fault takes links down; expected a path around "
                                             "these links, or until_us, the time when they come back"));
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra
