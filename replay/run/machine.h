// The machine that the options of a run describe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/run/cluster_model.h"
#include "replay/run/options.h"

namespace chakra {

// What the options name for --cluster.
std::string ClusterSpec(const RunOptions& options);

// Reads the cluster, and changes it as the options say, `set` last. `notes` gets a line for what else
// changes. Errors: LoadCluster()'s, and options that do not fit the cluster.
absl::StatusOr<proto::Cluster> DescribeMachine(const RunOptions& options, std::vector<std::string>* notes);

// The same, built for so many ranks. Errors of BuildCluster() begin with the cluster's name.
absl::StatusOr<ClusterModel> BuildMachine(const RunOptions& options, int ranks,
                                          std::vector<std::string>* notes);

}  // namespace chakra
