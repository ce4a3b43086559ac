// A capture with kernels that Inductor generated, composed from get_profiler_kwargs() of PyTorch's
// torch/_inductor/runtime/triton_heuristics.py: the operator that launches the kernel has the arguments.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch {

inline std::string CompiledArguments(const std::string& hash, const std::string& more = "") {
  return absl::StrCat(
      ",\"Input Dims\":[[64,64],[64,64],[]],\"Input type\":[\"float\",\"float\",\"Scalar\"],"
      "\"kernel_backend\":\"triton\",\"kernel_file\":\"/tmp/torchinductor/ab/cab.py\",\"kernel_hash\":\"",
      hash, "\",\"kernel_kwargs\":\"XBLOCK=256\",\"num_stages\":1,\"num_warps\":4,\"stream\":7", more);
}

// A compiled region that launches three kernels of one name, of two codes.
inline KinetoBuilder CompiledCapture() {
  KinetoBuilder k;
  k.Rank(0, 1)
      .Annotation(11, "ProfilerStep#1", 0, 200000)
      .Op(11, "Torch-Compiled Region: 0/0", 1000, 120000)
      .Annotation(11, "## Call CompiledFxGraph fabc ##", 2000, 100000)
      .Op(11, "triton_poi_fused_add_0", 3000, 9000,
          CompiledArguments("c0ffee",
                            ",\"grid\":\"grid(4096,)\",\"kernel_flop\":4096.0,\"kernel_num_gb\":0.000049152"))
      .Launch(11, 5000, 4000, 7, "triton_poi_fused_add_0", 20000, 5000,
              ",\"grid\":[16,1,1],\"block\":[128,1,1]")
      .Op(11, "triton_poi_fused_add_0", 23000, 9000, CompiledArguments("c0ffee"))
      .Launch(11, 25000, 4000, 7, "triton_poi_fused_add_0", 40000, 7000)
      .Op(11, "triton_poi_fused_add_0", 43000, 9000, CompiledArguments("badc0de"))
      .Launch(11, 45000, 4000, 7, "triton_poi_fused_add_0", 60000, 30000);
  return k;
}

}  // namespace chakra::pytorch
