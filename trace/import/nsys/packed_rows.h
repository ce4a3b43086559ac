// Packed rows of a device trace, in the order in which they are read. They take a tenth of the memory of the
// unpacked rows: times, correlations and sequence numbers are stored as differences from the row before, and
// every number in as few bytes as it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/packed_numbers.h"
#include "trace/import/capture/capture.h"

namespace chakra::nsys {

// Maps texts, threads and calls of a part of a trace to those of the whole trace. Empty: the numbers are
// equal.
struct RowNames {
  std::vector<uint32_t> text, thread, comm;  // rows of the whole trace, by rows of the part
};

class PackedRows {
 public:
  // Keeps no grids and blocks, and no members of extras that exports do not record.
  void Add(const pytorch::Event& event);
  void Add(const pytorch::Event& event, const pytorch::OpExtra& extra);
  void Add(const pytorch::Event& event, const pytorch::DeviceExtra& extra);
  void Add(const pytorch::Event& event, const pytorch::SyncExtra& extra);

  // Number of rows, and of extras of each kind.
  size_t size() const { return rows_; }
  size_t ops() const { return ops_; }
  size_t devices() const { return devices_; }
  size_t syncs() const { return syncs_; }

  // Adds the rows and their extras to `out`. Event::extra continues the numbers of the extras in `out`.
  void Unpack(const RowNames& names, pytorch::DeviceTrace* out) const;

 private:
  class Reader;
  void Begin(const pytorch::Event& e, bool extra);

  // The values of the row before, from which differences are counted.
  struct Before {
    int64_t ts = 0, correlation = 0, seq = 0;
    uint32_t host_lane = 0, device_lane = 0;
  };
  PackedNumbers numbers_;
  size_t rows_ = 0, ops_ = 0, devices_ = 0, syncs_ = 0;
  Before before_;
};

}  // namespace chakra::nsys
