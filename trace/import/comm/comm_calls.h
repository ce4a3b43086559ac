// Calls of communication by number. Steps repeat the same calls: equal calls are stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

class CommCalls {
 public:
  // Adds a call, and returns its number. Numbers grow by one.
  uint32_t Add(CommCall call) {
    const uint64_t hash =
        absl::HashOf(call.op, call.name, call.group, call.in_bytes, call.out_bytes, call.root, call.seq);
    const auto [first, fresh] = first_.try_emplace(hash, static_cast<uint32_t>(distinct_.size()));
    uint32_t row = first->second;
    while (!fresh && row != kNoRow && !(distinct_[row] == call)) row = next_[row];
    if (fresh || row == kNoRow) {
      row = static_cast<uint32_t>(distinct_.size());
      next_.push_back(fresh ? kNoRow : std::exchange(first->second, row));
      distinct_.push_back(std::move(call));
    }
    return AddRow(row);
  }
  // Adds a call that is equal to call `number`, and returns its number.
  uint32_t AddLike(uint32_t number) { return AddRow(row_[number]); }

  const CommCall& operator[](size_t number) const { return distinct_[row_[number]]; }
  // Equal for equal calls.
  uint32_t RowOf(uint32_t number) const { return row_[number]; }
  size_t size() const { return row_.size(); }
  const std::vector<CommCall>& distinct() const { return distinct_; }

 private:
  uint32_t AddRow(uint32_t row) {
    row_.push_back(row);
    return static_cast<uint32_t>(row_.size() - 1);
  }
  std::vector<uint32_t> row_;  // by number: row of distinct_
  std::vector<CommCall> distinct_;
  absl::flat_hash_map<uint64_t, uint32_t> first_;  // by hash: the last call that was added with it
  std::vector<uint32_t> next_;                     // the call before it with the same hash; kNoRow: none
};

}  // namespace chakra::pytorch
