#include "replay/presets.h"

namespace chakra {

extern const char kDgxV100[], kDgx2[], kV100[];
extern const char kDgxA100[];
extern const char kDgxH100[], kDgxH200[], kDgxH800[], kH100[], kH200[], kHopperNode[], kHopperLibrary[];
extern const char kDgxB200[], kDgxB300[], kGb200Nvl72[], kBlackwellLibrary[], kTraysOfFour[], kLibraryEnd[];
extern const char kMi300x[];

namespace {

constexpr int kMaxParts = 4;

struct Preset {
  const char* name;
  const char* parts[kMaxParts];  // one after another; null: no more
};

constexpr Preset kPresets[] = {
    {"dgx-v100", {kDgxV100, kV100}},
    {"dgx2", {kDgx2, kV100}},
    {"dgx-a100", {kDgxA100}},
    {"dgx-h100", {kDgxH100, kHopperNode, kH100, kHopperLibrary}},
    {"dgx-h200", {kDgxH200, kHopperNode, kH200, kHopperLibrary}},
    {"dgx-h800", {kDgxH800}},
    {"dgx-b200", {kDgxB200, kBlackwellLibrary, kLibraryEnd}},
    {"dgx-b300", {kDgxB300, kBlackwellLibrary, kLibraryEnd}},
    {"gb200-nvl72", {kGb200Nvl72, kBlackwellLibrary, kTraysOfFour, kLibraryEnd}},
    {"mi300x", {kMi300x}},
};

}  // namespace

std::string PresetText(absl::string_view name) {
  std::string text;
  for (const Preset& p : kPresets) {
    if (name != p.name) continue;
    for (const char* part : p.parts) {
      if (part != nullptr) text += part;
    }
  }
  return text;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& p : kPresets) names.emplace_back(p.name);
  return names;
}

}  // namespace chakra
