#include "replay/run/machine.h"

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/cluster/set_field.h"
#include "replay/cluster/variation.h"

namespace chakra {

std::string ClusterSpec(const RunOptions& options) {
  return options.cluster.empty() ? kDefaultCluster : options.cluster;
}

absl::StatusOr<proto::Cluster> DescribeMachine(const RunOptions& options, std::vector<std::string>* notes) {
  auto loaded = LoadCluster(ClusterSpec(options), notes);
  if (!loaded.ok()) return loaded.status();
  for (const std::string& p : options.programs) loaded->mutable_collectives()->add_program(p);
  if (!options.placement.empty()) {
    loaded->mutable_placement()->set_rule(options.placement);
    loaded->mutable_placement()->set_label(absl::StrCat("--placement \"", options.placement, "\""));
  }
  for (const std::string& s : options.stragglers) {
    if (absl::Status bad = AddStraggler(s, loaded->mutable_variation()); !bad.ok()) return bad;
  }
  if (options.seed != 0) loaded->mutable_variation()->set_seed(options.seed);
  if (absl::Status s = ApplyTopologyOptions(options.topology, &*loaded, notes); !s.ok()) return s;
  for (const std::string& text : options.set) {
    if (absl::Status s = SetFieldFromText(text, &*loaded); !s.ok())
      return absl::Status(s.code(), absl::StrCat("--set ", s.message()));
  }
  return loaded;
}

absl::StatusOr<ClusterModel> BuildMachine(const RunOptions& options, int ranks,
                                          std::vector<std::string>* notes) {
  auto described = DescribeMachine(options, notes);
  if (!described.ok()) return described.status();
  auto built = BuildCluster(*described, ranks);
  if (built.ok()) return built;
  return absl::Status(built.status().code(),
                      absl::StrCat(ClusterSpec(options), ": ", built.status().message()));
}

}  // namespace chakra
