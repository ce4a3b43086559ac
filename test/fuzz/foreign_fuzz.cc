// Configuration files of training frameworks: any bytes give a workload or an error that names the file. A
// workload gives a step with consistent parts, or an error.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/foreign/foreign.h"
#include "trace/generate/memory.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace {

using chakra::fuzz::Require;

}  // namespace

FUZZ_TARGET(foreign_fuzz, data, size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  // A file that has no model gets one, as a user gives it with --model.
  chakra::foreign::Beside beside;
  beside.has_model = size % 2 == 1;
  auto workload = chakra::foreign::ReadForeign(text, "fuzz.conf", beside);
  Require(workload.ok() || absl::StrContains(workload.status().message(), "fuzz.conf"),
          "an error names the file");
  if (!workload.ok()) return 0;
  Require(chakra::foreign::LooksForeign(text), "what is read is recognised");
  if (!chakra::generate::ExpandModel("", workload->mutable_model()).ok()) return 0;
  if (!workload->model().has_layers()) {
    workload->mutable_model()->set_preset("llama3-8b");
    Require(chakra::generate::ExpandModel("", workload->mutable_model()).ok(), "the preset exists");
  }
  const auto plan = chakra::generate::ResolvePlan(*workload);
  Require(plan.ok() || !plan.status().message().empty(), "an error says what is wrong");
  if (!plan.ok() || plan->micro_batches() * plan->split.model_pieces() > 4096) return 0;
  for (int64_t s = 0; s < plan->split.pp && s < 8; ++s)
    Require(chakra::generate::MemoryOfStage(*plan, s).total() > 0, "a rank holds something");
  return 0;
}
