// The device's side of a capture: which call launched what, in what order the
// streams ran it, what it waited for, and which host calls waited for it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/threads.h"
#include "trace/import/pytorch/timeline.h"

namespace chakra::pytorch {

// What a device operation could not begin before. `ready` <= its start.
struct DeviceCause {
  EdgeKind kind = EdgeKind::kStream;
  uint32_t source = kNoRow;  // kLaunch: row of the launching call; else row of a device operation
  int64_t ready = 0;         // ns since base: when this cause alone would have let it begin
};

struct DeviceOp {
  uint32_t event = 0;
  uint32_t lane = 0;                     // of DeviceOrder::lanes
  uint32_t launch = kNoRow;              // row of the launching call; kNoRow: launched outside the window
  int64_t begin = 0, end = 0;            // ns since base
  uint32_t first_cause = 0, causes = 0;  // of DeviceOrder::causes
};

// A host call that waited for the device.
struct HostSync {
  uint32_t call = 0;              // row of the runtime call
  std::vector<uint32_t> sources;  // rows of device operations
  int64_t until = 0;              // when the last of them ended, if the call waited; else the call's begin
};

struct DeviceOrder {
  std::vector<DeviceLane> lanes;
  std::vector<DeviceOp> ops;  // by (begin, row)
  std::vector<DeviceCause> causes;
  std::vector<HostSync> syncs;       // by (call)
  std::vector<int64_t> launch_cuts;  // by event row of a launching call: where it let go the operation that
                                     // it launched, when that was before it returned; INT64_MIN: it did not
  std::vector<Repair> repairs;
  int64_t launch_latency = 0, stream_gap = 0;  // ns, medians
};

DeviceOrder OrderDevice(const DeviceTrace& device, const HostThreads& host, const TimelineOptions& options);

}  // namespace chakra::pytorch
