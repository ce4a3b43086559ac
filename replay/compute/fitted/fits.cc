// Made by test/kernel_laws; the list of all fits.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {

extern const GemmFit kGemmA100Bf16, kGemmB200Fp8Block, kGemmB200Fp4, kGemmB200Fp8, kGemmB200Bf16, kGemmH100Fp8Block, kGemmH100Fp8, kGemmH100Bf16;
absl::Span<const GemmFit > GemmFits() {
  static const GemmFit kFits[] = {kGemmA100Bf16, kGemmB200Fp8Block, kGemmB200Fp4, kGemmB200Fp8, kGemmB200Bf16, kGemmH100Fp8Block, kGemmH100Fp8, kGemmH100Bf16};
  return kFits;
}

extern const AttentionFit kAttentionA100FlashAttentionBf16Bf16, kAttentionB200FlashinferBf16Bf16, kAttentionB200FlashinferBf16Fp8, kAttentionB200TritonBf16Bf16, kAttentionB200TritonBf16Fp8, kAttentionB200TritonFp8Fp8, kAttentionB200TrtllmMhaBf16Bf16, kAttentionB200TrtllmMhaFp8Fp8, kAttentionH100Fa3Bf16Bf16, kAttentionH100Fa3Fp8Fp8, kAttentionH100TritonBf16Bf16, kAttentionH100TritonBf16Fp8, kAttentionH100TritonFp8Fp8;
absl::Span<const AttentionFit > AttentionFits() {
  static const AttentionFit kFits[] = {kAttentionA100FlashAttentionBf16Bf16, kAttentionB200FlashinferBf16Bf16, kAttentionB200FlashinferBf16Fp8, kAttentionB200TritonBf16Bf16, kAttentionB200TritonBf16Fp8, kAttentionB200TritonFp8Fp8, kAttentionB200TrtllmMhaBf16Bf16, kAttentionB200TrtllmMhaFp8Fp8, kAttentionH100Fa3Bf16Bf16, kAttentionH100Fa3Fp8Fp8, kAttentionH100TritonBf16Bf16, kAttentionH100TritonBf16Fp8, kAttentionH100TritonFp8Fp8};
  return kFits;
}

extern const MoeFit kMoeA100Bf16, kMoeA100Int4Wo, kMoeH100Bf16, kMoeH100Fp8Block, kMoeH100Int4Wo;
absl::Span<const MoeFit > MoeFits() {
  static const MoeFit kFits[] = {kMoeA100Bf16, kMoeA100Int4Wo, kMoeH100Bf16, kMoeH100Fp8Block, kMoeH100Int4Wo};
  return kFits;
}

}  // namespace chakra::laws
