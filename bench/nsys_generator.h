// Makes exports of Nsight Systems: realistic training steps of a small data-parallel job, in the tables and
// columns of nsys 2026 (schema 3.25).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace chakra {

struct NsysOptions {
  int gpus = 2;           // of a host, each with a process
  int hosts = 1;          // of the job; its ranks are numbered host by host
  int host = 0;           // the host of the export
  int steps = 3;          // iterations
  int layers = 4;         // each with a forward, a backward and an all-reduce of its gradients
  int width = 1024;       // of a layer's square matrix, fp32
  bool blobs = true;      // as with --include-blobs=true
  bool operators = true;  // PyTorch's ranges, with shapes
  bool pipeline = false;  // even and odd ranks exchange activations: a group of a send and a receive a step
  bool event_records = true;        // as with --cuda-event-trace=true
  bool graph_of_forward = false;    // the forward pass is a CUDA graph, traced node by node
  bool graph_traced_whole = false;  // the same, traced as a whole
  int64_t clock_error_ns = 0;       // of this host
  int kernel_percent = 100;         // of the usual durations of kernels
};

// Writes an export to `path`, which must not exist. The same options give the same rows.
absl::Status GenerateNsys(const NsysOptions& options, const std::string& path);

}  // namespace chakra
