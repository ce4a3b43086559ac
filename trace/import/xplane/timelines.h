// The operations on a device's timelines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/xplane/xspace.h"

namespace chakra::xplane {

// The clock of a file's lines. A line's timestamp plus `add_ns` is ns since the epoch, if the file records
// its start time.
struct FileClock {
  int64_t add_ns = 0;
  // Begin and end of an event, each rounded to ns, so that events of a serial line do not overlap.
  int64_t Begin(const Line& line, const EventTimes& t) const { return Place(line, t.offset_ps); }
  int64_t End(const Line& line, const EventTimes& t) const {
    return Place(line, t.offset_ps + t.duration_ps);
  }

 private:
  int64_t Place(const Line& line, int64_t ps) const;
};

// Whether an event's times are possible: offset and duration are at most 50 days, and not negative.
bool Sane(const EventTimes& times);

// What most events of a name have in common.
struct OpFacts {
  absl::string_view name;            // of the kernel
  absl::string_view hlo;             // name of the instruction; "": not recorded
  absl::string_view module;          // name of the instruction's program
  int64_t program = 0;               // number of the instruction's program; 0: not recorded
  int64_t bytes = -1;                // of copies and sets
  int64_t flops = -1, traffic = -1;  // as the profile counts them
  uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  pytorch::EventKind kind = pytorch::EventKind::kKernel;
};

struct DeviceOp {
  int64_t begin = 0, end = 0;  // ns
  int64_t correlation = -1;
  int64_t stream = 0;
  const OpFacts* facts = nullptr;  // never null; points into DeviceTimeline::facts
};

struct DeviceTimeline {
  int ordinal = 0;  // "/device:GPU:3" is 3
  bool tpu = false;
  std::string device;  // product name: "AMD Instinct MI300X"; "": not known
  std::vector<std::unique_ptr<const OpFacts>> facts;
  std::vector<DeviceOp> ops;  // sorted by begin
  std::vector<pytorch::DeviceStep> steps;
  uint64_t skipped = 0, damaged = 0;
};

// Whether the plane is that of a GPU or a TPU. Planes of a TPU's embedding cores are not read.
bool IsDevice(absl::string_view plane_name);

// Reads the timelines of a device. GPU: each line "Stream #N" is a stream; lines that XProf derives from
// these are skipped. TPU: "XLA Ops" has the operations of the core in order; calls and loops are left out
// where their parts are on the line too; "Async XLA Ops" has operations that run in parallel to the core.
// Steps come from the line "Steps". Errors name the file and the line: an event is damaged.
absl::Status ReadTimeline(const Plane& plane, const FileClock& clock, absl::string_view file,
                          DeviceTimeline* out);

}  // namespace chakra::xplane
