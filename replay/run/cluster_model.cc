#include "replay/run/cluster_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/placement.h"
#include "replay/cluster/check.h"
#include "replay/cluster/devices.h"
#include "replay/cluster/mixed.h"
#include "replay/cluster/packet.h"
#include "replay/cluster/topology.h"
#include "replay/collectives/custom/chakra_program.h"
#include "replay/collectives/custom/msccl_xml.h"
#include "replay/collectives/levels.h"
#include "replay/collectives/registry.h"
#include "replay/engine/memory_model.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

using proto::Dimension;
using proto::RemoteMemory;

absl::Status CheckDevice(const proto::Device& device) {
  const std::vector<std::string> dtypes = PeakDtypes();
  const auto known = [&](const std::string& d) {
    return std::find(dtypes.begin(), dtypes.end(), d) != dtypes.end();
  };
  const std::map<std::string, double> peaks(device.peak_tflops().begin(), device.peak_tflops().end());
  for (const auto& [dtype, unused] : peaks) {
    if (!known(dtype)) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: device.peak_tflops names the unknown dtype \"",
                                                     dtype, "\"", SuggestName(dtype, dtypes)));
    }
  }
  const std::map<std::string, double> achieved(device.achieved_tflops().begin(),
                                               device.achieved_tflops().end());
  for (const auto& [dtype, rate] : achieved) {
    const auto peak = peaks.find(dtype);
    if (peak != peaks.end() && rate <= peak->second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: device.achieved_tflops[\"", dtype, "\"] is ", rate, "; expected ",
                     peak == peaks.end() ? "a dtype of device.peak_tflops" : "at most its peak_tflops, ",
                     peak == peaks.end() ? "" : absl::StrCat(peak->second)));
  }
  if (!device.default_dtype().empty() && !known(device.default_dtype())) {
    return absl::InvalidArgumentError(absl::StrCat("cluster: device.default_dtype is \"",
                                                   device.default_dtype(), "\"",
                                                   SuggestName(device.default_dtype(), dtypes)));
  }
  return absl::OkStatus();
}

absl::StatusOr<MemoryModel> CheckMemory(const proto::Cluster& cluster) {
  const RemoteMemory& remote = cluster.remote_memory();
  MemoryModel out;
  switch (remote.kind()) {
    case RemoteMemory::NONE:
      out.kind = MemoryModel::Kind::kLocal;
      break;
    case RemoteMemory::PER_RANK:
      out.kind = MemoryModel::Kind::kPerRank;
      break;
    case RemoteMemory::PER_NODE:
      out.kind = MemoryModel::Kind::kPerNode;
      break;
    case RemoteMemory::POOL:
      out.kind = MemoryModel::Kind::kPool;
      break;
    case RemoteMemory::NETWORK:
      out.kind = MemoryModel::Kind::kNetwork;
      break;
    default:
      return BadField("remote_memory.kind", absl::StrCat(remote.kind()),
                      "NONE, PER_RANK, PER_NODE, POOL or NETWORK");
  }
  const bool local = remote.kind() == RemoteMemory::NONE;
  if (!local && remote.kind() != RemoteMemory::NETWORK && remote.bandwidth_gbytes_per_s() == 0)
    return BadField("remote_memory.bandwidth_gbytes_per_s", "0", "a number > 0 and <= 1e+09");
  const proto::Device& device = cluster.device();
  out.bandwidth =
      Bandwidth::FromGigabytes(local ? device.memory_gbytes_per_s() : remote.bandwidth_gbytes_per_s());
  out.latency = Time::FromNanos(local ? device.memory_latency_ns() : remote.latency_ns());
  if (remote.kind() == RemoteMemory::PER_NODE && remote.ranks_per_node() == 0) {
    return BadField("remote_memory.ranks_per_node", absl::StrCat(remote.ranks_per_node()), ">= 1");
  }
  out.ranks_per_node = std::max(1, remote.ranks_per_node());
  return out;
}

// Storage nodes on the network need devices without a rank.
absl::Status PlaceStorage(const RemoteMemory& remote, int ranks, int devices, MemoryModel* memory) {
  if (remote.kind() != RemoteMemory::NETWORK) return absl::OkStatus();
  const int left = devices - ranks;
  if (left < 1 || remote.storage_nodes() > left) {
    return BadField("remote_memory.storage_nodes", absl::StrCat(remote.storage_nodes()),
                    absl::StrCat("storage nodes on devices without a rank; of ", devices, " devices ", ranks,
                                 " have one"));
  }
  memory->storage_nodes = remote.storage_nodes() > 0 ? remote.storage_nodes() : left;
  return absl::OkStatus();
}

// Reads "FILE" or "COLLECTIVE=PREFIX".
absl::StatusOr<CustomProgram> LoadProgram(const std::string& spec) {
  const size_t equals = spec.find('=');
  if (equals != std::string::npos) {
    if (const std::optional<CollectiveType> type = CollectiveNamed(spec.substr(0, equals))) {
      return ReadChakraProgram(spec.substr(equals + 1), *type);
    }
  }
  absl::StatusOr<std::string> text = ReadFile(spec);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: collectives.program \"", spec, "\": ", std::string(text.status().message()),
                     "; expected a file of MSCCL XML, or COLLECTIVE=PREFIX of Chakra traces"));
  }
  return ReadMscclXml(*text, spec);
}

