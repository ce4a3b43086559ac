// Writes a sweep as a job array of Slurm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace chakra::sweep {

struct SlurmJob {
  std::string spec;    // the file of the spec
  std::string folder;  // folder of the results, on a disk that all nodes share
  std::string name;    // name of the sweep, for the job's name
  uint64_t tasks = 1;  // tasks of the array; each runs a shard
  int jobs = 1;        // points that a task runs at the same time, and its cores
  // The maximum number of points that all tasks run together, at least `tasks`; 0: all points.
  uint64_t limit = 0;
  std::vector<std::string> words;  // additional words of `sweep` for each task
  // Additional words of `sweep export` for the last job, which writes the tables.
  std::vector<std::string> table_words;
};

// Writes FOLDER/sweep.sbatch, a task of the array; FOLDER/export.sbatch, which writes the tables when all
// tasks have ended; and FOLDER/submit.sh, which submits both with `sbatch "$@"`. A requeued task continues
// where it stopped. Returns the path of submit.sh. Errors: those of the disk.
absl::StatusOr<std::string> WriteSlurm(const SlurmJob& job);

}  // namespace chakra::sweep
