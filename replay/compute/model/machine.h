// What the model knows of a device: its units and the fits that count for it.
#pragma once

#include <array>
#include <string>

#include "proto/cluster.pb.h"
#include "replay/compute/model/architectures.h"
#include "replay/compute/model/fits.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/compute/model/laws.h"

namespace chakra {

struct KernelModel::Machine {
  // How near the device is to one that was measured.
  enum class Rest { kMeasured, kSibling, kDataSheet };

  proto::Device device;
  const laws::Architecture* architecture = nullptr;
  Rest rest = Rest::kDataSheet;
  KernelLoad load;
  std::array<laws::Unit, kKernelDtypes> unit;
  // By dtype; nullptr: no fit for it on the measured device.
  std::array<const laws::GemmFit*, kKernelDtypes> gemm = {};
  // Of products by dtype: those of `gemm`, or what stands in for them.
  std::array<laws::GemmConstants, kKernelDtypes> gemm_constants = {};
  std::array<laws::GemmConstants, kKernelDtypes> cublas_constants = {};  // what stands in, always
};

}  // namespace chakra
