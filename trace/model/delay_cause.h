// Why the delay of a dependency is there: what the node did, or was not known to wait for, meanwhile.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakra {

enum class DelayCause : uint8_t {
  kHostGaps,       // a host thread between two calls or within one: thread, call, hand_off, wake_up, sync,
                   // collective
  kLaunchLatency,  // from a call to the device operation that the call launched: launch
  kStreamGaps,     // between device operations: stream, release, event_wait
  kStart,          // from the begin of the capture's window: start
  kOther,          // an edit's delay, an unknown kind, or none
};
inline constexpr int kDelayCauses = 5;

// The cause of a kind, an entry of dep_kinds ("launch").
DelayCause CauseOfKind(absl::string_view kind);

}  // namespace chakra
