// Streams of a capture as lanes: operations of a stream run in order, but one may begin before the one before
// it has ended. With programmatic dependent launch (CUDA, from Hopper on) a kernel releases the next one
// before its own end; branches of a graph may share a stream; and conversion between clocks rounds.
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
  std::vector<DeviceOp> ops;                     // by begin; without causes
  std::vector<std::vector<uint32_t>> of_stream;  // by stream: its operations, by begin
  // By operation: the operation of its stream that ended last of those that had ended when it began; kNoRow:
  // none.
  std::vector<uint32_t> after;
  // Operations and others of their stream that had ended too, but not before the one in `after` began: with
  // other durations one of them may be the last. By operation.
  std::vector<std::pair<uint32_t, uint32_t>> also;
  // By operation: the operation of its stream that began last, if that one still ran; kNoRow: none ran.
  std::vector<uint32_t> release;
  uint64_t split = 0;    // lanes beyond the first of their stream
  uint64_t clipped = 0;  // operations that were cut
};

// Takes the device operations of a trace by begin. Operations of a lane never overlap.
class LanePlacer {
 public:
  explicit LanePlacer(const DeviceTrace& device);
  // `row`: of an event on the device; `launch`: of the call that launched it, or kNoRow.
  void Add(uint32_t row, uint32_t launch);
  PlacedOps Take();

 private:
  // When communication ends is not known when it begins, so that it cannot release what follows: of two
  // operations that overlap by at most this, the communication is cut.
  static constexpr int64_t kRoundingNs = 2000;
  // In a graph what began at most this after the end of an operation followed that operation.
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
