// The device that a capture's times are of, where the run has another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/cluster.pb.h"
#include "replay/run/traces.h"

namespace chakra {

struct CapturedOn {
  std::string name;      // as the profiler names it
  proto::Device device;  // what is known of it
};

// The device of the captures, if it is another than `device`: its peaks or its bandwidth differ. nullopt,
// with a line in `notes` on why, if the captures do not name a device, name several, or name one that is not
// known; also if `device` gives no rates. nullopt without a line where it is the same device, where the
// traces are no capture with times, or where `device` says nothing at all.
std::optional<CapturedOn> FindCapturedOn(const LoadedTraces& traces, const proto::Device& device,
                                         std::vector<std::string>* notes);

}  // namespace chakra
