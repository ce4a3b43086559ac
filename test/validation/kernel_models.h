// The operators that the models of the NeuSight artefact run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/compute/operators/operands.h"

namespace chakra::validation {

// An operator that a pass calls `times` times, on fp32 tensors of these shapes.
struct OperatorCalls {
  int times = 0;
  const char* op = "";
  std::vector<Shape> shapes;
};

// All operators of a pass of one of the models, none fused; a training pass is the forward and the backward
// pass. {}: not one of the models.
std::vector<OperatorCalls> ModelOperators(const std::string& model, int sequence, int batch, bool training);

// Operations and bytes of a pass: the sum of WorkOfOperator over its operators. nullopt: not one of the
// models.
struct PassWork {
  double operations = 0;
  double bytes = 0;
};
std::optional<PassWork> ModelWork(const std::string& model, int sequence, int batch, bool training);

// The kernel model's time of the operators one after another; bounds add up. Errors: those of the model.
absl::StatusOr<ModelledTime> PassTime(const KernelModel& model, const std::vector<OperatorCalls>& operators);

}  // namespace chakra::validation
