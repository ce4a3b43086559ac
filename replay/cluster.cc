#include "replay/cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/collectives/custom/chakra_program.h"
#include "replay/collectives/custom/msccl_xml.h"
#include "replay/collectives/registry.h"
#include "replay/library/choose.h"
#include "replay/library/library.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

using proto::Dimension;
using proto::RemoteMemory;

absl::Status Bad(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("cluster: ", field, " is ", got, "; expected ", expected));
}

// Finite and in [0, limit]; > 0 where required.
absl::Status CheckNumber(absl::string_view field, double v, double limit, bool required) {
  if (!std::isfinite(v) || v < 0 || v > limit || (required && v == 0)) {
    return Bad(field, absl::StrCat(v),
               absl::StrCat("a number ", required ? "> 0" : ">= 0", " and <= ", limit));
  }
  return absl::OkStatus();
}

constexpr double kMaxGigabytesPerSecond = 1e9;
constexpr double kMaxNanos = 1e9;

absl::StatusOr<Bandwidth> CheckBandwidth(absl::string_view field, double gigabytes_per_s, bool required) {
  if (absl::Status s = CheckNumber(field, gigabytes_per_s, kMaxGigabytesPerSecond, required); !s.ok())
    return s;
  const Bandwidth b = Bandwidth::FromGigabytes(gigabytes_per_s);
  if (gigabytes_per_s > 0 && b.bytes_per_second() < 1) {
    return Bad(field, absl::StrCat(gigabytes_per_s), "at least 1e-9 (1 B/s)");
  }
  return b;
}

absl::StatusOr<Time> CheckNanos(absl::string_view field, double ns) {
  if (absl::Status s = CheckNumber(field, ns, kMaxNanos, false); !s.ok()) return s;
  return Time::FromNanos(ns);
}

std::string DimensionField(int i, absl::string_view field) {
  return absl::StrCat("topology.dimension[", i, "].", field);
}

absl::StatusOr<TopologyDimension> CheckDimension(const Dimension& d, int i) {
  TopologyDimension out;
  switch (d.kind()) {
    case Dimension::RING:
      out.kind = TopologyDimension::Kind::kRing;
      break;
    case Dimension::FULLY_CONNECTED:
      out.kind = TopologyDimension::Kind::kFullyConnected;
      break;
    case Dimension::SWITCH:
      out.kind = TopologyDimension::Kind::kSwitch;
      break;
    default:
      return Bad(DimensionField(i, "kind"), d.kind() == 0 ? std::string("not set") : absl::StrCat(d.kind()),
                 "RING, FULLY_CONNECTED or SWITCH");
  }
  if (d.size() < 0) {
    return Bad(DimensionField(i, "size"), absl::StrCat(d.size()), ">= 1, or 0 for what the trace needs");
  }
  out.size = d.size();
  if (d.bandwidth_bytes_per_s() < 0) {
    return Bad(DimensionField(i, "bandwidth_bytes_per_s"), absl::StrCat(d.bandwidth_bytes_per_s()), "> 0");
  }
  const bool exact = d.bandwidth_bytes_per_s() > 0;
  absl::StatusOr<Bandwidth> bandwidth =
      CheckBandwidth(DimensionField(i, "bandwidth_gbytes_per_s"), d.bandwidth_gbytes_per_s(), !exact);
  if (!bandwidth.ok()) return bandwidth.status();
  out.bandwidth = exact ? Bandwidth::BytesPerSecond(d.bandwidth_bytes_per_s()) : *bandwidth;
  absl::StatusOr<Time> latency = CheckNanos(DimensionField(i, "latency_ns"), d.latency_ns());
  if (!latency.ok()) return latency.status();
  out.latency = *latency;
  out.name = d.name().empty() ? absl::StrCat("dim", i) : d.name();
  return out;
}

// Fills the open dimension, or shrinks the fixed ones; see BuildCluster().
absl::Status SizeTo(int64_t ranks, size_t open, std::vector<TopologyDimension>* dims) {
  int64_t fixed = 1;
  for (size_t i = 0; i < dims->size(); ++i) {
    if (i != open) fixed = std::min<int64_t>(fixed * (*dims)[i].size, int64_t{1} << 31);
  }
  (*dims)[open].size = static_cast<int>(std::max<int64_t>(1, ranks / fixed));
  int64_t left = ranks;
  bool whole = ranks < fixed || ranks % fixed == 0;
  if (ranks < fixed) {
    for (size_t i = 0; i < dims->size(); ++i) {
      int& size = (*dims)[i].size;
      if (left < size) size = static_cast<int>(left);
      whole = whole && left % size == 0;
      left /= size;
    }
  }
  if (!whole) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: ", ranks, " ranks do not fill whole blocks of the fixed dimensions (", fixed,
                     " devices); expected a multiple of ", fixed, ", or give topology.dimension[", open,
                     "].size (nodes=N of a preset) or another size of the others (gpus_per_node=N)"));
  }
  if ((*dims)[open].size == 1 && dims->size() > 1)
    dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(open));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TopologyDimension>> CheckTopology(const proto::Topology& topology, int ranks) {
  if (topology.dimension_size() == 0) return Bad("topology.dimension", "missing", "at least one");
  if (topology.dimension_size() > Topology::kMaxDimensions) {
    return Bad("topology.dimension", absl::StrCat("there ", topology.dimension_size(), " times"),
               absl::StrCat("at most ", Topology::kMaxDimensions));
  }
  std::vector<TopologyDimension> dims;
  int open = -1;
  for (int i = 0; i < topology.dimension_size(); ++i) {
    absl::StatusOr<TopologyDimension> d = CheckDimension(topology.dimension(i), i);
    if (!d.ok()) return d.status();
    if (d->size == 0 && open >= 0) {
      return Bad(DimensionField(i, "size"), "0",
                 absl::StrCat(">= 1: dimension[", open, "] is the one that is sized to the trace"));
    }
    if (d->size == 0) open = i;
    dims.push_back(*std::move(d));
  }
  if (open >= 0) {
    if (absl::Status s = SizeTo(ranks, static_cast<size_t>(open), &dims); !s.ok()) return s;
  }
  return dims;
}

