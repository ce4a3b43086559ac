// A training step of a GPT-like model as traces: tensor, pipeline and data parallel.
#pragma once

#include "absl/status/statusor.h"
#include "trace/model/trace.h"

namespace chakra {

// GPT-3 13B (Brown et al., 2020, table 2.1: 40 layers, width 5,140; 5,120 as others build it) on 128 GPUs.
struct GptStep {
  int layers = 40;
  int hidden = 5120;
  int sequence = 2048;
  int micro_batch = 1;
  int tensor = 8;  // ranks next to each other
  int pipeline = 4;
  int data = 4;
  int micro_batches = 8;  // of each replica
  int buckets = 4;        // of gradients, of a stage
  double flops = 156e12;  // operations a second that a GPU reaches
  int bytes = 2;          // of a value
  int ranks() const { return tensor * pipeline * data; }
};

// Rank = tensor + `tensor` * (data + `data` * stage). Megatron-LM's schedule (Narayanan et al., SC 2021): one
// forward, one backward; two all-reduces for each layer and direction over the tensor ranks; activations go
// to the next stage and their gradients back; gradients are all-reduced over the data ranks in buckets during
// the last backward pass. Times come from 24 b s h^2 (1 + s / 6h) operations in a layer forward, and twice as
// many backward.
absl::StatusOr<TraceSet> MakeGptStep(const GptStep& step);

}  // namespace chakra
