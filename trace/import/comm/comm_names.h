// What the names of a capture's events tell of communication. Each distinct name is read once.
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

  // Of a device operation: whether its name tells that it communicates, and, if so, `out` (owned by this).
  KernelSays Kernel(const Event& e, const CommKernel** out);
  // Of an operator or annotation: null if it does not communicate.
  const CommOperator* Operator(const Event& e);
  // The call that operator `e` is, as its name and arguments tell. Precondition: `op` is its Operator().
  CommCall CallOf(const Event& e, const CommOperator& op) const;
  // The call as the name of a kernel tells it.
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
