// Text workloads: any bytes give a workload or an error with a reason. On the fewest ranks that can run it, a
// workload is refused or gives each rank the nodes of the program.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/astra_text/program.h"
#include "trace/import/astra_text/workload.h"
#include "trace/import/astra_text/write.h"

FUZZ_TARGET(astra_text_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::astra_text;
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  (void)LooksLikeTextWorkload(content);
  const auto workload = ReadTextWorkload(content, "fuzz.txt");
  if (!workload.ok()) {
    fuzz::Require(!workload.status().message().empty(), "an error says why");
    return 0;
  }
  fuzz::Require(LooksLikeTextWorkload(content), "what can be read is recognised");
  const auto layout = LayoutOf(*workload, workload->model_parallel == 0 ? 2 : 0, "fuzz.txt");
  if (!layout.ok() || layout->ranks > 64) return 0;
  const auto program = ProgramOf(*workload, *layout, "fuzz.txt");
  if (!program.ok() || program->nodes.size() * static_cast<size_t>(layout->ranks) > 100000) return 0;
  const auto traces = TracesOf(*program, *layout, "fuzz.txt", ReadOptions());
  if (!traces.ok()) return 0;
  fuzz::Require(traces->ranks.size() == static_cast<size_t>(layout->ranks), "each rank has a trace");
  const bool groups = !traces->groups.empty();
  for (const RankTrace& rank : traces->ranks)
    fuzz::Require(rank.graph->size() == program->nodes.size() + (groups ? 1 : 0), "each step is a node");
  return 0;
}