absl::Status CheckDevice(const proto::Device& device) {
  const std::vector<std::string> dtypes = PeakDtypes();
  const auto known = [&](const std::string& d) {
    return std::find(dtypes.begin(), dtypes.end(), d) != dtypes.end();
  };
  const std::map<std::string, double> peaks(device.peak_tflops().begin(), device.peak_tflops().end());
  for (const auto& [dtype, tflops] : peaks) {
    if (!known(dtype)) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: device.peak_tflops names the unknown dtype \"",
                                                     dtype, "\"", SuggestName(dtype, dtypes)));
    }
    const std::string field = absl::StrCat("device.peak_tflops[\"", dtype, "\"]");
    if (absl::Status s = CheckNumber(field, tflops, 1e9, false); !s.ok()) return s;
  }
  if (!device.default_dtype().empty() && !known(device.default_dtype())) {
    return absl::InvalidArgumentError(absl::StrCat("cluster: device.default_dtype is \"",
                                                   device.default_dtype(), "\"",
                                                   SuggestName(device.default_dtype(), dtypes)));
  }
  return CheckNumber("device.memory_gbytes_per_s", device.memory_gbytes_per_s(), kMaxGigabytesPerSecond,
                     false);
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
    default:
      return Bad("remote_memory.kind", absl::StrCat(remote.kind()), "NONE, PER_RANK, PER_NODE or POOL");
  }
  const bool local = remote.kind() == RemoteMemory::NONE;
  absl::StatusOr<Bandwidth> own =
      CheckBandwidth("device.memory_gbytes_per_s", cluster.device().memory_gbytes_per_s(), false);
  if (!own.ok()) return own.status();
  absl::StatusOr<Time> own_latency =
      CheckNanos("device.memory_latency_ns", cluster.device().memory_latency_ns());
  if (!own_latency.ok()) return own_latency.status();
  absl::StatusOr<Bandwidth> far =
      CheckBandwidth("remote_memory.bandwidth_gbytes_per_s", remote.bandwidth_gbytes_per_s(), !local);
  if (!far.ok()) return far.status();
  absl::StatusOr<Time> far_latency = CheckNanos("remote_memory.latency_ns", remote.latency_ns());
  if (!far_latency.ok()) return far_latency.status();
  out.bandwidth = local ? *own : *far;
  out.latency = local ? *own_latency : *far_latency;
  if (remote.kind() == RemoteMemory::PER_NODE ? remote.ranks_per_node() < 1 : remote.ranks_per_node() < 0) {
    return Bad("remote_memory.ranks_per_node", absl::StrCat(remote.ranks_per_node()), ">= 1");
  }
  out.ranks_per_node = std::max(1, remote.ranks_per_node());
  return out;
}

