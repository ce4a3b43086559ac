// Values of `plan --try`, a line each: an accepted line has values, a workload accepts each value, and errors
// name the option.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "replay/plan/space.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/generate/workload.h"

FUZZ_TARGET(plan_space_fuzz, data, size) {
  using chakra::fuzz::Require;
  if (size > 512) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const chakra::proto::Workload workload = [] {
    chakra::generate::WorkloadOptions options;
    options.model = "mixtral-8x7b";
    options.training = "seq=8192,global_batch=64";
    return *chakra::generate::ReadWorkload(options);
  }();
  const std::vector<std::string> tries = absl::StrSplit(text, '\n', absl::SkipEmpty());
  const auto space = chakra::planning::MakeSplitSpace(workload, tries, 64, 8);
  if (!space.ok()) {
    Require(absl::StartsWith(space.status().message(), "--try"), "an error names the option");
    return 0;
  }
  for (const auto* values :
       {&space->tp, &space->cp, &space->pp, &space->vpp, &space->ep, &space->etp, &space->micro_batch})
    Require(!values->empty() && (*values)[0] >= 1, "each field has values");
  Require(!space->zero.empty() && !space->recompute.empty(), "each field has values");
  Require(!space->variants.empty() && space->variants.size() == space->variant_names.size(),
          "variants have names");
  return 0;
}
