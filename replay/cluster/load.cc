#include "replay/cluster/load.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/astra_sim.h"
#include "replay/cluster/base.h"
#include "replay/cluster/presets.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"
#include "trace/io/short_form.h"
#include "trace/io/topic.h"

namespace chakra {
namespace {

// A key of "PRESET:key=value" sets a field.
struct Override {
  const char* key;
  const char* path;
  const char* doc;
  double scale = 1;  // plain numbers are divided by this: units of the key in one unit of the field
};
constexpr absl::string_view kPeak = "peak_tflops";
constexpr Override kOverrides[] = {
    {"nodes", "topology.dimension[-1].size", "number of nodes"},
    {"gpus_per_node", "topology.dimension[0].size", "number of devices of a node"},
    {"nic_gbps", "topology.dimension[-1].bandwidth_gbytes_per_s", "rate of a NIC in each direction, Gb/s", 8},
    {"nic_latency_ns", "topology.dimension[-1].latency_ns", "latency of a link between nodes, ns"},
    {"nvlink_gbytes_per_s", "topology.dimension[0].bandwidth_gbytes_per_s",
     "bandwidth of a device inside a node in each direction, GB/s"},
    {"nvlink_latency_ns", "topology.dimension[0].latency_ns", "latency of a link inside a node, ns"},
    {"memory_gbytes_per_s", "device.memory_gbytes_per_s", "bandwidth of the device's memory, GB/s"},
    {"memory_latency_ns", "device.memory_latency_ns", "latency of the device's memory, ns"},
    {"peak_tflops", "device.peak_tflops",
     "dense peak of the device in its default dtype, TFLOP/s; peak_tflops.fp16=... for another dtype"},
    {"library", "collectives.library.name", "collective library: nccl, mpi, open-mpi or mpich"},
    {"nccl", "collectives.library.version", "release of NCCL, as 2.27"},
    {"transport", "collectives.library.level[-1].transport.name",
     "transport between nodes, as `chakra-replay topology transport` lists"},
    {"splits", "collectives.splits", "parts of a collective that run one after another"},
    {"splits_at_once", "collectives.splits_at_once", "parts of a collective that run at the same time"},
    {"step_overhead_ns", "collectives.step_overhead_ns", "time before each send of a collective, ns"},
    {"reduce_gbytes_per_s", "collectives.reduce_gbytes_per_s",
     "memory bandwidth of a reduction, GB/s; 0: reductions take no time"},
};

// Whether the key may be set to 0. For a size, a rate or a peak, 0 would mean open or unknown.
bool MayBeZero(absl::string_view key) {
  return absl::EndsWith(key, "_latency_ns") || key == "step_overhead_ns" || key == "reduce_gbytes_per_s";
}

// Sets the size of a node of several dimensions (all but the last), from the inside out.
absl::Status SizeNode(int gpus, proto::Topology* topology) {
  int left = gpus;
  for (int i = 0; i + 1 < topology->dimension_size(); ++i) {
    proto::Dimension* d = topology->mutable_dimension(i);
    d->set_size(std::min(d->size(), left));
    if (left % d->size() != 0) break;
    left /= d->size();
  }
  if (left == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("is ", gpus, "; expected a number of devices that fills whole pairs"));
}

absl::Status SetOverride(absl::string_view spec, absl::string_view key, absl::string_view value,
                         const Override& o, proto::Cluster* cluster) {
  std::string path = o.path, text(value);
  if (o.key == kPeak) {
    // BuildCluster() reports an unknown dtype.
    const absl::string_view dtype =
        key == kPeak ? cluster->device().default_dtype() : key.substr(kPeak.size() + 1);
    absl::StrAppend(&path, "[", dtype, "]");
  }
  const std::string where = absl::StrCat("cluster \"", spec, "\": ", key);
  double plain = 0;
  const bool is_plain = absl::SimpleAtod(text, &plain) && std::isfinite(plain);
  if (is_plain && plain == 0 && !MayBeZero(o.key)) {
    return absl::InvalidArgumentError(absl::StrCat(where, " is \"", value, "\"; expected a number > 0"));
  }
  if (key == "gpus_per_node" && is_plain && cluster->topology().dimension_size() > 2) {
    if (absl::Status s = SizeNode(static_cast<int>(std::clamp(plain, 1.0, 1e6)), cluster->mutable_topology());
        !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(where, " ", s.message()));
    }
    return absl::OkStatus();
  }
  if (is_plain && o.scale != 1) text = absl::StrFormat("%.17g", plain / o.scale);
  if (absl::Status s = SetField(path, text, cluster); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", s.message()));
  return CheckSettings(*cluster, absl::StrCat(where, ": "));
}

absl::Status ApplyOverride(absl::string_view spec, absl::string_view item, proto::Cluster* cluster) {
  const std::pair<absl::string_view, absl::string_view> kv = absl::StrSplit(item, absl::MaxSplits('=', 1));
  if (!absl::StrContains(item, "=")) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster \"", spec, "\": \"", item, "\"; expected KEY=VALUE"));
  }
  const bool of_dtype = absl::StartsWith(kv.first, absl::StrCat(kPeak, "."));
  for (const Override& o : kOverrides) {
    if (kv.first == o.key || (of_dtype && kPeak == o.key))
      return SetOverride(spec, kv.first, kv.second, o, cluster);
  }
  return absl::InvalidArgumentError(absl::StrCat("cluster \"", spec, "\": unknown key \"", kv.first, "\"",
                                                 SuggestKey(kv.first, OverrideKeys(), "cluster")));
}

