// Files that say how ranks share the work, and that a trainer's file may name: DeepSpeed's, accelerate's, and
// FSDP's.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// What fills in "auto".
struct Trainer {
  std::string name;          // the trainer's file; "": the options of the command line
  proto::Training values;    // micro_batch, accumulation, dtype, ...
  int64_t ranks_of_dp = 0;   // 0: unknown
  bool gives_batch = false;  // DeepSpeed's file may leave the batch out
};

// DeepSpeed's keys under the table `under`. Sets parallelism, batch and framework.
void TakeDeepSpeed(ForeignKeys& keys, absl::string_view under, const Trainer& trainer, proto::Workload* out);
// The keys of fsdp_config under the table `under`, with and without "fsdp_" before them.
void TakeFsdp(ForeignKeys& keys, absl::string_view under, proto::Workload* out);
// accelerate's keys. `source` is its file.
absl::Status TakeAccelerate(const Source& source, const Trainer& trainer, ForeignKeys& keys,
                            proto::Workload* out);

// The sizes of parallelism_config, in accelerate's file or a trainer's.
void TakeMesh(ForeignKeys& keys, proto::Workload* out);
// Plain data parallelism: PyTorch's DistributedDataParallel.
void TakeDdp(proto::Workload* out);
// Tensor parallelism as torch's and DeepSpeed's: the tokens between GEMMs are on all ranks.
void TakeTensor(int64_t tp, proto::Workload* out);
// Sets dp from all ranks, `keys`, and the sizes that `out` and `given` have.
void TakeRanks(absl::string_view names, const proto::Parallel& given, ForeignKeys& keys,
               proto::Workload* out);

// Reads a file that `source` names by `path`, as a launcher's. Errors: those of ReadFile(), with the key.
absl::Status ReadLauncher(const Source& source, absl::string_view key, const std::string& path,
                          const Trainer& trainer, proto::Workload* out);
// The keys of a file that `source` names by `path`.
absl::Status ReadNamed(const Source& source, absl::string_view key, const std::string& path,
                       std::string* content, std::string* name);

}  // namespace chakra::foreign
