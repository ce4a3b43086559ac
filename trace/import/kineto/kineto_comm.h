// The communication call that the arguments of an operator or a kernel describe.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_notes.h"

namespace chakra::pytorch::kineto {

// Arguments of the wrong type are skipped and counted.
CommCall ReadComm(const EventTokens& event, Notes* notes);

}  // namespace chakra::pytorch::kineto