constexpr int kMostBases = 8;

absl::StatusOr<proto::Cluster> Load(const std::string& spec, int depth, std::vector<std::string>* notes);

// Loads the cluster's base, and puts the cluster on top of it. `depth`: the number of bases so far.
absl::Status Resolve(const std::string& where, int depth, proto::Cluster* cluster) {
  proto::Cluster base;
  if (!cluster->base().empty()) {
    if (depth >= kMostBases) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": base \"", cluster->base(), "\" is in a chain of ", depth,
                       " bases; expected a chain that does not return to itself"));
    }
    absl::StatusOr<proto::Cluster> loaded = Load(cluster->base(), depth + 1, nullptr);
    if (!loaded.ok()) {
      return absl::Status(loaded.status().code(), absl::StrCat(where, ": base: ", loaded.status().message()));
    }
    base = *std::move(loaded);
  }
  return PutOnBase(where, std::move(base), cluster);
}

absl::StatusOr<proto::Cluster> LoadPreset(absl::string_view name, const std::string& text,
                                          const std::string& spec, int depth) {
  proto::Cluster cluster;
  RETURN_IF_ERROR(ParseMessage(text, absl::StrCat("preset ", name), &cluster));
  RETURN_IF_ERROR(Resolve(absl::StrCat("preset ", name), depth, &cluster));
  if (spec.size() == name.size()) return cluster;
  for (absl::string_view item : absl::StrSplit(absl::string_view(spec).substr(name.size() + 1), ',')) {
    RETURN_IF_ERROR(ApplyOverride(spec, item, &cluster));
  }
  cluster.set_name(spec);
  return cluster;
}

absl::StatusOr<proto::Cluster> Load(const std::string& spec, int depth, std::vector<std::string>* notes) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (const std::string text = PresetText(name); !text.empty()) return LoadPreset(name, text, spec, depth);
  struct stat unused;
  if (::stat(spec.c_str(), &unused) != 0) {
    if (absl::Status s = CheckColon(spec, "a change of a preset"); !s.ok())
      return absl::InvalidArgumentError(absl::StrCat("cluster \"", spec, "\": ", s.message()));
    const std::string nearest = NearestName(name, PresetNames());
    return absl::NotFoundError(
        absl::StrCat("cluster \"", spec, "\" is neither a preset nor a file",
                     nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"),
                     nearest.empty() ? ". Presets: " : " Presets: ", absl::StrJoin(PresetNames(), ", ")));
  }
  if (absl::EndsWith(spec, ".yml") || absl::EndsWith(spec, ".yaml")) {
    AstraSimInputs inputs;
    inputs.network_yaml = spec;
    ASSIGN_OR_RETURN(AstraSimResult result, ClusterFromAstraSim(inputs));
    if (notes != nullptr) {
      notes->insert(notes->end(), result.notes.begin(), result.notes.end());
      notes->push_back(absl::StrCat(spec,
                                    ": only a network; the device, the costs of collectives and "
                                    "remote memory are unknown (convert astra-sim reads these too)"));
    }
    return std::move(result.cluster);
  }
  proto::Cluster cluster;
  RETURN_IF_ERROR(ReadMessageFile(spec, &cluster));
  RETURN_IF_ERROR(Resolve(spec, depth, &cluster));
  if (cluster.name().empty()) cluster.set_name(spec);
  return cluster;
}

}  // namespace

std::vector<OverrideDoc> DescribeOverrides() {
  std::vector<OverrideDoc> docs;
  for (const Override& o : kOverrides) docs.push_back({o.key, o.path, o.doc});
  return docs;
}

std::vector<std::string> OverrideKeys() {
  std::vector<std::string> keys;
  for (const Override& o : kOverrides) keys.emplace_back(o.key);
  return keys;
}

absl::StatusOr<proto::Cluster> LoadCluster(const std::string& spec, std::vector<std::string>* notes) {
  return Load(spec, 0, notes);
}

}  // namespace chakra
