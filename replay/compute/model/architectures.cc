#include "replay/compute/model/architectures.h"

namespace chakra::laws {
namespace {

constexpr absl::string_view kA100 = "A100-SXM4-80GB", kH100 = "H100 80GB HBM3", kB200 = "B200";
constexpr absl::string_view kA100Name = "A100-SXM4-80GB", kH100Name = "H100-SXM5-80GB",
                            kB200Name = "B200-SXM-180GB";

// Streams: the time of a small elementwise kernel in the captures of data/hta and data/kineto, and the share
// of memory's bandwidth that a copy gets (Azure/AI-benchmarking-guide for A100 and H100; a capture for
// MI300X; the others are assumed). Architectures without measurements take the products of the nearest one
// that has matrix instructions of the same kind (a warp's: A100; a group's: H100). MI300X against H100 is
// from two models captured on both (data/kineto): 1.31 times H100's time for large products, 1.43 times for
// attention, 27 us against 9 for a small one. What the other AMD devices and those before A100 are scaled by
// is assumed.
constexpr Architecture kArchitectures[] = {
    {"hopper", kH100, kH100Name, true, 1, 1, 1, {1.5, 0.88}, 132, 1830, 50, 0.172},
    {"blackwell", kB200, kB200Name, true, 1, 1, 1, {1.7, 0.85}, 148, 1860, 126, 0.44},
    {"ampere", kA100, kA100Name, true, 1, 1, 1, {1.6, 0.82}, 108, 1410, 40},
    {"ada", kA100, kA100Name, false, 1, 1, 1, {1.6, 0.85}, 142, 2520, 96},
    {"blackwell_rtx", kA100, kA100Name, false, 1, 1, 1, {1.6, 0.85}, 188, 2600, 128},
    {"turing", kA100, kA100Name, false, 0.9, 1, 0.9, {2.0, 0.8}, 40, 1590, 4},
    {"volta", kA100, kA100Name, false, 0.9, 1, 0.9, {2.0, 0.85}, 80, 1530, 6},
    {"pascal", kA100, kA100Name, false, 0.9, 1, 0.9, {2.5, 0.75}, 56, 1480, 4},
    {"cdna", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.0, 0.75}, 120, 1502, 8},
    {"cdna2", kH100, kH100Name, false, 0.7, 2.5, 0.4, {3.0, 0.78}, 110, 1700, 8},
    {"cdna3", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.2, 0.76}, 304, 2100, 256},
    {"cdna4", kH100, kH100Name, false, 0.58, 2.5, 0.4, {3.2, 0.76}, 256, 2400, 256},
    {"systolic", kH100, kH100Name, false, 1, 1, 1, {2.0, 0.9}, 8, 1000, 128},
};

}  // namespace

absl::Span<const Architecture> Architectures() { return kArchitectures; }

const Architecture& ArchitectureOf(const proto::Device& device) {
  static constexpr Architecture kUnnamed = {"",  kH100,       kH100Name, false, 0.9, 1,
                                            0.9, {2.0, 0.82}, 132,       1830,  50};
  const Architecture* found = FindArchitecture(device.architecture());
  return found == nullptr ? kUnnamed : *found;
}

const Architecture* FindArchitecture(absl::string_view name) {
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace chakra::laws
