// Makes a device trace from a host trace without one. It gives the order of operators and communication, but
// has no times unless chakra_trace_link added them to the host trace.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/host/pair.h"

namespace chakra::pytorch {

// A device trace in which every operator of the host trace is an event of length 0 at time 0, in the order of
// ids (the order of calls), and the pairing of events and operators. If chakra_trace_link linked the host
// trace (HostTrace::linked), operators have their times and device operations are events on their streams.
// The file does not say when a device operation was launched: a call of length 0 launches it at the begin of
// the operator above it.
struct HostOnly {
  DeviceTrace device;
  Pairing pairing;
};
HostOnly AsDeviceTrace(const HostTrace& host);

}  // namespace chakra::pytorch
