// The device that a capture was recorded on, if it differs from the device of the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/cluster.pb.h"
#include "replay/run/traces.h"

namespace chakra {

struct CapturedOn {
  std::string name;      // as the profiler names the device
  proto::Device device;  // its rates and architecture
};

// The device of the captures, if its peaks or bandwidth differ from those of `device`. Returns nullopt and
// adds the reason to `notes` if the captures do not name a device, name several, or name an unknown one, or
// if `device` gives no rates. Returns nullopt without a note if the rates are the same, if the traces are not
// a capture with times or have no device operations, or if `device` has neither a name nor rates.
std::optional<CapturedOn> FindCapturedOn(const LoadedTraces& traces, const proto::Device& device,
                                         std::vector<std::string>* notes);

}  // namespace chakra
