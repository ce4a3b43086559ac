#include "replay/cluster/devices.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "trace/base/spelling.h"

namespace chakra {
namespace {

absl::StatusOr<proto::Device> Usable(const proto::Device& device, absl::string_view where) {
  if (device.memory_gbytes_per_s() > 0 && !device.peak_tflops().empty()) return device;
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": its device has no ",
                   device.peak_tflops().empty() ? "peak_tflops" : "memory_gbytes_per_s", "; expected both"));
}

}  // namespace

absl::StatusOr<proto::Device> FindDevice(const std::string& name) {
  absl::StatusOr<std::optional<proto::Device>> known = KnownDevice(name);
  if (!known.ok()) return known.status();
  if (*known) return **std::move(known);
  const std::string preset = name.substr(0, name.find(':'));
  std::error_code error;
  if (!PresetText(preset).empty() || std::filesystem::is_regular_file(name, error)) {
    const auto cluster = LoadCluster(name);
    if (!cluster.ok()) return cluster.status();
    return Usable(cluster->device(), name);
  }
  return absl::NotFoundError(absl::StrCat("\"", name, "\" is no device, cluster preset or cluster file",
                                          SuggestName(name, DeviceNames())));
}

}  // namespace chakra
