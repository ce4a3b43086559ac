// The computation of devices, kernel by kernel.
#pragma once

#include "proto/report.pb.h"
#include "replay/run/description.h"

namespace chakra {

// Fills Report.kernel and device_busy_share. Precondition: the report has its ranks and its makespan.
void AddDeviceKernels(const RunDescription& run, proto::Report* report);

}  // namespace chakra
