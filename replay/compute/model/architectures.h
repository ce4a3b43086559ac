// Architectures of devices: which measured device's fits apply to which devices.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/laws.h"

namespace chakra::laws {

// How GEMMs that follow each other for seconds run hotter than single kernels. Each value was measured on a
// board of some power, on a device with some units and clock.
struct SteadyLoad {
  struct Board {
    double watts = 0, units = 0, clock_mhz = 0;
  };
  double hot = 0;  // kHotShare of these GEMMs; 0: they run like single kernels
  Board board;
  // The same for cuBLASLt's GEMMs of 1-byte types. narrow_share is their share of the peak on a cool device,
  // relative to bf16's; 0: the default (kNarrowShare).
  double narrow_hot = 0;
  Board narrow_board;
  double narrow_share = 0;
};

// A family of devices that run the same kernels. To add one, add a file to ../architectures and name the file
// in `architecture` of its devices. proto::KernelArchitecture documents the fields too.
struct Architecture {
  absl::string_view name;
  absl::string_view measured;          // the measured device whose fits are used (fits.h)
  absl::string_view name_of_measured;  // the measured device as its data sheet here names it
  bool same = false;  // the measured device is of this architecture: its residuals and errors apply
  // The measured device runs the same libraries: kCarriedResidual of its residuals apply.
  bool libraries = false;
  double peak_scale = 1;  // factor on the peak shares of the fits
  // The share of the peak of fp32 without matrix instructions that large GEMMs reach, at the clock that they
  // sustain; 0: bf16's share.
  double vector_share = 0;
  // The share of the peak that matrix instructions of a single warp reach; 1: the devices have no wider
  // instructions.
  double warp_share = 1;
  double attention_start = 1;  // factor on the start of attention in the fits
  double attention_scale = 1;  // factor on the shares of peak and memory in the fits, for attention
  // Factor on the backward rate of attention whose values are narrower than its keys. The default is A100's.
  double unequal_backward = 0.82;
  StreamConstants stream;
  // Used for devices that do not give these: the values of a typical device.
  double units = 0, clock_mhz = 0, l2_mbytes = 0;
  SteadyLoad steady = {};
  double unit_operations = 0;  // of the measured device: bf16 operations per cycle and unit
  // GEMMs of fp8 take operands of any layout: no operand is transposed for them.
  bool any_layout = false;
  // The share of the best GEMM that large GEMMs of all shapes reach. The default is that of cuBLAS
  // (../architectures/README.md).
  double all_shapes = 0.89;
};

std::vector<absl::string_view> ArchitectureNames();
// The architecture of a device. A device that names none, or an unknown one, gets the architecture "unnamed".
const Architecture& ArchitectureOf(const proto::Device& device);
// kHotShare of GEMMs in a training step, for operands of `bytes` per element: SteadyLoad::hot, adjusted to
// the power (Device.board_watts), units and clock of the device's board, for the slowest of `devices`
// devices.
double SteadyHot(const Architecture& architecture, const proto::Device& device, double bytes,
                 int64_t devices);
// The rate of the device's matrix units per unit and clock cycle, relative to the measured device of its
// architecture, if it is clearly lower (as H20's is); else 1.
double UnitRate(const Architecture& architecture, const proto::Device& device);
// warp_share of the architecture that the measured device of a fit belongs to (fits.h).
double WarpShareOf(absl::string_view measured);
// nullptr: there is no architecture of this name.
const Architecture* FindArchitecture(absl::string_view name);

}  // namespace chakra::laws
