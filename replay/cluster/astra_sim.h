// ASTRA-sim's configuration files into this project's cluster message.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Paths; "" where there is none. The network file is required.
struct AstraSimInputs {
  std::string network_yaml;  // of the analytical front end
  std::string system_json;
  std::string memory_json;  // remote memory
  std::string groups_json;  // communicator groups: checked only
};

struct AstraSimResult {
  proto::Cluster cluster;
  // What has no counterpart or was assumed, one line each: "FILE: key: ...".
  std::vector<std::string> notes;
};

// Units are ASTRA-sim's: network bandwidth in GB/s of 2^30 B per 1e9 ns
// (NetworkFunction.cpp) becomes bytes per second, rounded to the nearest;
// local-mem-bw and remote-mem-bw are decimal GB/s; peak-perf is TFLOPS, taken as
// "bf16" and as the default dtype when the roofline is on.
// Every option without a counterpart is in the notes. Errors (InvalidArgument, and
// ReadFile's) name file, line, column and key: unknown network keys and kinds with
// the nearest known one, lists of different length, numbers out of range, missing
// required keys.
absl::StatusOr<AstraSimResult> ClusterFromAstraSim(const AstraSimInputs& inputs);

}  // namespace chakra
