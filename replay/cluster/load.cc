#include "replay/cluster/load.h"

#include <sys/stat.h>

#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/astra_sim.h"
#include "replay/cluster/presets.h"
#include "trace/base/spelling.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

constexpr absl::string_view kPeak = "peak_tflops";

struct Override {
  const char* key;
  bool integer;   // a whole number >= 1
  bool positive;  // > 0, else >= 0
  void (*apply)(proto::Cluster*, double);
};

proto::Dimension* First(proto::Cluster* c) { return c->mutable_topology()->mutable_dimension(0); }
proto::Dimension* Last(proto::Cluster* c) {
  return c->mutable_topology()->mutable_dimension(c->topology().dimension_size() - 1);
}

constexpr Override kOverrides[] = {
    {"nodes", true, true, [](proto::Cluster* c, double v) { Last(c)->set_size(static_cast<int>(v)); }},
    {"gpus_per_node", true, true,
     [](proto::Cluster* c, double v) { First(c)->set_size(static_cast<int>(v)); }},
    {"nic_gbps", false, true,
     [](proto::Cluster* c, double v) { Last(c)->set_bandwidth_gbytes_per_s(v / 8); }},
    {"nic_latency_ns", false, false, [](proto::Cluster* c, double v) { Last(c)->set_latency_ns(v); }},
    {"nvlink_gbytes_per_s", false, true,
     [](proto::Cluster* c, double v) { First(c)->set_bandwidth_gbytes_per_s(v); }},
    {"nvlink_latency_ns", false, false, [](proto::Cluster* c, double v) { First(c)->set_latency_ns(v); }},
    {"memory_gbytes_per_s", false, true,
     [](proto::Cluster* c, double v) { c->mutable_device()->set_memory_gbytes_per_s(v); }},
    {"memory_latency_ns", false, false,
     [](proto::Cluster* c, double v) { c->mutable_device()->set_memory_latency_ns(v); }},
    {"peak_tflops", false, true,
     [](proto::Cluster* c, double v) {
       (*c->mutable_device()->mutable_peak_tflops())[c->device().default_dtype()] = v;
     }},
    {"splits", true, true,
     [](proto::Cluster* c, double v) { c->mutable_collectives()->set_splits(static_cast<int>(v)); }},
    {"step_overhead_ns", false, false,
     [](proto::Cluster* c, double v) { c->mutable_collectives()->set_step_overhead_ns(v); }},
    {"reduce_gbytes_per_s", false, false,
     [](proto::Cluster* c, double v) { c->mutable_collectives()->set_reduce_gbytes_per_s(v); }},
};

absl::Status BadValue(absl::string_view spec, absl::string_view key, absl::string_view value,
                      absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("cluster \"", spec, "\": ", key, " is \"", value, "\"; expected ", expected));
}

absl::StatusOr<double> ParseValue(absl::string_view spec, absl::string_view key, absl::string_view value,
                                  const Override& o) {
  double v = 0;
  if (!absl::SimpleAtod(value, &v) || !std::isfinite(v)) return BadValue(spec, key, value, "a number");
  if (o.integer && (v != std::floor(v) || v < 1 || v > 1 << 22)) {
    return BadValue(spec, key, value, "a whole number from 1 to 4194304");
  }
  if (o.positive ? v <= 0 : v < 0) return BadValue(spec, key, value, o.positive ? "> 0" : ">= 0");
  return v;
}

absl::Status ApplyOverride(absl::string_view spec, absl::string_view item, proto::Cluster* cluster) {
  const std::pair<absl::string_view, absl::string_view> kv = absl::StrSplit(item, absl::MaxSplits('=', 1));
  if (!absl::StrContains(item, "=")) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster \"", spec, "\": \"", item, "\"; expected KEY=VALUE"));
  }
  const bool of_dtype = absl::StartsWith(kv.first, absl::StrCat(kPeak, "."));
  for (const Override& o : kOverrides) {
    if (kv.first != o.key && !(of_dtype && kPeak == o.key)) continue;
    absl::StatusOr<double> v = ParseValue(spec, kv.first, kv.second, o);
    if (!v.ok()) return v.status();
    if (of_dtype) {
      // An unknown dtype is BuildCluster()'s to refuse.
      const std::string dtype(kv.first.substr(kPeak.size() + 1));
      (*cluster->mutable_device()->mutable_peak_tflops())[dtype] = *v;
    } else {
      o.apply(cluster, *v);
    }
    return absl::OkStatus();
  }
  const std::string nearest = NearestName(kv.first, OverrideKeys());
  return absl::InvalidArgumentError(
      absl::StrCat("cluster \"", spec, "\": unknown key \"", kv.first, "\"",
                   nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"),
                   nearest.empty() ? ". Known: " : " Known: ", absl::StrJoin(OverrideKeys(), ", ")));
}

absl::StatusOr<proto::Cluster> LoadPreset(absl::string_view name, const std::string& spec) {
  proto::Cluster cluster;
  if (absl::Status s = ParseMessage(PresetText(name), absl::StrCat("preset ", name), &cluster); !s.ok())
    return s;
  if (spec.size() == name.size()) return cluster;
  for (absl::string_view item : absl::StrSplit(absl::string_view(spec).substr(name.size() + 1), ',')) {
    if (absl::Status s = ApplyOverride(spec, item, &cluster); !s.ok()) return s;
  }
  cluster.set_name(spec);
  return cluster;
}

}  // namespace

std::vector<std::string> OverrideKeys() {
  std::vector<std::string> keys;
  for (const Override& o : kOverrides) keys.emplace_back(o.key);
  return keys;
}

absl::StatusOr<proto::Cluster> LoadCluster(const std::string& spec, std::vector<std::string>* notes) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (!PresetText(name).empty()) return LoadPreset(name, spec);
  struct stat unused;
  if (::stat(spec.c_str(), &unused) != 0) {
    const std::string nearest = NearestName(name, PresetNames());
    return absl::NotFoundError(
        absl::StrCat("cluster \"", spec, "\" is neither a preset nor a file",
                     nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"),
                     nearest.empty() ? ". Presets: " : " Presets: ", absl::StrJoin(PresetNames(), ", ")));
  }
  if (absl::EndsWith(spec, ".yml") || absl::EndsWith(spec, ".yaml")) {
    AstraSimInputs inputs;
    inputs.network_yaml = spec;
    absl::StatusOr<AstraSimResult> result = ClusterFromAstraSim(inputs);
    if (!result.ok()) return result.status();
    if (notes != nullptr) {
      notes->insert(notes->end(), result->notes.begin(), result->notes.end());
      notes->push_back(absl::StrCat(spec,
                                    ": a network and nothing else; the device, the costs of collectives and "
                                    "remote memory are unknown (convert astra-sim reads these too)"));
    }
    return std::move(result->cluster);
  }
  proto::Cluster cluster;
  if (absl::Status s = ReadMessageFile(spec, &cluster); !s.ok()) return s;
  if (cluster.name().empty()) cluster.set_name(spec);
  return cluster;
}

}  // namespace chakra
