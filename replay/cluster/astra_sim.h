// Converts ASTRA-sim's configuration files to this project's cluster message.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Paths; "" if there is no such file. The network file is required.
struct AstraSimInputs {
  std::string network_yaml;  // network file of the analytical front end
  std::string system_json;
  std::string memory_json;  // remote memory
  std::string groups_json;  // groups of ranks; they are only checked
};

struct AstraSimResult {
  proto::Cluster cluster;
  // Options without a counterpart, and assumptions, one line each: "FILE: key: ...".
  std::vector<std::string> notes;
};

// Units are ASTRA-sim's: network bandwidth in GB/s of 2^30 B per 1e9 ns (NetworkFunction.cpp) becomes bytes
// per second, rounded to the nearest; local-mem-bw and remote-mem-bw are decimal GB/s; peak-perf is TFLOPS,
// used as "bf16" and as the default dtype if the roofline is on. Every option without a counterpart is noted.
// Errors (InvalidArgument, and ReadFile's) name file, line, column and key: unknown network keys and kinds
// with the nearest known one, lists of different length, numbers out of range, missing required keys.
absl::StatusOr<AstraSimResult> ClusterFromAstraSim(const AstraSimInputs& inputs);

}  // namespace chakra
