// Reads what PyTorch records of the kernels in CUDA graphs in a file next to the profile (torch 2.12 and
// 2.13; later versions write it into the profile).
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Whether `path` has the name of such a file. `rank` gets the rank in the name: 3 for
// "kernel_annotations_rank3_1234.json".
bool NamedAsGraphAnnotations(absl::string_view path, int* rank);

// Sets the collectives of device operations in graphs. `json` has them by the number of the graph node:
// {"42": [{"In msg nelems": 1024, "dtype": "float32", ...}, ...]}. Later entries of a list replace fields of
// earlier entries. An operation that has a collective keeps it. Errors name `file`: it is not JSON, or not of
// this form.
absl::Status AnnotateGraphs(absl::string_view json, absl::string_view file, DeviceTrace* trace);

}  // namespace chakra::pytorch
