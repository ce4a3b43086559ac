// Clusters by name or from files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Reads `spec`: a preset, "PRESET:key=value,..." (OverrideKeys()), a cluster file (text format, JSON or
// binary), or an ASTRA-sim network file (.yml, .yaml). Errors: neither a preset nor a file (with the nearest
// preset and the list), an unknown key, a value out of range, and errors of the readers. `notes`, if not
// null, gets a line for each ASTRA-sim option without a counterpart, and one for what a network file does not
// contain.
absl::StatusOr<proto::Cluster> LoadCluster(const std::string& spec,
                                           std::vector<std::string>* notes = nullptr);

// The keys of overrides. "peak_tflops" sets the peak of the default dtype; "peak_tflops.fp16" sets that of
// one dtype. "nodes" is the size of the last dimension, "nic_gbps" its bandwidth in Gb/s (1e9 bits).
std::vector<std::string> OverrideKeys();

struct OverrideDoc {
  const char* key;
  const char* field;  // its path in a cluster, as --set takes it
  const char* doc;    // with the unit
};
// In the order of OverrideKeys().
std::vector<OverrideDoc> DescribeOverrides();

}  // namespace chakra