absl::Status CheckAlgorithm(const std::string& collective, const std::string& algorithm,
                            const std::vector<std::shared_ptr<const CustomProgram>>& programs) {
  const std::optional<ChoiceKey> key = ParseChoiceKey(collective);
  if (!key) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cluster: collectives.algorithm[\"", collective,
        "\"]: expected a key COLLECTIVE[:RANKS][@BYTES] or COLLECTIVE/GROUP, e.g. all_reduce:8"));
  }
  const std::optional<CollectiveType> type = CollectiveNamed(key->collective);
  if (!type) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: collectives.algorithm names the unknown collective \"", key->collective, "\"",
                     SuggestName(key->collective, CollectiveNames())));
  }
  if (ParseLevelAlgorithms(algorithm) && !PhasesOf(*type, 2).empty()) return absl::OkStatus();
  std::vector<std::string> names = AlgorithmsFor(*type);
  for (const auto& program : programs) {
    if (program->type == *type) names.push_back(program->name);
  }
  if (std::find(names.begin(), names.end(), algorithm) != names.end()) return absl::OkStatus();
  return BadField(absl::StrCat("collectives.algorithm[\"", collective, "\"]"),
                  absl::StrCat("\"", algorithm, "\""),
                  absl::StrCat("one of: ", absl::StrJoin(names, ", "),
                               "; or ring, direct or halving_doubling for each dimension (ring+direct)"));
}

absl::StatusOr<CollectiveCosts> CheckCollectives(const proto::Collectives& c,
                                                 const std::vector<TopologyDimension>& dimensions) {
  CollectiveCosts out;
  if (c.has_library() && std::max(c.splits(), c.splits_at_once()) > 1) {
    return BadField(c.splits() > 1 ? "collectives.splits" : "collectives.splits_at_once",
                    absl::StrCat(std::max(c.splits(), c.splits_at_once())),
                    "1 with collectives.library, which splits by its own chunk_bytes and library.choice");
  }
  out.splits = std::max(1, c.splits());
  out.splits_at_once = std::max(1, c.splits_at_once());
  out.step_overhead = Time::FromNanos(c.step_overhead_ns());
  out.reduce_bandwidth = Bandwidth::FromGigabytes(c.reduce_gbytes_per_s());
  for (const std::string& spec : c.program()) {
    ASSIGN_OR_RETURN(CustomProgram program, LoadProgram(spec));
    out.programs.push_back(std::make_shared<const CustomProgram>(std::move(program)));
  }
  out.algorithm = {c.algorithm().begin(), c.algorithm().end()};
  for (const auto& [collective, algorithm] : out.algorithm) {
    RETURN_IF_ERROR(CheckAlgorithm(collective, algorithm, out.programs));
  }
  if (c.has_library() && !out.algorithm.empty()) {
    return BadField(absl::StrCat("collectives.algorithm[\"", out.algorithm.begin()->first, "\"]"), "set",
                    "none with collectives.library: library.choice names its algorithms");
  }
  if (c.has_library()) {
    ASSIGN_OR_RETURN(LibraryModel library, BuildLibrary(c.library(), dimensions, ProgramNames(out.programs)));
    out.library = std::make_shared<const LibraryModel>(std::move(library));
  }
  return out;
}

// SizeTo() leaves out an open dimension of one block. This leaves out the library's level of that dimension
// too. Errors: a number of levels that differs from the number of dimensions asked for.
absl::Status DropLevel(const proto::Topology& asked, const Topology& built, proto::Collectives* collectives) {
  if (!collectives->has_library()) return absl::OkStatus();
  if (collectives->library().level_size() != asked.dimension_size()) {
    return BadField(
        "collectives.library.level", absl::StrCat("there ", collectives->library().level_size(), " times"),
        absl::StrCat("one for each dimension of the topology, which has ", asked.dimension_size()));
  }
  if (asked.dimension_size() == static_cast<int>(built.dimensions().size())) return absl::OkStatus();
  auto* levels = collectives->mutable_library()->mutable_level();
  for (int i = 0; i < asked.dimension_size(); ++i) {
    if (asked.dimension(i).size() == 0) levels->DeleteSubrange(i, 1);
  }
  return absl::OkStatus();
}

// The device of each rank; empty: rank i is on device i.
absl::StatusOr<std::vector<int>> CheckPlacement(const proto::Placement& placement, int ranks,
                                                const Topology& topology) {
  const std::string& rule = placement.rule();
  if (rule.empty() || rule == "linear") return std::vector<int>();
  const int devices = topology.devices();
  int node = 1;  // devices below the last dimension
  for (size_t d = 0; d + 1 < topology.dimensions().size(); ++d) node *= topology.dimensions()[d].size;
  const std::string where = placement.label().empty() ? "cluster: placement.rule" : placement.label();
  absl::StatusOr<std::vector<int>> placed = PlaceByRule(rule, ranks, devices, node);
  if (!placed.ok() && !LooksLikePlacementRule(rule)) {
    absl::StatusOr<std::string> text = ReadFile(rule);
    if (!text.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": ", placed.status().message(), "; and as a file: ", text.status().message()));
    }
    return ParsePlacement(*text, rule, ranks, devices);
  }
  if (!placed.ok()) return absl::InvalidArgumentError(absl::StrCat(where, ": ", placed.status().message()));
  return placed;
}

