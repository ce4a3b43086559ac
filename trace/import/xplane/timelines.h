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

// Which clock a file's lines have: added to a line's timestamp it gives ns since the epoch, as far as the
// file tells.
struct FileClock {
  int64_t add_ns = 0;
  // Begin and end of an event, rounded to ns one by one, so that those of a serial line stay apart.
  int64_t Begin(const Line& line, const EventTimes& t) const { return Place(line, t.offset_ps); }
  int64_t End(const Line& line, const EventTimes& t) const {
    return Place(line, t.offset_ps + t.duration_ps);
  }

 private:
  int64_t Place(const Line& line, int64_t ps) const;
};

// Whether an event's times can be: offsets and durations of at most 50 days, none negative.
bool Sane(const EventTimes& times);

// What most events of a name have in common.
struct OpFacts {
  absl::string_view name;            // of the kernel
  absl::string_view hlo;             // of the instruction; "": not told
  absl::string_view module;          // of its program
  int64_t program = 0;               // likewise; 0: not told
  int64_t bytes = -1;                // of copies and sets
  int64_t flops = -1, traffic = -1;  // as the profile counts them
  uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  pytorch::EventKind kind = pytorch::EventKind::kKernel;
};

struct DeviceOp {
  int64_t begin = 0, end = 0;  // ns
  int64_t correlation = -1;
  int64_t stream = 0;
  const OpFacts* facts = nullptr;  // never null; in DeviceTimeline::facts
};

struct DeviceTimeline {
  int ordinal = 0;  // "/device:GPU:3" is 3
  bool tpu = false;
  std::string device;  // what it is: "AMD Instinct MI300X"; "": not known
  std::vector<std::unique_ptr<const OpFacts>> facts;
  std::vector<DeviceOp> ops;  // by begin
  std::vector<pytorch::DeviceStep> steps;
  uint64_t skipped = 0, damaged = 0;
};

// Whether the plane is a device whose operations are read: a GPU or a TPU, and not one of its cores for
// embeddings.
bool IsDevice(absl::string_view plane_name);

// GPU: each line "Stream #N" is a stream; lines that XProf derives from them are not read again. TPU: "XLA
// Ops" is the core's own order, of which calls of others and loops are left out where their parts are there;
// "Async XLA Ops" is what runs beside it. Steps are those of the line "Steps". Errors name the file and the
// line: events that are damaged.
absl::Status ReadTimeline(const Plane& plane, const FileClock& clock, absl::string_view file,
                          DeviceTimeline* out);

}  // namespace chakra::xplane
