// Configuration files of training frameworks: any bytes give a workload or an error that names the file. A
// workload gives a step with consistent parts, or an error.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/generate/foreign.h"
#include "trace/generate/memory.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"

namespace {

using chakra::fuzz::Require;

}  // namespace

FUZZ_TARGET(foreign_fuzz, data, size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto workload = chakra::generate::ReadForeign(text, "fuzz.conf");
  Require(workload.ok() || absl::StrContains(workload.status().message(), "fuzz.conf"),
          "an error names the file");
  if (!workload.ok()) return 0;
  Require(chakra::generate::LooksForeign(text), "what is read is recognised");
  const auto plan = chakra::generate::ResolvePlan(*workload);
  Require(plan.ok() || !plan.status().message().empty(), "an error says what is wrong");
  if (!plan.ok() || plan->micro_batches() * plan->split.model_pieces() > 4096) return 0;
  for (int64_t s = 0; s < plan->split.pp && s < 8; ++s)
    Require(chakra::generate::MemoryOfStage(*plan, s).total() > 0, "a rank holds something");
  return 0;
}
