// The --cluster argument "PRESET:key=value,...": the first byte chooses the
// preset, the second the number of ranks.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "replay/run/cluster_model.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(cluster_spec_fuzz, data, size) {
  using chakra::fuzz::Require;
  chakra::fuzz::Bytes in(data, size);
  const auto presets = chakra::PresetNames();
  const std::string& preset = presets[in.Below(static_cast<uint32_t>(presets.size()))];
  const int ranks = 1 + in.Next();
  const auto cluster = chakra::LoadCluster(absl::StrCat(preset, ":", in.Rest()));
  if (!cluster.ok()) {
    Require(!cluster.status().message().empty(), "an error says what is wrong");
    return 0;
  }
  int64_t devices = 1;
  for (const auto& d : cluster->topology().dimension()) devices *= d.size() > 0 ? d.size() : 1;
  if (devices > 1 << 16) return 0;  // valid, but slow to build for each input
  const auto model = chakra::BuildCluster(*cluster, ranks);
  Require(!model.ok() || model->topology.devices() >= ranks, "every rank has a device");
  return 0;
}
