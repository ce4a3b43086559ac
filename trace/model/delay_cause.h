// The causes of dependency delays: why a node did not start at once when its dependency was done.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakra {

enum class DelayCause : uint8_t {
  kHostGaps,       // a host thread between two calls or within a call: thread, call, hand_off, wake_up, sync,
                   // collective
  kLaunchLatency,  // from a call to the device operation that it launched: launch
  kStreamGaps,     // between device operations: stream, release, event_wait
  kStart,          // from the beginning of the capture's window: start
  kOther,          // an edit's delay, an unknown kind, or no kind
};
inline constexpr int kDelayCauses = 5;

// Returns the cause for a kind of dependency, an entry of dep_kinds ("launch").
DelayCause CauseOfKind(absl::string_view kind);

}  // namespace chakra
