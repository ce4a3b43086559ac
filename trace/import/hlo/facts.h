// The work of single instructions: operations, bytes, and the sizes by which the kernel model knows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Whether the instruction itself runs on the device: it is not a parameter, constant, tuple or view, and not
// a call whose computation runs in its place.
bool Runs(const Instruction& instruction);
// Whether the instruction computes more than one number. Moves do not compute; scalars are mostly indices
// into arrays.
bool Computes(const Instruction& instruction);

enum class HostCopy : uint8_t { kNone, kToHost, kFromHost };

struct Facts {
  // "xla::dot", "xla::convolution", "xla::attention", "xla::attention_backward", "xla::loop", "xla::reduce",
  // "xla::copy", "xla::transpose", "xla::gather", "xla::scatter", "xla::sort", "xla::custom-call".
  std::string op;
  // Of the operands, as PyTorch prints them. GEMMs are [batch, m, k] and [batch, k, n], convolutions [n, c,
  // ...] and [k, c / groups, ...], attention three times [batch, length, heads, width].
  std::string shapes, types;
  // A multiplication or an addition is one operation; any other function of an element is one, too. A dot has
  // 2 m n k (XLA's own count, HloCostAnalysis).
  int64_t operations = 0;
  // Read and written, each operand and result once; for slices and updates, only the bytes that they touch.
  int64_t bytes = 0;
  // Whether data move over the link to the host's memory; `bytes` are then those that cross the link.
  HostCopy host = HostCopy::kNone;
  bool unknown = false;  // a custom call of which only the operands are known
};

// Returns the facts of an instruction of module.computations[computation]. Precondition: Runs().
Facts FactsOf(const Module& module, uint32_t computation, uint32_t row);

// "c10::BFloat16" for "bf16", and so on.
std::string TypeText(const std::string& type);

}  // namespace chakra::hlo
