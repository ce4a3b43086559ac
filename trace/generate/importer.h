// Workloads as traces, for all code that reads traces.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/et/importer.h"

namespace chakra::generate {

// The name of an input for a workload in memory, for all functions that take names of traces.
std::string WorkloadInput(const proto::Workload& workload);
bool IsWorkloadInput(absl::string_view input);
// Whether inputs are a workload, in memory or a file. The traces of a workload may depend on
// ReadOptions::domain.
bool AreWorkload(const std::vector<std::string>& inputs);

// Turns a file of proto::Workload or a WorkloadInput() into the traces of all its ranks, in memory. Process
// groups, steps and ranks cannot be selected, because the workload defines them.
extern const Importer kImporter;

}  // namespace chakra::generate
