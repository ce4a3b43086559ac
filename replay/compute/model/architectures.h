// Which measurements stand for which devices.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/laws.h"

namespace chakra::laws {

// Products that follow each other for seconds. Each was measured on a board of some power, and a device of
// some units and clock.
struct SteadyLoad {
  struct Board {
    double watts = 0, units = 0, clock_mhz = 0;
  };
  double hot = 0;  // kHotShare of them; 0: as kernels alone
  Board board;
  // Of cuBLASLt's products of types of a byte: the same, and the share of the peak that they reach cool,
  // against bf16's; 0: as elsewhere.
  double narrow_hot = 0;
  Board narrow_board;
  double narrow_share = 0;
};

// A family of devices that run the same kernels. To add one: a file in ../architectures, and its devices'
// `architecture`. proto::KernelArchitecture has the fields' meanings too.
struct Architecture {
  absl::string_view name;
  absl::string_view measured;          // the device whose fits count (fits.h)
  absl::string_view name_of_measured;  // as its data sheet here calls it
  bool same = false;                   // it is of this architecture: its residuals count, and its errors
  bool libraries = false;              // it runs the same libraries: kCarriedResidual of its residuals count
  double peak_scale = 1;               // of the fits' shares of peak; 1: as there
  // Of the peak of fp32 without matrix instructions that large products reach, at the clock that they hold;
  // 0: as bf16's.
  double vector_share = 0;
  // Of the peak that matrix instructions of a single warp reach; 1: it has none wider.
  double warp_share = 1;
  double attention_start = 1;  // of attention, times that of the fits
  double attention_scale = 1;  // of the fits' shares of peak and memory, for attention
  // Of attention's rate backward, where values are narrower than keys; A100's for those without measurements.
  double unequal_backward = 0.82;
  StreamConstants stream;
  // For devices that do not say: what a typical one has.
  double units = 0, clock_mhz = 0, l2_mbytes = 0;
  SteadyLoad steady = {};
  double unit_operations = 0;  // of bf16, a cycle and unit, of the measured device
  // Products of fp8 take operands of any layout: none is transposed for them.
  bool any_layout = false;
};

std::vector<absl::string_view> ArchitectureNames();
// Of a device; an unnamed one for a device that does not say its own. One that has a name which is not known
// counts as unnamed.
const Architecture& ArchitectureOf(const proto::Device& device);
// SteadyLoad::hot for operands of `bytes`, on a device whose board may draw another power
// (Device.board_watts) by other units and clocks, the slowest of `devices`.
double SteadyHot(const Architecture& architecture, const proto::Device& device, double bytes,
                 int64_t devices);
// 1; less where the matrix units of a device of a measured architecture are slower than the measured
// device's, by the clock, as H20's are: what part of their rate.
double UnitRate(const Architecture& architecture, const proto::Device& device);
// Of the measured device of a fit (fits.h).
double WarpShareOf(absl::string_view measured);
// nullptr: there is none of this name.
const Architecture* FindArchitecture(absl::string_view name);

}  // namespace chakra::laws
