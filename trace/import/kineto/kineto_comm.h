// Reads the communication call that the arguments of an operator or a kernel describe.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_notes.h"

namespace chakra::pytorch::kineto {

// Skips and counts arguments of the wrong type.
CommCall ReadComm(const EventTokens& event, Notes* notes);

}  // namespace chakra::pytorch::kineto
