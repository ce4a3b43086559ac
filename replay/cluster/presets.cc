#include "replay/cluster/presets.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/embedded.h"

namespace chakra {

extern const char kDgxV100[], kDgx2[];
extern const char kDgxA100[];
extern const char kDgxH100[], kDgxH200[], kDgxH800[], kHopperNode[], kHopperLibrary[];
extern const char kGraceSearch[], kBaseboardSearch[], kDgxB200[], kDgxB300[], kGb200Nvl72[],
    kBlackwellLibrary[], kRackSwitch[], kBlackwellNet[];
extern const char kVoltaKernels[], kAmpereKernels[], kHopperKernels[], kBlackwellKernels[], kCdna3Kernels[],
    kLibraryEnd[];
extern const char kGb300Nvl72[];
extern const char kL40sNode[], kRtxPro6000Node[], kPcieKernels[];
extern const char kMi300x[];
// Devices.
extern const char kV100[], kA100Sxm80[], kA100Rates[], kH100[], kH200[], kH800[], kHopperRates[],
    kB200Rates[], kB200[], kB300[], kGb200[], kGb300[], kL40s[], kRtxPro6000[], kMi300[], kMi300Rates[];

namespace machines {
absl::Span<const EmbeddedFile> Embedded();  // machines/
}  // namespace machines

namespace {

constexpr int kMaxParts = 7;

// Parts follow one another; null: no more.
struct Preset {
  const char* name;
  const char* device[2];
  const char* parts[kMaxParts];
};

constexpr Preset kPresets[] = {
    {"dgx-v100", {kV100}, {kDgxV100, kVoltaKernels, kLibraryEnd}},
    {"dgx2", {kV100}, {kDgx2, kVoltaKernels, kLibraryEnd}},
    {"dgx-a100", {kA100Sxm80, kA100Rates}, {kDgxA100, kAmpereKernels, kLibraryEnd}},
    {"dgx-h100", {kH100, kHopperRates}, {kDgxH100, kHopperNode, kHopperLibrary, kHopperKernels, kLibraryEnd}},
    {"dgx-h200", {kH200, kHopperRates}, {kDgxH200, kHopperNode, kHopperLibrary, kHopperKernels, kLibraryEnd}},
    {"dgx-h800", {kH800, kHopperRates}, {kDgxH800, kHopperKernels, kLibraryEnd}},
    {"dgx-b200",
     {kB200, kB200Rates},
     {kDgxB200, kBlackwellLibrary, kBlackwellNet, kBaseboardSearch, kBlackwellKernels, kLibraryEnd}},
    {"dgx-b300",
     {kB300, kB200Rates},
     {kDgxB300, kBlackwellLibrary, kBlackwellNet, kBaseboardSearch, kBlackwellKernels, kLibraryEnd}},
    {"gb200-nvl72",
     {kGb200},
     {kGb200Nvl72, kBlackwellLibrary, kRackSwitch, kBlackwellNet, kGraceSearch, kBlackwellKernels,
      kLibraryEnd}},
    {"gb300-nvl72",
     {kGb300},
     {kGb300Nvl72, kBlackwellLibrary, kRackSwitch, kBlackwellNet, kGraceSearch, kBlackwellKernels,
      kLibraryEnd}},
    {"mi300x", {kMi300, kMi300Rates}, {kMi300x, kCdna3Kernels, kLibraryEnd}},
    {"l40s", {kL40s}, {kL40sNode, kPcieKernels, kLibraryEnd}},
    {"rtx-pro-6000", {kRtxPro6000}, {kRtxPro6000Node, kPcieKernels, kLibraryEnd}},
};

}  // namespace

std::string PresetText(absl::string_view name) {
  std::string text(FindEmbedded(machines::Embedded(), absl::StrCat(name, ".txtpb")));
  for (const Preset& p : kPresets) {
    if (name != p.name) continue;
    const auto add = [&text](const auto& parts) {
      for (const char* part : parts) {
        if (part != nullptr) text += part;
      }
    };
    text = "device {";
    add(p.device);
    text += "}";
    add(p.parts);
  }
  return text;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& p : kPresets) names.emplace_back(p.name);
  for (std::string& name : EmbeddedNames(machines::Embedded())) names.push_back(std::move(name));
  return names;
}

}  // namespace chakra
