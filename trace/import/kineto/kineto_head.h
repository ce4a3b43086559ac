// Reads the members of a Kineto file other than its events.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_notes.h"

namespace chakra::pytorch::kineto {

// In the functions below, `json` is the text of the member's value, and `byte` its position in `file`, for
// messages. Errors name the file, the byte and the field.

// Reads the rank, the world size and the process groups. A group that lists no ranks, or only a part, and has
// the size of the world holds all ranks.
absl::Status ReadDistributedInfo(absl::string_view json, absl::string_view file, uint64_t byte,
                                 DeviceTrace* out, Notes* notes);
// Reads the names of the devices.
absl::Status ReadDeviceProperties(absl::string_view json, absl::string_view file, uint64_t byte,
                                  DeviceTrace* out);

}  // namespace chakra::pytorch::kineto
