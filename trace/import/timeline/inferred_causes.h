// What a device operation waited for where the capture does not say so.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"

namespace chakra::pytorch {

// A start later than every known cause by more than this has a cause that the trace does not show.
inline constexpr int64_t kUnexplainedNs = 10000;

// Looks on the other streams of the operation's device, in this order, for an operation that
// 1. ended within kNearNs before the start;
// 2. ended within kClocksNs after it: the device's queues are told of an end before the profiler notes it
// (ROCm);
// 3. is a kernel of many blocks that ran since the last known cause and had at most as many blocks left as a
// device runs at once: the operation found room on the device as the last of these began;
// 4. ran for at least half of the time since the last known cause, and had ended: of these the last.
class InferredCauses {
 public:
  // `by_end`: the rows of `ops` by end; `graphs`: calls that launched several operations. All must outlive
  // this.
  InferredCauses(const DeviceTrace& device, const std::vector<DeviceOp>& ops,
                 const std::vector<uint32_t>& by_end, const absl::flat_hash_set<uint32_t>& graphs)
      : d_(device), ops_(ops), graphs_(graphs), by_end_(by_end) {}
  // Whether a cause was found of operation `i`, which was ready at `ready` for all that is known. An event
  // wait is ready at the end of its source, a release at the operation's start. Operations are asked for in
  // the order in which they begin.
  bool Find(uint32_t i, int64_t ready, DeviceCause* cause);

 private:
  static constexpr int64_t kNearNs = 5000, kClocksNs = 1000;
  static constexpr int kLookBack = 64;  // how many operations a search passes at most
  // A kernel of at least so many blocks fills a device: as many as 2048 run at once (GPUs have up to some 150
  // multiprocessors, which hold up to 32 blocks each, of few threads; 16 of 128).
  static constexpr uint64_t kManyBlocks = 512, kBlocksAtOnce = 2048;

  bool OnOtherStream(uint32_t i, uint32_t other) const;
  bool EndedNear(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const;
  bool MadeRoom(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const;

  const DeviceTrace& d_;
  const std::vector<DeviceOp>& ops_;
  const absl::flat_hash_set<uint32_t>& graphs_;
  const std::vector<uint32_t>& by_end_;
  size_t ended_ = 0;  // how many of by_end_ ended before the operation that was asked for last began
};

}  // namespace chakra::pytorch
