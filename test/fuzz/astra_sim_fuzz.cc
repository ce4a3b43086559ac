// ASTRA-sim's network YAML and its system, memory and group JSON, in this order, with lines "----" between
// them. Any bytes give a cluster or an error, never an exception.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "replay/cluster/astra_sim.h"
#include "replay/run/cluster_model.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(astra_sim_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view all(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> parts = absl::StrSplit(all, "\n----\n");
  chakra::AstraSimInputs inputs;
  std::string* const paths[] = {&inputs.network_yaml, &inputs.system_json, &inputs.memory_json,
                                &inputs.groups_json};
  static constexpr const char* kNames[] = {"network.yml", "system.json", "memory.json", "groups.json"};
  for (size_t i = 0; i < parts.size() && i < 4; ++i) {
    if (i == 0 || !parts[i].empty()) *paths[i] = chakra::fuzz::Folder().Write(kNames[i], parts[i]);
  }
  const auto result = chakra::ClusterFromAstraSim(inputs);
  if (!result.ok()) {
    Require(!result.status().message().empty(), "an error says what is wrong");
    return 0;
  }
  int64_t devices = 1;
  for (const auto& d : result->cluster.topology().dimension()) {
    Require(d.size() >= 2 && d.bandwidth_bytes_per_s() >= 1, "a dimension has devices and a bandwidth");
    devices *= d.size();
    if (devices > 4096) return 0;
  }
  (void)chakra::BuildCluster(result->cluster, static_cast<int>(devices));
  return 0;
}
