// The memories that MEM_LOAD and MEM_STORE access: one for each rank, shared ones, or storage nodes on the
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "backends/fabric.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/memory_model.h"
#include "trace/model/trace.h"

namespace chakra {

// A shared memory serves one access after the other, in the order of calls, and so do the drives of a storage
// node. A rank's own memory serves all accesses at the same time.
class MemoryUnits {
 public:
  // The arguments must outlive the object. `device_of` is EngineOptions::device_of.
  MemoryUnits(const MemoryModel& model, const std::vector<int>& device_of, uint32_t ranks);

  // Errors: a memory node without bytes, or a memory node although no memory is configured.
  absl::Status Check(const TraceSet& traces) const;
  // The start and the end of an access that `rank` requests at `now`.
  struct Access {
    Time begin, end;
  };
  Access Serve(uint32_t rank, uint64_t bytes, Time now);
  // The cause of the end of the last access to the memory of `rank`; the caller sets it.
  CauseRef& last(uint32_t rank) { return last_[shared() ? UnitOf(rank) : 0]; }

  // Whether accesses are flows. If so, the caller uses Begin() and TakeTransfer() in place of Serve().
  bool on_network() const { return model_.kind == MemoryModel::Kind::kNetwork; }
  // The flow of an access. Its tag consists of `tag`, kTag and a number.
  static constexpr uint64_t kTag = uint64_t{1} << 62;
  Flow Begin(uint32_t rank, uint32_t row, bool store, uint64_t bytes, uint64_t tag, Time now, CauseRef cause);
  // The access whose flow has ended. Its drives finish at `end`, which may be before the end of the flow.
  struct Transfer {
    uint32_t rank = 0, row = 0;
    Time end;
    CauseRef cause;  // the cause given to Begin()
  };
  Transfer TakeTransfer(uint64_t tag);
  uint64_t flows() const { return flows_; }

 private:
  bool shared() const {
    return model_.kind == MemoryModel::Kind::kPool || model_.kind == MemoryModel::Kind::kPerNode ||
           on_network();
  }
  // The number of the shared memory that `rank` uses.
  size_t UnitOf(uint32_t rank) const;

  const MemoryModel& model_;
  const std::vector<int>& device_of_;
  std::vector<Time> free_;  // by unit, like last_
  std::vector<CauseRef> last_;
  uint32_t ranks_ = 0;
  std::vector<Transfer> transfers_;  // by number
  std::vector<uint32_t> unused_;     // numbers
  uint64_t flows_ = 0;
};

}  // namespace chakra
