// The memories that MEM_LOAD and MEM_STORE go to: one for each rank, or shared.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/memory_model.h"
#include "trace/model/trace.h"

namespace chakra {

// A shared memory serves one access after the other, in the order of the calls; a rank's own serves all at
// once.
class MemoryUnits {
 public:
  // `model` must outlive it. device_of: EngineOptions::device_of.
  MemoryUnits(const MemoryModel& model, const std::vector<int>& device_of, uint32_t ranks);

  // An error names a memory node without bytes, or one although no memory is configured.
  absl::Status Check(const TraceSet& traces) const;
  // When an access of `rank` that is asked for at `now` begins and ends.
  struct Access {
    Time begin, end;
  };
  Access Serve(uint32_t rank, uint64_t bytes, Time now);
  // The caller's: why the last access to the memory of `rank` ends when it does.
  CauseRef& last(uint32_t rank) { return last_[shared() ? UnitOf(rank) : 0]; }

 private:
  bool shared() const {
    return model_.kind == MemoryModel::Kind::kPool || model_.kind == MemoryModel::Kind::kPerNode;
  }
  // Which memory `rank` uses, of those that are shared.
  size_t UnitOf(uint32_t rank) const;

  const MemoryModel& model_;
  const std::vector<int>& device_of_;
  std::vector<Time> free_;  // by unit, as the next
  std::vector<CauseRef> last_;
};

}  // namespace chakra
