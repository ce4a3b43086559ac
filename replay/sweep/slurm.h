// A sweep as a job array of Slurm.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::sweep {

struct SlurmJob {
  std::string spec;                  // the file
  std::string folder;                // of the results, on a disk that all nodes share
  std::string name;                  // of the job
  int tasks = 1;                     // of the array, each a shard
  int jobs = 1;                      // points at once, and cores, of a task
  std::vector<std::string> formats;  // of the tables that the last job writes; empty: the default
};

// Writes FOLDER/sweep.sbatch, a task of the array; FOLDER/export.sbatch, which writes the tables when all
// have ended; and FOLDER/submit.sh, which submits both, with `sbatch "$@"`. Tasks that are requeued go on
// where they were. The path of submit.sh. Errors: the disk.
absl::StatusOr<std::string> WriteSlurm(const SlurmJob& job);

}  // namespace chakra::sweep
