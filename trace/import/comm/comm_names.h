// Reads communication from the names of a capture's events. Each distinct name is read once.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/comm/comm_kernels.h"
#include "trace/import/comm/comm_operators.h"

namespace chakra::pytorch {

class CommNames {
 public:
  // `device` must outlive the object.
  explicit CommNames(const DeviceTrace& device);

  // Whether a device operation communicates, by its name. Sets `out` if it does; this object owns it.
  KernelSays Kernel(const Event& e, const CommKernel** out);
  // Reads an operator or annotation. Null: it does not communicate.
  const CommOperator* Operator(const Event& e);
  // Returns the call of operator `e`, from its name and arguments. Precondition: `op` is Operator(e).
  CommCall CallOf(const Event& e, const CommOperator& op) const;
  // Returns the call of a kernel, from its name.
  CommCall CallOf(const Event& e, const CommKernel& kernel) const;

 private:
  static constexpr uint32_t kUnread = 0xffffffff, kNothing = 0xfffffffe, kComputes = 0xfffffffd;

  const DeviceTrace& d_;
  bool amd_ = false;
  std::vector<uint32_t> kernel_of_, operator_of_;  // by name: index below, or one of the constants
  std::deque<CommKernel> kernels_;
  std::deque<CommOperator> operators_;
};

}  // namespace chakra::pytorch
