// Rows of a device trace in the order in which they are read, in a tenth of the memory that the trace takes:
// numbers as what they are more than those of the row before, in as few bytes as they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/packed_numbers.h"
#include "trace/import/capture/capture.h"

namespace chakra::nsys {

// How the rows of a part of a trace name what the whole has; empty: as the part does.
struct RowNames {
  std::vector<uint32_t> text, thread, comm;  // rows of the whole's, by the part's
};

class PackedRows {
 public:
  // Members of extras that no export tells are not kept, nor are grids and blocks.
  void Add(const pytorch::Event& event);
  void Add(const pytorch::Event& event, const pytorch::OpExtra& extra);
  void Add(const pytorch::Event& event, const pytorch::DeviceExtra& extra);
  void Add(const pytorch::Event& event, const pytorch::SyncExtra& extra);

  // Rows, and extras of each kind.
  size_t size() const { return rows_; }
  size_t ops() const { return ops_; }
  size_t devices() const { return devices_; }
  size_t syncs() const { return syncs_; }

  // Adds the rows and their extras to `out`. Event::extra counts from what `out` has.
  void Unpack(const RowNames& names, pytorch::DeviceTrace* out) const;

 private:
  class Reader;
  void Begin(const pytorch::Event& e, bool extra);

  // What a row is told against, of the row before.
  struct Before {
    int64_t ts = 0, correlation = 0, seq = 0;
    uint32_t host_lane = 0, device_lane = 0;
  };
  PackedNumbers numbers_;
  size_t rows_ = 0, ops_ = 0, devices_ = 0, syncs_ = 0;
  Before before_;
};

}  // namespace chakra::nsys
