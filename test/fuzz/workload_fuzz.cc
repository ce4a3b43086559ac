// Workloads: the first byte selects a config.json or "MODEL|PARALLEL|TRAINING" in short forms for the rest.
// Any bytes give a step with consistent parts, or an error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/generate/counts.h"
#include "trace/generate/huggingface/hf_config.h"
#include "trace/generate/memory.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"

namespace {

using chakra::fuzz::Require;

void CheckWorkload(const chakra::proto::Workload& workload) {
  const auto plan = chakra::generate::ResolvePlan(workload);
  Require(plan.ok() || !plan.status().message().empty(), "an error says what is wrong");
  if (!plan.ok()) return;
  Require(plan->micro_batches() >= 1, "a rank has a micro-batch");
  Require(plan->model.heads % plan->split.tp == 0, "heads are shared equally");
  Require(std::isfinite(chakra::generate::TrainingFlopsPerToken(plan->model, plan->training.seq)),
          "operations are a number");
  const int64_t passes = plan->model.layers * plan->micro_batches() * plan->split.pp * plan->split.cp;
  if (passes > 256 || plan->split.ranks() > 256) return;
  const auto step = chakra::generate::BuildStep(*plan);
  Require(step.ok(), "a step of what fits can be made");
  for (int64_t s = 0; s < plan->split.pp; ++s) {
    Require(chakra::generate::MemoryOfStage(*plan, s).total() > 0, "a rank holds something");
    const chakra::generate::StageGraph& stage = step->stages[static_cast<size_t>(s)];
    for (uint32_t i = 0; i < stage.nodes.size(); ++i) {
      Require(stage.nodes[i].bytes >= 0, "bytes are counted");
      for (uint32_t d = stage.nodes[i].dep_begin; d < stage.nodes[i].dep_end; ++d)
        Require(stage.deps[d] < i, "no node comes before what it needs");
    }
  }
  Require(chakra::generate::TracesOf(*step, "fuzz", {}).ok(), "a step can be read");
}

}  // namespace

FUZZ_TARGET(workload_fuzz, data, size) {
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  chakra::proto::Workload workload;
  if (data[0] == 'j') {
    const auto model = chakra::generate::ParseHuggingFaceConfig(text, "fuzz.json");
    Require(model.ok() || absl::StrContains(model.status().message(), "fuzz.json"),
            "an error names the file");
    if (!model.ok()) return 0;
    *workload.mutable_model() = *model;
    workload.mutable_training()->set_seq(1024);
    CheckWorkload(workload);
    return 0;
  }
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('|', 2));
  chakra::generate::WorkloadOptions options;
  options.model = parts[0];
  // Skip files: the model must be keys or a preset.
  if (absl::StrContains(options.model, "/") || absl::StrContains(options.model, ".")) return 0;
  if (parts.size() > 1) options.parallel = parts[1];
  if (parts.size() > 2) options.training = parts[2];
  const auto read = chakra::generate::ReadWorkload(options);
  Require(read.ok() || !read.status().message().empty(), "an error says what is wrong");
  if (read.ok()) CheckWorkload(*read);
  return 0;
}
