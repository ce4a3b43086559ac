// What the arguments of an operator or a kernel say of its communication call.
#pragma once

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/kineto_event.h"
#include "trace/import/pytorch/kineto_notes.h"

namespace chakra::pytorch::kineto {

// Precondition: event.has(Arg::kCollective). An argument of the wrong type is
// left out and counted.
CommCall ReadComm(const EventTokens& event, Notes* notes);

}  // namespace chakra::pytorch::kineto
