// What `replay` says of its ranks: several jobs, where they sit, how they differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/jobs.h"
#include "replay/report/report.h"
#include "trace/reader.h"

namespace chakra::cli {

struct RankOptions {
  std::vector<std::string> jobs;        // beside the first
  std::string placement;                // "": the cluster's
  std::vector<std::string> stragglers;  // RANK=FACTOR
  uint64_t seed = 0;                    // 0: the cluster's

  // The options, bound to this, which must outlive the parsing.
  void AddTo(CLI::App* app);
  // Faults of the command line alone: values without the right form.
  absl::Status Check() const;
  // Puts placement, stragglers and seed into the cluster.
  absl::Status Apply(proto::Cluster* cluster) const;
  // Reads the jobs and puts them behind `first`, which was read from `input`. With `ranks` > 0, those of one
  // trace become that many equal ranks.
  absl::StatusOr<TraceSet> AddJobs(TraceSet first, const std::string& input, const ReadOptions& read,
                                   int ranks, std::vector<Job>* jobs) const;
};

// A run that cannot finish, with a hint where the lanes let ranks of unequal speed pass each other.
absl::Status ExplainStuck(const absl::Status& failure, const std::string& lanes, const RunDescription& run);

}  // namespace chakra::cli
