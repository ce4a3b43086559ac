// What a converted PyTorch capture says about itself (trace/import/linked/build.h writes it): its rank, its
// window and the steps that were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/column.h"
#include "trace/model/trace.h"

namespace chakra {

struct CaptureInfo {
  // One ProfilerStep: from the start of `first` to the end of `last` (rows).
  struct Step {
    std::string name;
    uint32_t first = kNoRow;
    uint32_t last = kNoRow;
    friend bool operator==(const Step&, const Step&) = default;
  };

  bool calls_alone = false;  // a log of collective calls: nobody knows what ran between them
  int rank = 0;              // global, as recorded
  Time window_end;     // end of this rank's window, counted from the begin of the window that all ranks share
                       // (time 0 of the starts)
  Column<Step> steps;  // ranks may have them in common
  std::string
      device;  // whose times these are, as the profiler names it ("NVIDIA H100 80GB HBM3"); "": not told
  // The most that the allocator held for tensors on the device, and kept for them, in the whole recording; 0:
  // not told.
  uint64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
};

// Reads the attributes of the file's GlobalMetadata: capture ("pytorch"), rank, window_end_ns, device
// (absent: not told), peak_allocated_bytes and peak_reserved_bytes (likewise), and the lists step_names,
// step_first_nodes and step_last_nodes (absent: no steps). nullopt if the trace is not a capture. Errors
// (InvalidArgument) name file and field: metadata that do not parse; a field that is missing, given twice, of
// the wrong kind or out of range; lists of unequal length; a node that is not in the file; a step that ends
// before it begins.
absl::StatusOr<std::optional<CaptureInfo>> ReadCaptureInfo(const RankTrace& trace);

}  // namespace chakra
