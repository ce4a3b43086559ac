// What PyTorch notes of the kernels in CUDA graphs, in a file beside the profile (torch 2.12 and 2.13; later
// versions put it into the profile).
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// The rank in the name of such a file: "kernel_annotations_rank3_1234.json" has 3. False: it is another file.
bool NamedAsGraphAnnotations(absl::string_view path, int* rank);

// Gives the device operations of graphs in `trace` the collectives that `json` notes by the numbers of their
// nodes:
// {"42": [{"In msg nelems": 1024, "dtype": "float32", ...}, ...]}, of which later entries replace earlier
// ones. Operations that have a collective keep theirs. Errors name `file`: no JSON, or another one.
absl::Status AnnotateGraphs(absl::string_view json, absl::string_view file, DeviceTrace* trace);

}  // namespace chakra::pytorch
