// Annotations of CUDA graphs: any bytes are read, or refused with the file's name. Annotations that were read
// refer to rows that exist.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/kineto/graph_annotations.h"

FUZZ_TARGET(graph_annotations_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::pytorch;
  DeviceTrace trace;
  for (const int64_t node : {1, 2, 42}) {
    trace.graph_nodes.push_back({static_cast<uint32_t>(trace.device.size()), node});
    trace.device.emplace_back();
  }
  const absl::Status status =
      AnnotateGraphs(absl::string_view(reinterpret_cast<const char*>(data), size), "fuzz.json", &trace);
  if (!status.ok()) {
    fuzz::Require(status.message().substr(0, 11) == "fuzz.json: ", "an error names the file");
    return 0;
  }
  for (const DeviceExtra& extra : trace.device)
    fuzz::Require(extra.comm == kNoRow || extra.comm < trace.comms.size(), "a call is there");
  return 0;
}
