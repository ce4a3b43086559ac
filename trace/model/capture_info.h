// What the metadata of a converted PyTorch capture says (trace/import/linked/build.h writes it): its rank,
// its recorded window and the steps that it measured.
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
  // A ProfilerStep: from the start of row `first` to the end of row `last`.
  struct Step {
    std::string name;
    uint32_t first = kNoRow;
    uint32_t last = kNoRow;
    friend bool operator==(const Step&, const Step&) = default;
  };

  bool calls_alone = false;  // a log of collective calls: it does not say what ran between them
  int rank = 0;              // global rank, as recorded
  Time window_end;     // end of this rank's window, counted from the beginning of the window that all ranks
                       // share (time 0 of the starts)
  Column<Step> steps;  // may be shared between ranks
  std::string device;  // the device that was recorded, as the profiler names it ("NVIDIA H100 80GB HBM3");
                       // "": unknown
  // The maximum of memory that the allocator had in use for tensors on the device, and that it had reserved,
  // over the whole recording; 0: unknown.
  uint64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
};

// Reads these attributes of the file's GlobalMetadata: capture ("pytorch" or "collective_logs"), rank,
// window_end_ns; device, peak_allocated_bytes and peak_reserved_bytes (absent: unknown); and the lists
// step_names, step_first_nodes and step_last_nodes (absent: no steps). Returns nullopt if the trace is not a
// capture. Errors (InvalidArgument) give file and field: metadata that cannot be parsed; a field that is
// missing, given twice, of the wrong kind or out of range; lists of unequal length; a node that is not in the
// file; a step that ends before it begins.
absl::StatusOr<std::optional<CaptureInfo>> ReadCaptureInfo(const RankTrace& trace);

}  // namespace chakra
