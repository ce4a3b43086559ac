#include "replay/cluster/devices.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

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
  ASSIGN_OR_RETURN(std::optional<proto::Device> known, KnownDevice(name));
  if (known) return *std::move(known);
  const std::string preset = name.substr(0, name.find(':'));
  std::error_code error;
  if (IsPreset(preset) || std::filesystem::is_regular_file(name, error)) {
    ASSIGN_OR_RETURN(const auto cluster, LoadCluster(name));
    return Usable(cluster.device(), name);
  }
  return absl::NotFoundError(absl::StrCat("\"", name, "\" is not a device, cluster preset or cluster file",
                                          SuggestName(name, DeviceNames())));
}

}  // namespace chakra
