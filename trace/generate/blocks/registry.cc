#include <cstdlib>

#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {

const std::vector<SublayerKind>& SublayerKinds() {
  static const auto& kinds = *new std::vector<SublayerKind>{
      {'*', false, "attention", DescribeAttention},
      {'M', false, "Mamba-2", DescribeMamba},
      {'G', false, "gated DeltaNet", DescribeGatedDelta},
      {'K', false, "Kimi delta attention", DescribeKimiDelta},
      {'L', false, "lightning attention", DescribeLightning},
      {'C', false, "gated short convolution", DescribeConvolution},
      {'-', true, "MLP", DescribeMlp},
      {'E', true, "experts", DescribeExperts},
  };
  return kinds;
}

void DescribeSublayer(char letter, BlockWriter* writer) {
  for (const SublayerKind& kind : SublayerKinds()) {
    if (kind.letter == letter) return kind.describe(writer);
  }
  std::abort();  // ResolveModel() refuses other letters
}

}  // namespace chakra::generate
