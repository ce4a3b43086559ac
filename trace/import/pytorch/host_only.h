// A host trace without a device trace: the order of its operators and its
// communication, but no times.
#pragma once

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/pair.h"

namespace chakra::pytorch {

// A device trace in which every operator of `host` is an event of no length at
// time 0, in the order of their ids, which is that of their calls; and how they
// are paired.
struct HostOnly {
  DeviceTrace device;
  Pairing pairing;
};
HostOnly AsDeviceTrace(const HostTrace& host);

}  // namespace chakra::pytorch
