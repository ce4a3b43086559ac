#include "replay/presets.h"

namespace chakra {

extern const char kDgxA100[];
extern const char kDgxH100[];

namespace {

struct Preset {
  const char* name;
  const char* text;
};

constexpr Preset kPresets[] = {
    {"dgx-a100", kDgxA100},
    {"dgx-h100", kDgxH100},
};

}  // namespace

absl::string_view PresetText(absl::string_view name) {
  for (const Preset& p : kPresets) {
    if (name == p.name) return p.text;
  }
  return "";
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& p : kPresets) names.emplace_back(p.name);
  return names;
}

}  // namespace chakra
