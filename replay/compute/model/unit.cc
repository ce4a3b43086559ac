#include <string>

#include "replay/compute/device_rates.h"
#include "replay/compute/model/architectures.h"
#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

// Names of a dtype's peak in Device.peak_tflops, the preferred name first.
const char* const* PeakNames(KernelDtype dtype) {
  static constexpr const char* kNames[kKernelDtypes][3] = {
      {"fp64"}, {"fp32"}, {"tf32"}, {"bf16", "fp16"}, {"fp8"}, {"fp8"}, {"fp4"}, {"int8"}, {"bf16", "fp16"}};
  return kNames[static_cast<size_t>(dtype)];
}

}  // namespace

Unit UnitOf(const proto::Device& device, KernelDtype dtype) {
  Unit unit;
  const Architecture& typical = ArchitectureOf(device);
  unit.units = device.compute_units() > 0 ? device.compute_units() : typical.units;
  const double sustained = SustainedShare(device);
  unit.cycles_per_us = sustained * (device.clock_mhz() > 0 ? device.clock_mhz() : typical.clock_mhz);
  unit.bytes_per_us = device.memory_gbytes_per_s() * 1e3;
  unit.l2_bytes = (device.l2_mbytes() > 0 ? device.l2_mbytes() : typical.l2_mbytes) * 1e6;
  for (const char* const* name = PeakNames(dtype); *name != nullptr && unit.peak_per_us == 0; ++name) {
    const auto it = device.peak_tflops().find(*name);
    if (it == device.peak_tflops().end()) continue;
    unit.peak_per_us = it->second * sustained * 1e6;
    const auto achieved = device.achieved_tflops().find(*name);
    if (achieved != device.achieved_tflops().end()) unit.achieved = achieved->second * 1e6 / unit.peak_per_us;
  }
  return unit;
}

}  // namespace chakra::laws
