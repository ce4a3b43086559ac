// Measured kernels as published: rows of GEMMs, attention and experts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra::kernel_laws {

template <typename Call>
struct Row {
  std::string device, kernel;
  Call call;
  double us = 0;
};

struct Rows {
  std::vector<Row<GemmCall>> gemm;
  std::vector<Row<AttentionCall>> attention;
  std::vector<Row<MoeCall>> moe;
};

// Reads the files of `folder` (data/kernels): gemm_*, attention_fwd_* and moe_fwd_*. Errors name file, line
// and column.
absl::StatusOr<Rows> ReadRows(const std::string& folder);

// Whether the row is held out: one of five is, by its shape and not by its device, and always the same.
bool IsHeldOut(const GemmCall& call);
bool IsHeldOut(const AttentionCall& call);
bool IsHeldOut(const MoeCall& call);

}  // namespace chakra::kernel_laws
