// Fused attention: finds the custom calls that compute it, and their sizes.
#pragma once

#include <string>
#include <vector>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

struct Attention {
  double batch = 1, queries = 1, keys = 1, heads = 1, kv_heads = 1, width = 1;
  bool backward = false;
  std::string type;
  // Of the two GEMMs forward, or the five backward, without the pairs that a mask leaves out.
  double operations = 0;
};

// Reads the attention calls of cuDNN, Transformer Engine and others with such names. Operands are query, key
// and value, or all three packed, each as [batch, length, heads, width], or in the order that cuDNN's
// configuration gives. Returns false for other calls.
bool ReadAttention(const Instruction& call, const std::vector<const Shape*>& operands, Attention* out);

}  // namespace chakra::hlo
