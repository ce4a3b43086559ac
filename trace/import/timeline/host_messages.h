// Messages that the host sends and receives without the device (gloo).
#pragma once

#include <cstdint>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// Whether an event is the annotation of a message ("gloo:send", "gloo:recv"). The annotation begins when the
// message is requested, and ends when a thread has waited for the message.
bool IsMessage(const DeviceTrace& device, const Event& e);

// When message `row` begins, ns since base. ProcessGroupGloo hands a message to the network before it begins
// the annotation "gloo:send", so a receive may end before the annotation of its send begins. A send inside a
// call of its kind ("c10d::send") therefore begins with that call.
int64_t BeginOfMessage(const DeviceTrace& device, const HostThreads& host, uint32_t row);

}  // namespace chakra::pytorch
