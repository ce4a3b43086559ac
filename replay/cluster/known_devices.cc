#include "replay/cluster/known_devices.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/io/proto_io.h"

namespace chakra {

extern const char kP4[], kP100Pcie[], kP100Sxm[], kV100[], kV100Pcie[], kT4[], kA10[], kA100Rates[],
    kA100Pcie40[], kA100Sxm40[], kA100Sxm80[], kA100Pcie80[], kL4[], kL40s[], kH100Pcie[], kHopperRates[],
    kH100[], kH200[], kH800[], kH20[], kB200Rates[], kB200[], kB300[], kGb200[], kGb300[], kRtxPro6000[],
    kMi100[], kMi210[], kMi250[], kMi200Die[], kMi250x[], kMi300Rates[], kMi300[], kMi325x[], kMi355x[];

namespace {

struct Entry {
  const char* names;  // others that it goes by, by blanks; its own is in the text
  const char* text;
  const char* more = "";
};

// A line for each device. To add one: its text in presets/devices.cc, and a line.
constexpr Entry kDevices[] = {
    {"tesla-p4", kP4},
    {"p100 p100-pcie", kP100Pcie},
    {"p100-sxm2", kP100Sxm},
    {"v100 v100-sxm2 v100-sxm2-32gb v100-sxm2-16gb v100-sxm3-32gb", kV100},
    {"v100-pcie v100-pcie-16gb", kV100Pcie},
    {"tesla-t4", kT4},
    {"a10g", kA10},
    {"a100 a100-sxm a100-sxm4 a100-80gb a100-sxm-80gb", kA100Sxm80, kA100Rates},
    {"a100-40gb a100-sxm-40gb a100-pg509-200", kA100Sxm40, kA100Rates},
    {"a100-pcie-40g", kA100Pcie40, kA100Rates},
    {"a100-pcie a100-80gb-pcie", kA100Pcie80, kA100Rates},
    {"l4-24gb", kL4},
    {"l40s-48gb", kL40s},
    {"h100 h100-sxm h100-sxm5 h100-80gb h100-80gb-hbm3 h100-sxm-80gb", kH100, kHopperRates},
    {"h100-pcie", kH100Pcie},
    {"h200 h200-sxm h200-141gb", kH200, kHopperRates},
    {"h800 h800-sxm h800-80gb", kH800, kHopperRates},
    {"h20", kH20},
    {"b200 b200-sxm b200-180gb", kB200, kB200Rates},
    {"b300 b300-sxm b300-288gb", kB300, kB200Rates},
    {"gb200 gb200-185gb gb200-nvl72", kGb200},
    {"gb300 gb300-nvl72", kGb300},
    {"rtx-pro-6000 rtx-pro-6000-blackwell", kRtxPro6000},
    {"mi100-32gb", kMi100},
    {"mi210-64gb", kMi210, kMi200Die},
    {"mi250 mi250-128gb", kMi250, kMi200Die},
    {"mi250x mi250x-128gb", kMi250x},
    {"mi300x mi300x-oam", kMi300, kMi300Rates},
    {"mi325x", kMi325x, kMi300Rates},
    {"mi355x", kMi355x},
};

// Without case, separators and vendors.
std::string Plain(absl::string_view name) {
  std::vector<std::string> words;
  for (absl::string_view w : absl::StrSplit(name, absl::ByAnyChar(" -_"), absl::SkipEmpty())) {
    const std::string word = absl::AsciiStrToLower(w);
    if (word == "nvidia" || word == "tesla" || word == "amd" || word == "instinct") continue;
    if (word == "vf") continue;  // a virtual function is the device
    words.push_back(word);
  }
  return absl::StrJoin(words, "");
}

absl::StatusOr<proto::Device> DeviceOf(const Entry& entry) {
  proto::Device device;
  const std::string text = absl::StrCat(entry.text, entry.more);
  if (absl::Status s = ParseTextMessage(text, "device preset", &device); !s.ok()) return s;
  return device;
}

}  // namespace

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names;
  for (const Entry& e : kDevices) {
    if (const auto device = DeviceOf(e); device.ok()) names.push_back(device->name());
  }
  return names;
}

absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name) {
  const std::string plain = Plain(name);
  if (plain.empty()) return std::nullopt;
  for (const Entry& e : kDevices) {
    absl::StatusOr<proto::Device> device = DeviceOf(e);
    if (!device.ok()) return device.status();
    if (plain == Plain(device->name())) return device;
    for (absl::string_view other : absl::StrSplit(e.names, ' ')) {
      if (plain == Plain(other)) return device;
    }
  }
  return std::nullopt;
}

std::vector<std::string> PeakDtypes() {
  return {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8"};
}

}  // namespace chakra
