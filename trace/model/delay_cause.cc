#include "trace/model/delay_cause.h"

namespace chakra {

DelayCause CauseOfKind(absl::string_view kind) {
  if (kind == "thread" || kind == "call" || kind == "hand_off" || kind == "wake_up" || kind == "sync" ||
      kind == "collective")
    return DelayCause::kHostGaps;
  if (kind == "launch") return DelayCause::kLaunchLatency;
  if (kind == "stream" || kind == "release" || kind == "event_wait") return DelayCause::kStreamGaps;
  return kind == "start" ? DelayCause::kStart : DelayCause::kOther;
}

}  // namespace chakra
