// Makes PyTorch captures of any size, shaped like real ones, for the readers' benchmarks, tests and examples
// without a profile.
#pragma once

#include <cstdint>
#include <string>

namespace chakra {

struct CaptureOptions {
  uint64_t bytes = uint64_t{100} << 20;  // the least size of the text, which exceeds it by less than one step
  int rank = 0;
  int world = 8;
  int layers = 24;                // a step: forward, backward, an all-reduce every 4 layers, the optimizer
  int64_t compute_ns = 40000;     // mean time of a kernel
  bool python_functions = false;  // with_stack=True: several python_function events for each operator
};

// The text of one rank's Kineto trace as PyTorch 2.4 writes it: times in
// microseconds with three decimals since baseTimeNanoseconds, operators on two
// threads, launches, kernels on three streams (compute, copies, NCCL) that
// begin after their launch and after the stream's earlier kernels, NCCL
// kernels with their metadata, fwdbwd and ac2g arrows. The same options give
// the same bytes.
std::string GenerateKineto(const CaptureOptions& options);

}  // namespace chakra
