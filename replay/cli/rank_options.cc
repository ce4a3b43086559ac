#include "replay/cli/rank_options.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/symmetric.h"
#include "replay/variation.h"

namespace chakra::cli {

void RankOptions::AddTo(CLI::App* app) {
  const std::string g = "Ranks and jobs";
  app->add_option(
         "--placement", placement,
         "Which device each rank sits on: linear (rank i on device i), round_robin:BLOCK (on block i "
         "mod blocks of BLOCK devices), random:SEED, stride:N (N devices after the last), or a file of "
         "lines \"RANK DEVICE\" or \"0-7: 8-15\"; groups of traces keep their ranks")
      ->type_name("RULE|FILE")
      ->group(g);
  app->add_option(
         "--straggler", stragglers,
         "Computation of RANK (or 3,8-15, or all) takes FACTOR times as long; may be repeated. Jitter "
         "and random stragglers: variation in the cluster file")
      ->type_name("RANK=FACTOR")
      ->allow_extra_args(false)
      ->group(g);
  app->add_option("--seed", seed, "Of everything that the cluster's variation draws; default: 1")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, std::numeric_limits<uint64_t>::max()).description(""))
      ->group(g);
  app->add_option(
         "--job", jobs,
         "Another job on the same machine, started at START (a time with its unit, 10us; default 0); "
         "its ranks follow those of the jobs before it; may be repeated")
      ->type_name("TRACE[@START]")
      ->allow_extra_args(false)
      ->group(g);
}

absl::Status RankOptions::Check() const {
  proto::Variation unused;
  for (const std::string& s : stragglers) {
    if (absl::Status bad = AddStraggler(s, &unused); !bad.ok())
      return absl::Status(bad.code(), absl::StrCat("--straggler ", bad.message()));
  }
  for (const std::string& job : jobs) {
    if (const auto spec = ParseJob(job); !spec.ok())
      return absl::Status(spec.status().code(), absl::StrCat("--job ", job, ": ", spec.status().message()));
  }
  return absl::OkStatus();
}

absl::Status RankOptions::Apply(proto::Cluster* cluster) const {
  if (!placement.empty()) {
    cluster->mutable_placement()->set_rule(placement);
    cluster->mutable_placement()->set_label(absl::StrCat("--placement \"", placement, "\""));
  }
  for (const std::string& s : stragglers) {
    if (absl::Status bad = AddStraggler(s, cluster->mutable_variation()); !bad.ok()) return bad;
  }
  if (seed != 0) cluster->mutable_variation()->set_seed(seed);
  return absl::OkStatus();
}

absl::StatusOr<TraceSet> RankOptions::AddJobs(TraceSet first, const std::string& input,
                                              const ReadOptions& read, int ranks,
                                              std::vector<Job>* out) const {
  std::vector<JobInput> inputs;
  inputs.push_back({input, std::move(first), Time::Zero()});
  ReadOptions own = read;  // --groups and the selection of a capture are the first job's
  own.groups_file.clear();
  own.capture = CaptureSelection();
  for (const std::string& text : jobs) {
    const absl::StatusOr<JobSpec> spec = ParseJob(text);
    if (!spec.ok()) return spec.status();
    absl::StatusOr<TraceSet> traces = ReadTraceSet({spec->trace}, own);
    if (!traces.ok()) return traces.status();
    if (ranks > 0 && traces->ranks.size() == 1) {
      if (absl::Status s = MakeSymmetric(ranks, &*traces); !s.ok()) return s;
    }
    inputs.push_back({spec->trace, *std::move(traces), spec->start});
  }
  return MergeJobs(std::move(inputs), out);
}

absl::Status ExplainStuck(const absl::Status& failure, const std::string& lanes, const RunDescription& run) {
  const bool uneven = !run.variation.empty() || !run.placement.empty();
  if (lanes != "single" || !uneven || !absl::StrContains(failure.message(), "cannot finish")) return failure;
  return absl::Status(failure.code(),
                      absl::StrCat(failure.message(),
                                   "\n  with --lanes single each rank starts what is ready first, so that "
                                   "ranks of unequal speed may call in unequal order; --lanes recorded keeps "
                                   "the order of the trace"));
}

}  // namespace chakra::cli
