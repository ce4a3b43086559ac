// Infers what a device operation waited for if the capture does not show it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"

namespace chakra::pytorch {

// If an operation starts later than all its known causes by more than this, it has a cause that the trace
// does not show.
inline constexpr int64_t kUnexplainedNs = 10000;

// Looks on the other streams of the operation's device, in this order, for an operation that
// 1. ended within kNearNs before the start;
// 2. ended within kClocksNs after the start: the device's queues learn of an end before the profiler records
//    it (ROCm);
// 3. is a kernel of many blocks that ran since the last known cause and had at most as many blocks left as a
//    device runs at the same time: the operation found room on the device when the last blocks began;
// 4. had ended, and ran for at least half of the time since the last known cause; the last such operation.
class InferredCauses {
 public:
  // `by_end`: the rows of `ops`, sorted by end. `graphs`: calls that launched several operations. All
  // arguments must outlive the object.
  InferredCauses(const DeviceTrace& device, const std::vector<DeviceOp>& ops,
                 const std::vector<uint32_t>& by_end, const absl::flat_hash_set<uint32_t>& graphs)
      : d_(device), ops_(ops), graphs_(graphs), by_end_(by_end) {}
  // Finds a cause of operation `i`, whose known causes were over at `ready`. False: none found. An event wait
  // is ready at the end of its source, a release at the operation's start. Must be called for operations in
  // the order of their begins.
  bool Find(uint32_t i, int64_t ready, DeviceCause* cause);

 private:
  static constexpr int64_t kNearNs = 5000, kClocksNs = 1000;
  static constexpr int kLookBack = 64;  // maximum number of operations that a search passes
  // A kernel with kManyBlocks or more blocks fills a device. Up to kBlocksAtOnce of them run at the same
  // time: GPUs have up to about 150 multiprocessors, each of which holds up to 32 blocks of few threads, or
  // 16 of 128 threads.
  static constexpr uint64_t kManyBlocks = 512, kBlocksAtOnce = 2048;

  bool OnOtherStream(uint32_t i, uint32_t other) const;
  bool EndedNear(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const;
  bool MadeRoom(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const;

  const DeviceTrace& d_;
  const std::vector<DeviceOp>& ops_;
  const absl::flat_hash_set<uint32_t>& graphs_;
  const std::vector<uint32_t>& by_end_;
  size_t ended_ = 0;  // number of operations of by_end_ that ended before the last operation asked for began
};

}  // namespace chakra::pytorch
