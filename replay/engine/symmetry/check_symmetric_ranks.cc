#include "replay/engine/symmetry/check_symmetric_ranks.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

constexpr uint64_t kProbeBytes = 1 << 20;

bool SameCost(const MachineView& machine, int a, int b, int c, int d) {
  const FlowCost left = machine.Cost(a, b, kProbeBytes), right = machine.Cost(c, d, kProbeBytes);
  return left.sent == right.sent && left.latency == right.latency && left.transfer == right.transfer;
}

class SymmetryCheck {
 public:
  SymmetryCheck(const SymmetricRanks& symmetric, const TraceSet& traces, const MachineView& machine,
                const MemoryModel& memory, bool recorded_comm)
      : symmetric_(symmetric),
        traces_(traces),
        machine_(machine),
        own_memory_(memory.kind == MemoryModel::Kind::kLocal || memory.kind == MemoryModel::Kind::kPerRank),
        recorded_comm_(recorded_comm) {}

  bool Run() {
    if (symmetric_.size() != traces_.ranks.size()) return false;
    if (static_cast<int>(symmetric_.size()) > machine_.devices()) return false;
    for (const Graph* graph : DistinctGraphs(traces_).graphs) {
      if (!own_memory_ && UsesMemory(*graph)) return false;
    }
    if (recorded_comm_)
      return std::all_of(symmetric_.begin(), symmetric_.end(), [](int of) { return of == 0; });
    if (!machine_.contention_free()) return false;
    peers_.resize(symmetric_.size());
    for (size_t r = 0; r < symmetric_.size(); ++r) {
      if (Of(static_cast<int>(r)) != static_cast<int>(r)) continue;
      if (!FindPeers(static_cast<int>(r)) || !AllStoodFor(static_cast<int>(r))) return false;
    }
    for (size_t r = 0; r < symmetric_.size(); ++r) {
      if (Of(static_cast<int>(r)) != static_cast<int>(r) && !Same(static_cast<int>(r))) return false;
    }
    return true;
  }

 private:
  int Of(int rank) const { return symmetric_[static_cast<size_t>(rank)]; }
  const RankTrace& Trace(int rank) const { return traces_.ranks[static_cast<size_t>(rank)]; }
  bool Exists(int rank) const { return rank >= 0 && static_cast<size_t>(rank) < symmetric_.size(); }

  static bool UsesMemory(const Graph& graph) {
    return std::any_of(graph.type.begin(), graph.type.end(),
                       [](NodeType t) { return t == NodeType::kMemLoad || t == NodeType::kMemStore; });
  }

  // Finds the ranks with which `rank` exchanges messages. Returns false if one of them is not simulated
  // itself.
  bool FindPeers(int rank) {
    const RankTrace& trace = Trace(rank);
    if (trace.peers.size() != trace.graph->comm.size()) return false;
    std::set<int>& peers = peers_[static_cast<size_t>(rank)];
    for (const Peer& p : trace.peers) {
      for (const int other : {p.src, p.dst}) {
        if (other != kNoRank && other != rank) peers.insert(other);
      }
    }
    return std::all_of(peers.begin(), peers.end(), [&](int p) { return Exists(p) && Of(p) == p; });
  }

  // Whether each member of a rank's groups is simulated itself or symmetric to another member of the same
  // group.
  bool AllStoodFor(int rank) {
    for (const std::string& name : Trace(rank).group_names) {
      if (name.empty() || !checked_.insert(name).second) continue;
      const auto group = traces_.groups.find(name);
      if (group == traces_.groups.end()) return false;
      const absl::flat_hash_set<int> members(group->second.begin(), group->second.end());
      for (const int m : group->second) {
        if (!Exists(m) || !members.contains(Of(m))) return false;
      }
    }
    return true;
  }

  // Whether `rank` sees the same peers, groups and costs as the rank that is simulated for it.
  bool Same(int rank) {
    const int of = Of(rank);
    if (!Exists(of) || Of(of) != of || Trace(rank).graph != Trace(of).graph) return false;
    for (const int peer : peers_[static_cast<size_t>(of)]) {
      const int own = rank + peer - of;
      if (!Exists(own) || Of(own) != peer) return false;
      if (!SameCost(machine_, of, peer, rank, own) || !SameCost(machine_, peer, of, own, rank)) return false;
    }
    const std::vector<std::string>&names = Trace(rank).group_names, &others = Trace(of).group_names;
    if (names.size() != others.size()) return false;
    for (size_t i = 1; i < names.size(); ++i) {
      if (names[i] != others[i] && checked_.insert(names[i]).second && !SameGroup(names[i], others[i]))
        return false;
    }
    return true;
  }

  bool SameGroup(const std::string& name, const std::string& other) const {
    const auto a = traces_.groups.find(name), b = traces_.groups.find(other);
    if (a == traces_.groups.end() || b == traces_.groups.end()) return false;
    const std::vector<int>&own = a->second, &theirs = b->second;
    if (own.size() != theirs.size()) return false;
    for (size_t m = 0; m < own.size(); ++m) {
      if (!Exists(own[m]) || !Exists(theirs[m]) || Of(own[m]) != Of(theirs[m])) return false;
      if (m == 0) continue;
      if (!SameCost(machine_, own[m - 1], own[m], theirs[m - 1], theirs[m])) return false;
      if (!SameCost(machine_, own[0], own[m], theirs[0], theirs[m])) return false;
      if (machine_.Level(own[0], own[m]) != machine_.Level(theirs[0], theirs[m])) return false;
    }
    return true;
  }

  const SymmetricRanks& symmetric_;
  const TraceSet& traces_;
  const MachineView& machine_;
  const bool own_memory_;  // whether each rank has its own memory
  const bool recorded_comm_;
  std::vector<std::set<int>> peers_;  // by rank; empty for ranks that are not simulated
  absl::flat_hash_set<std::string> checked_;
};

}  // namespace

bool CheckSymmetricRanks(const SymmetricRanks& symmetric, const TraceSet& traces, const MachineView& machine,
                         const MemoryModel& memory, bool recorded_comm) {
  return SymmetryCheck(symmetric, traces, machine, memory, recorded_comm).Run();
}

}  // namespace chakra
