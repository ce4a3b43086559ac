// XLA's modules, text or proto: any bytes give an error, or a step with dependencies on earlier nodes only.
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/hlo/fuse.h"
#include "trace/import/hlo/proto_reader.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"

namespace {

void RequireAStep(const chakra::hlo::Module& module) {
  using namespace chakra;
  const auto step = hlo::BuildStep(module, "fuzz");
  if (!step.ok()) return;
  for (uint32_t n = 0; n < step->nodes.size(); ++n) {
    const hlo::StepNode& node = step->nodes[n];
    for (uint32_t d = node.dep_begin; d < node.dep_end; ++d)
      fuzz::Require(step->deps[d] < n, "a dependency points back");
    fuzz::Require((node.facts == kNoRow) != (node.collective == kNoRow), "a node computes or communicates");
  }
  for (const hlo::Facts& f : step->facts)
    fuzz::Require(f.operations >= 0 && f.bytes >= 0, "work is never negative");
}

}  // namespace

FUZZ_TARGET(hlo_fuzz, data, size) {
  using namespace chakra;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)hlo::LooksLikeHloProto(bytes);
  auto module =
      hlo::LooksLikeHloText(bytes) ? hlo::ReadHloText(bytes, "fuzz") : hlo::ReadHloProto(bytes, "fuzz");
  if (!module.ok()) {
    fuzz::Require(!module.status().message().empty(), "an error says why");
    return 0;
  }
  RequireAStep(*module);
  hlo::FuseElementwise(&*module);
  if (module->fused_here) RequireAStep(*module);
  return 0;
}
