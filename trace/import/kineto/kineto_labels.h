// Finds the ranks that a file holds, by the labels of its processes and by the devices on which they launch.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto_rows.h"

namespace chakra::pytorch::kineto {

// The labels of ranks for each lane, by row; "": no label. No rows: the file holds one rank.
struct LaneLabels {
  std::vector<std::string> threads, streams;
  bool by_device = false;  // no process is labelled: "device 1" is the rank whose calls launch there
  bool any() const { return !threads.empty() || !streams.empty(); }
};

// A file holds several ranks if
// - the text of a process has a label ("[TP00] 10"),
// - or the names or labels of its processes with work give two or more ranks,
// - or no process has a label, and two or more processes launch, each on one device of its own.
//
// A device process without a label belongs to the rank whose calls launch on it; only correlations that one
// rank alone has count for that. A host process without a label belongs to the rank of the labelled device on
// which its calls launch. InvalidArgument: the file holds several ranks that cannot be told apart reliably;
// the message says why.
absl::StatusOr<LaneLabels> FindRanks(const DeviceTrace& trace, const LaneProcesses& lanes);

}  // namespace chakra::pytorch::kineto
