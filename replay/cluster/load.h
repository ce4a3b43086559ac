// Clusters by name or from files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Reads `spec`: a preset, "PRESET:key=value,..." (OverrideKeys()), a cluster
// file (text format, JSON or binary), or an ASTRA-sim network file (.yml,
// .yaml). Errors: neither a preset nor a file (with the nearest preset and the
// list), an unknown key, a value out of range, and what the readers find.
// `notes`, where given, gets a line for each ASTRA-sim option without a
// counterpart, and one on what a network file leaves open.
absl::StatusOr<proto::Cluster> LoadCluster(const std::string& spec,
                                           std::vector<std::string>* notes = nullptr);

// Keys of the overrides. "peak_tflops" sets the default dtype's;
// "peak_tflops.fp16" that of one. "nodes" is the size of the last dimension,
// "nic_gbps" its bandwidth in Gb/s (1e9 bits).
std::vector<std::string> OverrideKeys();

}  // namespace chakra
