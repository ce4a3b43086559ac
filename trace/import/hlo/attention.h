// Fused attention: which custom calls are that, and their sizes.
#pragma once

#include <string>
#include <vector>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

struct Attention {
  double batch = 1, queries = 1, keys = 1, heads = 1, kv_heads = 1, width = 1;
  bool backward = false;
  std::string type;
  double operations = 0;  // of both or, backward, all five products, without the pairs that a mask leaves out
};

// cuDNN's calls, Transformer Engine's and others that are named so: query, key and value, or these packed,
// each [batch, length, heads, width], or in the order that cuDNN's configuration tells. False: another call.
bool ReadAttention(const Instruction& call, const std::vector<const Shape*>& operands, Attention* out);

}  // namespace chakra::hlo
