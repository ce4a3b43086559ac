// The members of a Kineto file beside its events.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/kineto_notes.h"

namespace chakra::pytorch::kineto {

// `json`: the text of the member's value; `byte`: where it lies in `file`, for
// messages. Errors name the file, the byte and the field.

// Rank, world size, and process groups; a group that lists no ranks and is as
// large as the world is all ranks.
absl::Status ReadDistributedInfo(absl::string_view json, absl::string_view file, uint64_t byte,
                                 DeviceTrace* out, Notes* notes);
// Names of the devices.
absl::Status ReadDeviceProperties(absl::string_view json, absl::string_view file, uint64_t byte,
                                  DeviceTrace* out);

}  // namespace chakra::pytorch::kineto
