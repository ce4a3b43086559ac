#include "trace/import/comm/comm_names.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace chakra::pytorch {

CommNames::CommNames(const DeviceTrace& device)
    : d_(device), kernel_of_(device.strings.size(), kUnread), operator_of_(device.strings.size(), kUnread) {
  amd_ = std::any_of(d_.devices.begin(), d_.devices.end(),
                     [](const std::string& name) { return absl::StartsWith(name, "AMD"); });
}

KernelSays CommNames::Kernel(const Event& e, const CommKernel** out) {
  uint32_t& known = kernel_of_[e.name];
  if (known == kUnread) {
    CommKernel kernel;
    switch (ReadCommKernel(d_.name_of(e), &kernel)) {
      case KernelSays::kNothing:
        known = kNothing;
        break;
      case KernelSays::kComputes:
        known = kComputes;
        break;
      case KernelSays::kCommunicates:
        known = static_cast<uint32_t>(kernels_.size());
        // Kernels of RCCL have the names of NCCL's.
        if (amd_ && kernel.library == "NCCL") kernel.library = "RCCL";
        kernels_.push_back(kernel);
        break;
    }
  }
  if (known == kNothing) return KernelSays::kNothing;
  if (known == kComputes) return KernelSays::kComputes;
  *out = &kernels_[known];
  return KernelSays::kCommunicates;
}

const CommOperator* CommNames::Operator(const Event& e) {
  if (e.kind != EventKind::kCpuOp && e.kind != EventKind::kAnnotation) return nullptr;
  uint32_t& known = operator_of_[e.name];
  if (known == kUnread) {
    CommOperator op;
    known = kNothing;
    if (ReadCommOperator(d_.name_of(e), &op)) {
      known = static_cast<uint32_t>(operators_.size());
      operators_.push_back(op);
    }
  }
  return known == kNothing ? nullptr : &operators_[known];
}

CommCall CommNames::CallOf(const Event& e, const CommOperator& op) const {
  CommCall call;
  const absl::string_view name = d_.name_of(e);
  call.name = std::string(name);
  call.library = std::string(name.substr(0, name.find(':')));
  if (op.annotation) absl::AsciiStrToUpper(&call.library);
  call.own_group = !op.annotation && !absl::StrContains(call.library, "c10d");
  if (e.extra == kNoRow) {
    ReadOperatorCall(op, "", "", &call);
  } else {
    ReadOperatorCall(op, d_.strings.Get(d_.ops[e.extra].shapes), d_.strings.Get(d_.ops[e.extra].types),
                     &call);
  }
  return call;
}

CommCall CommNames::CallOf(const Event& e, const CommKernel& kernel) const {
  CommCall call;
  const absl::string_view name = d_.name_of(e);
  call.name = std::string(name.substr(0, name.find('(')));
  call.op = kernel.op;
  call.dtype = std::string(kernel.dtype);
  call.library = std::string(kernel.library);
  call.group_size = kernel.group_size;
  call.own_group = !kernel.process_group;
  return call;
}

}  // namespace chakra::pytorch
