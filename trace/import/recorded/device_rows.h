// Fills a DeviceTrace from another recording than Kineto's, in any order of the events.
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

// The kind of a host call or of a device operation, and when it ran: ns on the recording's clock, end >=
// begin.
struct EventSpan {
  EventKind kind = EventKind::kKernel;
  int64_t begin = 0, end = 0;
  int64_t correlation = kNone;
};

class DeviceRows {
 public:
  // `out` must outlive the builder, and is empty but for file, schema, machine and the like.
  explicit DeviceRows(DeviceTrace* out) : out_(out) {}

  // Room for so many events in all, of which so many are of the device.
  void Reserve(size_t events, size_t device) {
    out_->events.reserve(events);
    out_->device.reserve(device);
  }

  // Rows of DeviceTrace::threads and streams, made when first asked for.
  uint32_t Thread(int64_t pid, int64_t tid, absl::string_view name);
  uint32_t Stream(int device, int64_t stream);

  // Each returns the event's number: the argument of Wait(), not its row.
  uint32_t AddHost(absl::string_view name, uint32_t thread, const EventSpan& span);
  uint32_t AddDevice(absl::string_view name, uint32_t stream, const EventSpan& span, DeviceExtra extra);
  // Calls that are added one after another are rows one after another. Returns the row.
  uint32_t AddComm(CommCall call);
  // The host event is the call `comm`, a row of DeviceTrace::comms.
  void SetCall(uint32_t event, uint32_t comm);
  // The host event is on `stream` as the runtime numbers it.
  void SetStream(uint32_t event, int64_t stream);
  void AddWait(uint32_t event, uint32_t source) { out_->waits.push_back({event, source}); }
  void AddStep(const DeviceStep& step) { out_->steps.push_back(step); }

  // Sorts everything, and counts times from `base` on, which is since the epoch, or since another begin that
  // the ranks of a machine share.
  void Finish(int64_t base);

 private:
  uint32_t Add(absl::string_view name, uint32_t lane, uint32_t extra, const EventSpan& span);

  DeviceTrace* out_;
  std::map<std::pair<int64_t, int64_t>, uint32_t> threads_, streams_;
  std::pair<int64_t, int64_t> last_stream_ = {-1, -1};  // and its row: most ask for the same as before
  uint32_t last_stream_row_ = kNoRow;
};

// "step 12", "iteration_12", "ProfilerStep#12" and the like: the number; -1: it is no name of a step.
int64_t StepNumber(absl::string_view name);

}  // namespace chakra::pytorch
