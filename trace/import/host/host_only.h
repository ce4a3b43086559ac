// A host trace without a device trace gives the order of operators and communication, but no times, unless
// chakra_trace_link took these into it.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/host/pair.h"

namespace chakra::pytorch {

// A device trace in which every operator of `host` is an event of length 0 at time 0, in the order of ids,
// which is the order of calls; and the pairing of events and operators. Of a linked trace (HostTrace::linked)
// operators have their times, device operations are events on their streams, and a call of length 0 at the
// begin of the operator above each launches it, for the file does not say when that was.
struct HostOnly {
  DeviceTrace device;
  Pairing pairing;
};
HostOnly AsDeviceTrace(const HostTrace& host);

}  // namespace chakra::pytorch