// "FILE" or "COLLECTIVE=PREFIX".
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
  const std::optional<CollectiveType> type = CollectiveNamed(collective);
  if (!type) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: collectives.algorithm names the unknown collective \"", collective, "\"",
                     SuggestName(collective, CollectiveNames())));
  }
  std::vector<std::string> names = AlgorithmsFor(*type);
  for (const auto& program : programs) {
    if (program->type == *type) names.push_back(program->name);
  }
  if (std::find(names.begin(), names.end(), algorithm) != names.end()) return absl::OkStatus();
  return Bad(absl::StrCat("collectives.algorithm[\"", collective, "\"]"), absl::StrCat("\"", algorithm, "\""),
             absl::StrCat("one of: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<CollectiveCosts> CheckCollectives(const proto::Collectives& c,
                                                 const std::vector<TopologyDimension>& dimensions) {
  CollectiveCosts out;
  if (c.splits() < 0 || c.splits() > 1 << 20) {
    return Bad("collectives.splits", absl::StrCat(c.splits()), "1 to 1048576");
  }
  if (c.has_library() && c.splits() > 1) {
    return Bad(
        "collectives.splits", absl::StrCat(c.splits()),
        "1 beside collectives.library, which cuts by its chunk_bytes and takes what library.choice says");
  }
  out.splits = std::max(1, c.splits());
  absl::StatusOr<Time> overhead = CheckNanos("collectives.step_overhead_ns", c.step_overhead_ns());
  if (!overhead.ok()) return overhead.status();
  out.step_overhead = *overhead;
  absl::StatusOr<Bandwidth> reduce =
      CheckBandwidth("collectives.reduce_gbytes_per_s", c.reduce_gbytes_per_s(), false);
  if (!reduce.ok()) return reduce.status();
  out.reduce_bandwidth = *reduce;
  for (const std::string& spec : c.program()) {
    absl::StatusOr<CustomProgram> program = LoadProgram(spec);
    if (!program.ok()) return program.status();
    out.programs.push_back(std::make_shared<const CustomProgram>(*std::move(program)));
  }
  out.algorithm = {c.algorithm().begin(), c.algorithm().end()};
  for (const auto& [collective, algorithm] : out.algorithm) {
    if (absl::Status s = CheckAlgorithm(collective, algorithm, out.programs); !s.ok()) return s;
  }
  if (c.has_library() && !out.algorithm.empty()) {
    return Bad(absl::StrCat("collectives.algorithm[\"", out.algorithm.begin()->first, "\"]"), "set",
               "none beside collectives.library: library.choice names its algorithms");
  }
  if (c.has_library()) {
    absl::StatusOr<LibraryModel> library = BuildLibrary(c.library(), dimensions, ProgramNames(out.programs));
    if (!library.ok()) return library.status();
    out.library = std::make_shared<const LibraryModel>(*std::move(library));
  }
  return out;
}

// SizeTo() leaves an open dimension of one block out; so does the library. Errors: a number of levels that
// the topology as asked for does not have, whether or not one is left out.
absl::Status DropLevel(const proto::Topology& asked, const Topology& built, proto::Collectives* collectives) {
  if (!collectives->has_library()) return absl::OkStatus();
  if (collectives->library().level_size() != asked.dimension_size()) {
    return Bad("collectives.library.level",
               absl::StrCat("there ", collectives->library().level_size(), " times"),
               absl::StrCat("one for each dimension of the topology, which has ", asked.dimension_size()));
  }
  if (asked.dimension_size() == static_cast<int>(built.dimensions().size())) return absl::OkStatus();
  auto* levels = collectives->mutable_library()->mutable_level();
  for (int i = 0; i < asked.dimension_size(); ++i) {
    if (asked.dimension(i).size() == 0) levels->DeleteSubrange(i, 1);
  }
  return absl::OkStatus();
}

// The topology that was built, back in the proto.
void Record(const Topology& topology, proto::Topology* out) {
  out->clear_dimension();
  for (const TopologyDimension& d : topology.dimensions()) {
    Dimension* p = out->add_dimension();
    p->set_kind(d.kind == TopologyDimension::Kind::kRing             ? Dimension::RING
                : d.kind == TopologyDimension::Kind::kFullyConnected ? Dimension::FULLY_CONNECTED
                                                                     : Dimension::SWITCH);
    p->set_size(d.size);
    p->set_bandwidth_gbytes_per_s(static_cast<double>(d.bandwidth.bytes_per_second()) / 1e9);
    p->set_bandwidth_bytes_per_s(d.bandwidth.bytes_per_second());
    p->set_latency_ns(static_cast<double>(d.latency.picos()) / 1000);
    p->set_name(d.name);
  }
}

}  // namespace

std::vector<std::string> PeakDtypes() { return {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8"}; }

absl::StatusOr<ClusterModel> BuildCluster(const proto::Cluster& cluster, int ranks) {
  if (ranks < 1) return absl::InvalidArgumentError(absl::StrCat("cluster: ", ranks, " ranks; expected >= 1"));
  absl::StatusOr<std::vector<TopologyDimension>> dims = CheckTopology(cluster.topology(), ranks);
  if (!dims.ok()) return dims.status();
  absl::StatusOr<Topology> topology = Topology::Make(*std::move(dims));
  if (!topology.ok()) return topology.status();
  if (ranks > topology->devices()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cluster: the trace has ", ranks, " ranks, the topology only ", topology->devices(), " devices"));
  }
  if (absl::Status s = CheckDevice(cluster.device()); !s.ok()) return s;
  absl::StatusOr<MemoryModel> memory = CheckMemory(cluster);
  if (!memory.ok()) return memory.status();
  ClusterModel model{cluster, *std::move(topology), *memory, {}};
  if (absl::Status s = DropLevel(cluster.topology(), model.topology, model.proto.mutable_collectives());
      !s.ok())
    return s;
  absl::StatusOr<CollectiveCosts> collectives =
      CheckCollectives(model.proto.collectives(), model.topology.dimensions());
  if (!collectives.ok()) return collectives.status();
  model.collectives = *std::move(collectives);
  Record(model.topology, model.proto.mutable_topology());
  return model;
}

}  // namespace chakra
