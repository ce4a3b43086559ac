// Fills a DeviceTrace from a recording other than Kineto's. Events may come in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// The kind of a host call or device operation, and the time when it ran: ns on the recording's clock, end >=
// begin.
struct EventSpan {
  EventKind kind = EventKind::kKernel;
  int64_t begin = 0, end = 0;
  int64_t correlation = kNone;
};

class DeviceRows {
 public:
  // `out` must outlive this object. It is empty except for members such as file, schema and machine.
  explicit DeviceRows(DeviceTrace* out) : out_(out) {}

  // Reserves memory for `events` events in all, `device` of which are device operations.
  void Reserve(size_t events, size_t device) {
    out_->events.reserve(events);
    out_->device.reserve(device);
  }

  // Rows of DeviceTrace::threads and DeviceTrace::streams. A row is added when it is first asked for.
  uint32_t Thread(int64_t pid, int64_t tid, absl::string_view name);
  uint32_t Stream(int device, int64_t stream);

  // Each function returns the number of the event. AddWait(), SetCall() and SetStream() take this number; it
  // is not the row that the event has after Finish().
  uint32_t AddHost(absl::string_view name, uint32_t thread, const EventSpan& span);
  uint32_t AddDevice(absl::string_view name, uint32_t stream, const EventSpan& span, DeviceExtra extra);
  // Adds a row of DeviceTrace::comms and returns it. Calls added one after another get consecutive rows.
  uint32_t AddComm(CommCall call);
  // Says that the host event is the call `comm`, a row of DeviceTrace::comms.
  void SetCall(uint32_t event, uint32_t comm);
  // Says that the host event is on `stream`, as the runtime numbers streams.
  void SetStream(uint32_t event, int64_t stream);
  void AddWait(uint32_t event, uint32_t source) { out_->waits.push_back({event, source}); }
  void AddStep(const DeviceStep& step) { out_->steps.push_back(step); }

  // Sorts everything and makes times relative to `base`. `base` is a time since the epoch, or since another
  // origin that the ranks of a machine share.
  void Finish(int64_t base);

 private:
  uint32_t Add(absl::string_view name, uint32_t lane, uint32_t extra, const EventSpan& span);

  DeviceTrace* out_;
  std::map<std::pair<int64_t, int64_t>, uint32_t> threads_, streams_;
  // Its row is last_stream_row_; most events have the stream of the event before.
  std::pair<int64_t, int64_t> last_stream_ = {-1, -1};
  uint32_t last_stream_row_ = kNoRow;
};

// The number in the name of a step: "step 12", "iteration_12", "ProfilerStep#12". -1: not the name of a step.
int64_t StepNumber(absl::string_view name);

}  // namespace chakra::pytorch
