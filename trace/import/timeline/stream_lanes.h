// Puts the operations of streams on lanes. Operations of a stream run in order, but an operation may begin
// before the previous one has ended: with programmatic dependent launch (CUDA, since Hopper) a kernel
// releases the next one before its own end; branches of a graph may share a stream; and conversion between
// clocks rounds times.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/comm/comm_names.h"
#include "trace/import/timeline/device_order.h"

namespace chakra::pytorch {

struct PlacedOps {
  std::vector<DeviceLane> lanes;
  std::vector<DeviceOp> ops;                     // sorted by begin; without causes
  std::vector<std::vector<uint32_t>> of_stream;  // by stream: its operations, sorted by begin
  // By operation: of the operations of its stream that had ended when it began, the one that ended last;
  // kNoRow: none.
  std::vector<uint32_t> after;
  // Pairs of an operation and another one of its stream that had also ended, but not before the one in
  // `after` began: with other durations it might end last. Sorted by operation.
  std::vector<std::pair<uint32_t, uint32_t>> also;
  // By operation: the operation of its stream that began last before it, if that one was still running; else
  // kNoRow.
  std::vector<uint32_t> release;
  uint64_t split = 0;    // lanes beyond the first of their stream
  uint64_t clipped = 0;  // operations that were cut
};

// Places the device operations of a trace, which must come sorted by begin. Operations of one lane never
// overlap.
class LanePlacer {
 public:
  explicit LanePlacer(const DeviceTrace& device);
  // `row`: of an event on the device. `launch`: row of the call that launched it, or kNoRow.
  void Add(uint32_t row, uint32_t launch);
  PlacedOps Take();

 private:
  // When communication begins, its end is not known, so it cannot release a later operation. If it overlaps
  // the next operation by at most this, the communication is cut.
  static constexpr int64_t kRoundingNs = 2000;
  // An operation of a graph that began at most this after the end of another one followed that one.
  static constexpr int64_t kNextNs = 5000;

  bool Communicates(const DeviceOp& op);
  uint32_t FreeLane(uint32_t stream, int64_t begin) const;
  void CutCommunication(uint32_t stream, int64_t begin);

  const DeviceTrace& d_;
  PlacedOps out_;
  std::vector<std::vector<uint32_t>> lanes_of_;  // by stream
  std::vector<uint32_t> last_;                   // by lane: its last operation
  CommNames names_;
};

}  // namespace chakra::pytorch
