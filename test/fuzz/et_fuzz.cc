// Fuzzes the decoder of .et frames, in every mode.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "test/fuzz/fuzz_target.h"
#include "trace/et/decode.h"
#include "trace/et/read_options.h"
#include "trace/model/groups.h"

FUZZ_TARGET(et_fuzz, data, size) {
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  for (int mode = 0; mode < 4; ++mode) {
    chakra::ReadOptions options;
    options.strict = mode == 1;
    options.allow_truncated = mode == 2;
    options.keep_raw = mode == 3;
    chakra::GraphPool pool;
    chakra::Decoder decoder(&pool);
    const auto trace = decoder.Decode(content, "fuzz.et", 0, options);
    if (!trace.ok()) continue;
    const chakra::Graph& g = *trace->graph;
    if (g.order.size() != g.size() || g.child.size() != g.dep.size()) std::abort();
    if (g.comm.size() != trace->peers.size()) std::abort();
    if (options.strict && !trace->repairs.empty()) std::abort();
    if (options.keep_raw && trace->raw->begin.size() != size_t{g.size()} + 2) std::abort();
    for (const auto& node : decoder.group_nodes()) (void)chakra::ParseGroupNode(node.text, "fuzz.et");
  }
  return 0;
}
