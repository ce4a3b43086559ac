#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

absl::string_view Name(EdgeKind kind) {
  static constexpr absl::string_view kNames[kEdgeKinds] = {"start",      "thread", "call",      "hand_off",
                                                           "wake_up",    "launch", "stream",    "release",
                                                           "event_wait", "sync",   "collective"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace chakra::pytorch
