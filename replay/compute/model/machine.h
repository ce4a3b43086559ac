// What the laws know of a device.
#pragma once

#include <string>

#include "proto/cluster.pb.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra {

struct KernelModel::Machine {
  proto::Device device;
  double units = 0;                        // SMs, CUs
  double memory_bytes_per_us = 0;          // data sheet
  double peak_per_us[kKernelDtypes] = {};  // operations; 0: no unit for the dtype
};

}  // namespace chakra