// Whether any memory node is a copy such as "Memcpy DtoH (Device -> Pinned)".
bool CopiesToTheHost(const TraceSet& traces) {
  const Graph* last = nullptr;
  for (const RankTrace& trace : traces.ranks) {
    const Graph* const graph = trace.graph.get();
    if (graph == last) continue;
    last = graph;
    for (uint32_t row = 0; row < graph->size(); ++row) {
      if (graph->type[row] != NodeType::kMemLoad && graph->type[row] != NodeType::kMemStore) continue;
      const absl::string_view name = graph->name_of(row);
      if (absl::StartsWith(name, "Memcpy DtoH") || absl::StartsWith(name, "Memcpy HtoD")) return true;
    }
  }
  return false;
}

// Whether the hosts in a network's file count as devices; they may be meant as servers.
bool TakesHostsForDevices(const proto::Topology& topology) {
  const Dimension& last = topology.dimension(topology.dimension_size() - 1);
  return topology.dimension_size() > 1 && !last.network().file().empty() &&
         last.network().span() == proto::Network::ALL_DEVICES;
}

}  // namespace

absl::Status UseHostMemory(const generate::StepPlan* step, const TraceSet& traces, proto::Cluster* cluster) {
  const bool offloads = step != nullptr && step->training.offload.any();
  if (!offloads && !CopiesToTheHost(traces)) return absl::OkStatus();
  if (cluster->remote_memory().kind() != RemoteMemory::NONE) return absl::OkStatus();
  const double rate = cluster->device().host_gbytes_per_s();
  if (rate <= 0) {
    return BadField("device.host_gbytes_per_s", "0",
                    "the rate of the link to the host in GB/s, as --set device.host_gbytes_per_s=52, for the "
                    "step has copies to the host's memory" +
                        std::string(offloads ? " (training.offload)" : ""));
  }
  cluster->mutable_remote_memory()->set_kind(RemoteMemory::PER_RANK);
  cluster->mutable_remote_memory()->set_bandwidth_gbytes_per_s(rate);
  return absl::OkStatus();
}

absl::StatusOr<ClusterModel> BuildCluster(const proto::Cluster& cluster, int ranks) {
  if (ranks < 1) return absl::InvalidArgumentError(absl::StrCat("cluster: ", ranks, " ranks; expected >= 1"));
  RETURN_IF_ERROR(CheckSettings(cluster, "cluster: "));
  ASSIGN_OR_RETURN(BuiltTopology built, BuildTopology(cluster.topology(), ranks));
  const Topology* const topology = &built.topology;
  if (ranks > topology->devices()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: the trace has ", ranks, " ranks, but the topology has only ",
                     topology->devices(), " devices",
                     TakesHostsForDevices(cluster.topology())
                         ? "; if the hosts of the network's file are nodes: --network FILE:span=rails"
                         : ""));
  }
  RETURN_IF_ERROR(CheckDevice(cluster.device()));
  ASSIGN_OR_RETURN(MemoryModel memory, CheckMemory(cluster));
  ASSIGN_OR_RETURN(Variation variation, Variation::Make(cluster.variation(), ranks));
  ASSIGN_OR_RETURN(std::vector<int> device_of, CheckPlacement(cluster.placement(), ranks, *topology));
  RETURN_IF_ERROR(PlaceStorage(cluster.remote_memory(), ranks, topology->devices(), &memory));
  // Storage nodes are on the first devices without a rank.
  std::vector<int> reached = device_of;
  std::vector<bool> taken(static_cast<size_t>(topology->devices()));
  for (const int device : reached) taken[static_cast<size_t>(device)] = true;
  for (int d = 0; !reached.empty() && d < topology->devices(); ++d) {
    if (!taken[static_cast<size_t>(d)]) reached.push_back(d);
  }
  RETURN_IF_ERROR(CheckReachable(built, reached, ranks + memory.storage_nodes));
  ClusterModel model{cluster, built.topology, memory, {}, std::move(variation), std::move(device_of)};
  model.routing = built.routing;
  model.link_changes = built.changes;
  model.notes = built.notes;
  ASSIGN_OR_RETURN(model.packet, BuildPacket(cluster.packet()));
  model.packet_given = cluster.has_packet();
  ASSIGN_OR_RETURN(model.choices, BuildPacketChoices(cluster, ranks, model.device_of));
  RETURN_IF_ERROR(DropLevel(cluster.topology(), model.topology, model.proto.mutable_collectives()));
  ASSIGN_OR_RETURN(model.collectives,
                   CheckCollectives(model.proto.collectives(), model.topology.dimensions()));
  RecordTopology(built, model.proto.mutable_topology());
  return model;
}

}  // namespace chakra
