// Classifies calls of a device's runtime by their names, and finds events by their correlation.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// What a call makes its thread wait for.
enum class SyncCall : uint8_t { kNo, kDevice, kStream, kEvent };

// Classifies the calls of a capture; reads each name once. `device` must outlive the object.
class CallNames {
 public:
  explicit CallNames(const DeviceTrace& device) : d_(device), known_(device.strings.size()) {}
  SyncCall Sync(const Event& e) { return static_cast<SyncCall>(Of(e) >> 2 & 3); }
  // Whether the call makes a stream wait for an event.
  bool Waits(const Event& e) { return (Of(e) & kWait) != 0; }
  // Whether the call records an event on a stream.
  bool Records(const Event& e) { return (Of(e) & kRecord) != 0; }

 private:
  enum : uint8_t { kWait = 1, kRecord = 2, kRead = 16 };
  uint8_t Of(const Event& e);

  const DeviceTrace& d_;
  std::vector<uint8_t> known_;
};

// Rows of events by their correlation. An array if the ids are dense, as profilers number calls.
class RowsByCorrelation {
 public:
  // Prepares for `count` ids from `least` to `most`.
  void Expect(int64_t least, int64_t most, size_t count);
  // The row of an id, which the caller may set; kNoRow: not set yet.
  uint32_t* At(int64_t id) {
    if (IsDense(id)) return &dense_[static_cast<size_t>(id - first_)];
    return &others_.try_emplace(id, kNoRow).first->second;
  }
  uint32_t Find(int64_t id) const {
    if (IsDense(id)) return dense_[static_cast<size_t>(id - first_)];
    const auto it = others_.find(id);
    return it == others_.end() ? kNoRow : it->second;
  }

 private:
  bool IsDense(int64_t id) const {
    return id >= first_ && static_cast<uint64_t>(id - first_) < dense_.size();
  }
  int64_t first_ = 0;
  std::vector<uint32_t> dense_;
  absl::flat_hash_map<int64_t, uint32_t> others_;
};

}  // namespace chakra::pytorch
