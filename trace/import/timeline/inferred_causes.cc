#include "trace/import/timeline/inferred_causes.h"

#include <algorithm>

namespace chakra::pytorch {

bool InferredCauses::OnOtherStream(uint32_t i, uint32_t other) const {
  const uint32_t a = d_.events[ops_[i].event].lane, b = d_.events[ops_[other].event].lane;
  return a != b && d_.streams[a].device == d_.streams[b].device;
}

// `ended`: number of operations of by_end_ that ended before operation `i` began.
bool InferredCauses::EndedNear(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const {
  const DeviceOp& op = ops_[i];
  int looked = 0;
  for (size_t at = ended; at-- > 0;) {
    const uint32_t other = by_end_[at];
    // Operations that one call launched together (a graph) have an order of their own.
    const bool together = op.launch != kNoRow && ops_[other].launch == op.launch;
    if (ops_[other].end < op.begin - kNearNs && !together) {
      if (op.launch == kNoRow || !graphs_.contains(op.launch) || ++looked > kLookBack) break;
      continue;
    }
    if (!OnOtherStream(i, other) || ops_[other].end <= ready || ops_[other].begin >= op.begin) continue;
    *cause = {EdgeKind::kEventWait, other, ops_[other].end};
    return true;
  }
  return false;
}

bool InferredCauses::MadeRoom(uint32_t i, int64_t ready, size_t ended, DeviceCause* cause) const {
  const DeviceOp& op = ops_[i];
  for (size_t at = ended; at < by_end_.size() && at - ended < kLookBack; ++at) {
    const DeviceOp& other = ops_[by_end_[at]];
    const Event& e = d_.events[other.event];
    if (e.kind != EventKind::kKernel || e.extra == kNoRow || !OnOtherStream(i, by_end_[at])) continue;
    if (other.begin > ready + kUnexplainedNs) continue;
    const uint32_t* grid = d_.device[e.extra].grid;
    const double blocks = static_cast<double>(grid[0]) * grid[1] * grid[2];
    const double left =
        static_cast<double>(other.end - op.begin) / static_cast<double>(other.end - other.begin);
    if (blocks < kManyBlocks || left > 0.25 || left * blocks > kBlocksAtOnce) continue;
    *cause = {EdgeKind::kRelease, by_end_[at], op.begin};
    return true;
  }
  return false;
}

bool InferredCauses::Find(uint32_t i, int64_t ready, DeviceCause* cause) {
  const DeviceOp& op = ops_[i];
  if (op.begin - ready <= kUnexplainedNs) return false;
  while (ended_ < by_end_.size() && ops_[by_end_[ended_]].end <= op.begin) ++ended_;
  const size_t ended = ended_;
  if (EndedNear(i, ready, ended, cause)) return true;
  for (size_t at = ended; at < by_end_.size() && ops_[by_end_[at]].end <= op.begin + kClocksNs; ++at) {
    const uint32_t other = by_end_[at];
    if (!OnOtherStream(i, other) || ops_[other].begin >= op.begin) continue;
    *cause = {EdgeKind::kRelease, other, op.begin};
    return true;
  }
  if (MadeRoom(i, ready, ended, cause)) return true;
  for (size_t at = ended; at-- > 0 && ended - at <= kLookBack && ops_[by_end_[at]].end > ready;) {
    const uint32_t other = by_end_[at];
    const int64_t ran = ops_[other].end - std::max(ops_[other].begin, ready);
    if (!OnOtherStream(i, other) || ran * 2 < op.begin - ready) continue;
    *cause = {EdgeKind::kEventWait, other, ops_[other].end};
    return true;
  }
  return false;
}

}  // namespace chakra::pytorch
