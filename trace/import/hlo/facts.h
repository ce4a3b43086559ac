// What single instructions do: operations, bytes, and the sizes by which the kernel model knows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Whether the instruction runs on the device by itself: not a parameter, constant, tuple or view, and not a
// call of another computation that runs in its place.
bool Runs(const Instruction& instruction);
// Whether it computes something of more than one number: not a move, nor a place in an array.
bool Computes(const Instruction& instruction);

enum class HostCopy : uint8_t { kNone, kToHost, kFromHost };

struct Facts {
  // "xla::dot", "xla::convolution", "xla::attention", "xla::loop", "xla::reduce", "xla::copy",
  // "xla::transpose", "xla::gather", "xla::scatter", "xla::sort", "xla::custom-call".
  std::string op;
  // Of the operands, as PyTorch prints them. Products are [batch, m, k] and [batch, k, n], convolutions
  // [n, c, ...] and [k, c / groups, ...], attention [batch, length, heads, width] three times.
  std::string shapes, types;
  // Multiplications and additions are one each; everything else that is done to an element is one. A dot has
  // 2 m n k (XLA's own count, HloCostAnalysis).
  int64_t operations = 0;
  // Read and written, each operand and result once; of slices and updates only what they touch.
  int64_t bytes = 0;
  // Moves data over the link to the host's memory; `bytes` is then what crosses it.
  HostCopy host = HostCopy::kNone;
  bool unknown = false;  // a custom call that nothing tells but its operands
};

// Of an instruction of module.computations[computation] that Runs().
Facts FactsOf(const Module& module, uint32_t computation, uint32_t row);

// "c10::BFloat16" of "bf16" and so on.
std::string TypeText(const std::string& type);

}  // namespace chakra::hlo
