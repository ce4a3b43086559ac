// Finds, for each device operation of a capture, the call that launched it, its place on its stream, the
// operations that it waited for, and the host calls that waited for it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// A cause before which a device operation could not begin. `ready` <= the operation's start.
struct DeviceCause {
  EdgeKind kind = EdgeKind::kStream;
  // kLaunch: row of the launching call; kStart: kNoRow; else row of a device operation.
  uint32_t source = kNoRow;
  int64_t ready = 0;        // ns since base: when the operation could have begun if this were its only cause
  int64_t unexplained = 0;  // ns before `ready` that nothing explains
};

struct DeviceOp {
  uint32_t event = 0;
  uint32_t lane = 0;                     // row of DeviceOrder::lanes
  uint32_t launch = kNoRow;              // row of the launching call; kNoRow: launched outside the window
  int64_t begin = 0, end = 0;            // ns since base
  uint32_t first_cause = 0, causes = 0;  // rows of DeviceOrder::causes
};

// A host call that waited for the device.
struct HostSync {
  uint32_t call = 0;              // row of the runtime call
  std::vector<uint32_t> sources;  // rows of device operations
  int64_t until = 0;              // end of the last source, if the call waited for it; else the call's begin
};

// A launching call that had submitted its operation before it returned, by event row.
struct LaunchCut {
  uint32_t call = 0;
  int64_t time = 0;  // begin of the operation
};

struct DeviceOrder {
  std::vector<DeviceLane> lanes;
  std::vector<DeviceOp> ops;  // sorted by (begin, row)
  std::vector<DeviceCause> causes;
  std::vector<HostSync> syncs;         // sorted by call
  std::vector<LaunchCut> launch_cuts;  // sorted by call, at most one for each call
  std::vector<Repair> repairs;
  int64_t launch_latency = 0, stream_gap = 0;  // ns, medians

  // When `call` had submitted its operation: LaunchCut::time; INT64_MIN: no cut.
  int64_t CutOf(uint32_t call) const;
};

DeviceOrder OrderDevice(const DeviceTrace& device, const HostThreads& host, const TimelineOptions& options);

}  // namespace chakra::pytorch
