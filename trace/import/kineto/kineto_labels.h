// Finds which ranks a file holds, by what labels its processes and by who launches on which device.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_rows.h"

namespace chakra::pytorch::kineto {

// Labels of the ranks that lanes are of, by row; "": none. No rows: the file holds one rank.
struct LaneLabels {
  std::vector<std::string> threads, streams;
  bool by_device = false;  // nothing labels the processes: "device 1" is whose calls launch there
  bool any() const { return !threads.empty() || !streams.empty(); }
};

// A file holds several ranks where
// - a process is labelled in its own text ("[TP00] 10");
// - names or labels of processes with calls tell two ranks or more;
// - nothing labels them, and two processes or more launch each on one device of its own.
//
// A process of a device without a label is that of the rank whose calls launch on it, by correlations that
// one rank alone has; likewise one of the host whose calls launch on a labelled device. InvalidArgument: the
// file holds several ranks, which nothing takes apart for sure; the message says why.
absl::StatusOr<LaneLabels> FindRanks(const DeviceTrace& trace, const LaneProcesses& lanes);

}  // namespace chakra::pytorch::kineto
