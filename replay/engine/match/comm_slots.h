// The call or message of each communication row of a rank, in memory that ranks with equal calls share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/model/column.h"

namespace chakra {

// The call or message of a communication row; for a call, also this rank's member number.
struct CommSlot {
  uint32_t index = 0;   // index into Matching::calls or Matching::messages
  uint32_t member = 0;  // collectives only
};

// The slots of a rank, by index into graph->comm.
class CommSlots {
 public:
  CommSlots() = default;
  // `use`: by slot, the index into `members` of the slot's member number.
  CommSlots(Column<uint32_t> index, Column<uint32_t> use, std::vector<uint32_t> members)
      : index_(std::move(index)), use_(std::move(use)), members_(std::move(members)) {}
  explicit CommSlots(const std::vector<CommSlot>& slots) {
    std::vector<uint32_t> index, use;
    for (const CommSlot& slot : slots) {
      auto at = std::find(members_.begin(), members_.end(), slot.member);
      if (at == members_.end()) at = members_.insert(at, slot.member);
      index.push_back(slot.index);
      use.push_back(static_cast<uint32_t>(at - members_.begin()));
    }
    index.shrink_to_fit();
    use.shrink_to_fit();
    index_ = std::move(index);
    use_ = std::move(use);
  }
  size_t size() const { return index_.size(); }
  CommSlot operator[](size_t row) const { return {index_[row], members_[use_[row]]}; }
  const Column<uint32_t>& index() const { return index_; }

 private:
  Column<uint32_t> index_, use_;
  std::vector<uint32_t> members_;
};

}  // namespace chakra
