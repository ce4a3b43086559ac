// Workloads as traces: whatever reads traces reads them too.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/et/importer.h"

namespace chakra::generate {

// A workload in memory as the name of an input, for whatever takes names of traces.
std::string WorkloadInput(const proto::Workload& workload);
bool IsWorkloadInput(absl::string_view input);
// Whether inputs are a workload, in memory or a file: what is made of it may depend on ReadOptions::domain.
bool AreWorkload(const std::vector<std::string>& inputs);

// A file of proto::Workload or a WorkloadInput() becomes the traces of all its ranks, in memory. Process
// groups, steps and ranks cannot be chosen: the workload says them.
extern const Importer kImporter;

}  // namespace chakra::generate
