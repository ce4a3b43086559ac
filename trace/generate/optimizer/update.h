// The update of the weights by an optimizer of whole matrices (Muon, SOAP), with its communication.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// A kernel or a collective.
struct UpdateWork {
  Operator op;       // of a kernel
  int launches = 0;  // kernels that a loop launches from here on (LoopKernelNs()), beside those of `op`
  bool collective = false;  // the following fields are those of a collective
  CollectiveType type = CollectiveType::kAllGather;
  GroupKind group = GroupKind::kData;
  Stream stream = Stream::kGather;
  int64_t bytes = 0;  // this rank's input
};
using UpdateList = std::vector<UpdateWork>;

// The update of a matrix, or of as many as ranks of dp exchange at once. `times`: number of equal ones.
struct MatrixUpdate {
  int64_t times = 1;
  // up to an exchange, between two exchanges, and after the second one; in one piece without exchanges
  UpdateList start, middle, end;
};

// All work between the clipping of gradients and the next step on the rank that has most of it.
struct StepUpdate {
  UpdateList before;
  std::vector<MatrixUpdate> matrices;
  UpdateList after;
};

// The kernels are those of NVIDIA-NeMo/Emerging-Optimizers (orthogonalized_optimizer.py, muon_utils.py,
// adaptive_muon.py, soap.py), one matrix after the other, or of microsoft/dion (muon.py) with
// MatrixSharding ALL_TO_ALL. GEMMs of Newton-Schulz steps are in bf16, those of SOAP in TF32. `all`:
// ParametersOf() the stage.
StepUpdate DescribeUpdate(const StepPlan& plan, const std::vector<Parameter>& all);

// Adds the update to a graph, after `at`, and returns its last nodes. Exchanges of three matrices overlap
// with kernels, as dion's tasks do.
NodeList AddUpdate(const StepUpdate& update, NodeList at, StageGraph* graph);

}  // namespace chakra::generate
