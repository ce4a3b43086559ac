// Writes a sweep as a job array of Slurm.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::sweep {

struct SlurmJob {
  std::string spec;                  // the file
  std::string folder;                // folder of the results, on a disk that all nodes share
  std::string name;                  // of the job
  int tasks = 1;                     // tasks of the array; each runs a shard
  int jobs = 1;                      // points that a task runs at the same time, and its cores
  std::vector<std::string> formats;  // formats of the tables that the last job writes; empty: the default
};

// Writes FOLDER/sweep.sbatch, a task of the array; FOLDER/export.sbatch, which writes the tables when all
// tasks have ended; and FOLDER/submit.sh, which submits both with `sbatch "$@"`. A requeued task goes on
// where it stopped. Returns the path of submit.sh. Errors: those of the disk.
absl::StatusOr<std::string> WriteSlurm(const SlurmJob& job);

}  // namespace chakra::sweep
