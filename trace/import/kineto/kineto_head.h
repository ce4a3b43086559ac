// Reads the members of a Kineto file other than its events.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_notes.h"

namespace chakra::pytorch::kineto {

// `json`: the text of the member's value; `byte`: where it lies in `file`, for
// messages. Errors name the file, the byte and the field.

// Reads rank, world size and process groups. A group that lists no ranks and is as large as the world holds
// all ranks.
absl::Status ReadDistributedInfo(absl::string_view json, absl::string_view file, uint64_t byte,
                                 DeviceTrace* out, Notes* notes);
// Reads the names of the devices.
absl::Status ReadDeviceProperties(absl::string_view json, absl::string_view file, uint64_t byte,
                                  DeviceTrace* out);

}  // namespace chakra::pytorch::kineto
