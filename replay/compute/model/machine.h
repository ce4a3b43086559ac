// A device as the kernel model sees it: its units and the fits that apply to it.
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
  // How close the device is to a measured device: measured, same architecture, or neither.
  enum class Rest { kMeasured, kSibling, kDataSheet };

  proto::Device device;
  const laws::Architecture* architecture = nullptr;
  Rest rest = Rest::kDataSheet;
  KernelLoad load;
  std::array<laws::Unit, kKernelDtypes> unit;
  // By dtype: the fit of the measured device; nullptr: none.
  std::array<const laws::GemmFit*, kKernelDtypes> gemm = {};
  // Constants of GEMMs by dtype: those of `gemm`, or a substitute.
  std::array<laws::GemmConstants, kKernelDtypes> gemm_constants = {};
  std::array<laws::GemmConstants, kKernelDtypes> cublas_constants = {};  // always the substitute
};

}  // namespace chakra
