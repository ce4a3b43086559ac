// The files of trainers that are built on HuggingFace's: the arguments of transformers' Trainer, and what
// each trainer adds.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/workload.pb.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/rows.h"

namespace chakra::foreign {

// What a trainer adds to the arguments of transformers' Trainer.
struct Dialect {
  absl::Span<const Row> rows;                              // take precedence over those of the arguments
  absl::Span<const char* const> harmless;                  // keys that do not change a step
  const char* model;                                       // keys of the model's id or folder
  int64_t micro_batch = 8;                                 // default
  bool recomputes = false;                                 // default
  bool bf16 = false;                                       // default
  void (*more)(ForeignKeys&, proto::Workload*) = nullptr;  // what rows cannot say
};

absl::Status ReadTrainer(const Source& source, const Dialect& dialect, proto::Workload* out);

// Low-rank adapters: `rank`, and the names of the GEMMs that have them, as "[q_proj,v_proj]" or "all".
// `targets`: the key that has the names.
void TakeAdapters(int64_t rank, absl::string_view targets, ForeignKeys& keys, proto::Workload* out);

// The dropout of their inputs; `fallback`: the trainer's default.
void TakeAdapterDropout(absl::string_view names, double fallback, ForeignKeys& keys, proto::Workload* out);

}  // namespace chakra::foreign
