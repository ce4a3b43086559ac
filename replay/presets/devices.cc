namespace chakra {

// Devices that no cluster preset has, as text of chakra.proto.Device. Dense rates. fp32 is that of products
// of matrices in full precision; what NVIDIA calls TF32 is tf32. Cards that get all of their power from the
// slot hold their boost clock in no product of matrices that lasts: what they hold is taken to be the
// geometric mean of the base clock and the boost clock, as a share of the boost clock, at which the peaks
// are.

extern const char kP4[] = R"pb(
  name: "P4"
  # NVIDIA Tesla P4 datasheet: 5.5 TFLOP/s, 22 TOP/s, 192 GB/s, all within 50 to 75 W
  peak_tflops { key: "fp32" value: 5.5 }
  peak_tflops { key: "int8" value: 22 }
  default_dtype: "fp32"
  sustained_share: 0.873  # base clock of 810 MHz, boost clock of 1,063: NVIDIA Tesla P4 product brief
  memory_gbytes_per_s: 192
)pb";

extern const char kP100Pcie[] = R"pb(
  name: "P100-PCIe-16GB"
  # NVIDIA Tesla P100 datasheet, PCIe column, 16 GB
  peak_tflops { key: "fp64" value: 4.7 }
  peak_tflops { key: "fp32" value: 9.3 }
  peak_tflops { key: "fp16" value: 18.7 }
  default_dtype: "fp32"
  memory_gbytes_per_s: 732
)pb";

extern const char kP100Sxm[] = R"pb(
  name: "P100-SXM2-16GB"
  # NVIDIA Tesla P100 datasheet, NVLink column
  peak_tflops { key: "fp64" value: 5.3 }
  peak_tflops { key: "fp32" value: 10.6 }
  peak_tflops { key: "fp16" value: 21.2 }
  default_dtype: "fp32"
  memory_gbytes_per_s: 732
)pb";

extern const char kV100Pcie[] = R"pb(
  name: "V100-PCIe-32GB"
  # NVIDIA V100 datasheet, PCIe column; fp16 is that of the tensor cores
  peak_tflops { key: "fp64" value: 7 }
  peak_tflops { key: "fp32" value: 14 }
  peak_tflops { key: "fp16" value: 112 }
  default_dtype: "fp16"
  memory_gbytes_per_s: 900
)pb";

extern const char kT4[] = R"pb(
  name: "T4"
  # NVIDIA T4 datasheet: 8.1 TFLOP/s, 65 in fp16, 130 TOP/s, 320 GB/s, all within 70 W
  peak_tflops { key: "fp32" value: 8.1 }
  peak_tflops { key: "fp16" value: 65 }
  peak_tflops { key: "int8" value: 130 }
  default_dtype: "fp16"
  sustained_share: 0.607  # base clock of 585 MHz, boost clock of 1,590: NVIDIA T4 product brief
  memory_gbytes_per_s: 320
)pb";

extern const char kA10[] = R"pb(
  name: "A10"
  # NVIDIA A10 datasheet, rates without sparsity
  peak_tflops { key: "fp32" value: 31.2 }
  peak_tflops { key: "tf32" value: 62.5 }
  peak_tflops { key: "bf16" value: 125 }
  peak_tflops { key: "fp16" value: 125 }
  peak_tflops { key: "int8" value: 250 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 600
)pb";

// The rates of dgx-a100's device: A100 datasheet, which has them once for all forms.
extern const char kA100Rates[] = R"pb(
  peak_tflops { key: "fp64" value: 19.5 }
  peak_tflops { key: "fp32" value: 19.5 }
  peak_tflops { key: "tf32" value: 156 }
  peak_tflops { key: "bf16" value: 312 }
  peak_tflops { key: "fp16" value: 312 }
  peak_tflops { key: "int8" value: 624 }
  default_dtype: "bf16"
)pb";

extern const char kA100Pcie40[] = R"pb(
  name: "A100-PCIe-40GB" memory_gbytes_per_s: 1555  # NVIDIA A100 datasheet, 40 GB PCIe
)pb";

extern const char kA100Sxm40[] = R"pb(
  name: "A100-SXM4-40GB" memory_gbytes_per_s: 1555  # NVIDIA A100 datasheet, 40 GB SXM
)pb";

extern const char kA100Pcie80[] = R"pb(
  name: "A100-PCIe-80GB" memory_gbytes_per_s: 1935  # NVIDIA A100 datasheet, 80 GB PCIe
)pb";

extern const char kL4[] = R"pb(
  name: "L4"
  # NVIDIA L4 datasheet, halved where it prints rates with sparsity; all within 72 W
  peak_tflops { key: "fp32" value: 30.3 }
  peak_tflops { key: "tf32" value: 60 }
  peak_tflops { key: "bf16" value: 121 }
  peak_tflops { key: "fp16" value: 121 }
  peak_tflops { key: "fp8" value: 242.5 }
  peak_tflops { key: "int8" value: 242.5 }
  default_dtype: "bf16"
  sustained_share: 0.624  # base clock of 795 MHz, boost clock of 2,040: NVIDIA L4 product brief
  memory_gbytes_per_s: 300
)pb";

extern const char kL40s[] = R"pb(
  name: "L40S"
  # stas00/ml-engineering, compute/accelerator, from the L40S datasheet, without sparsity
  peak_tflops { key: "fp32" value: 91.6 }
  peak_tflops { key: "tf32" value: 183 }
  peak_tflops { key: "bf16" value: 362 }
  peak_tflops { key: "fp16" value: 362 }
  peak_tflops { key: "fp8" value: 733 }
  peak_tflops { key: "int8" value: 733 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 864
)pb";

extern const char kH100Pcie[] = R"pb(
  name: "H100-PCIe-80GB"
  # NVIDIA H100 datasheet, PCIe column, halved where it prints rates with sparsity
  peak_tflops { key: "fp64" value: 51 }
  peak_tflops { key: "fp32" value: 51 }
  peak_tflops { key: "tf32" value: 378 }
  peak_tflops { key: "bf16" value: 756 }
  peak_tflops { key: "fp16" value: 756 }
  peak_tflops { key: "fp8" value: 1513 }
  peak_tflops { key: "int8" value: 1513 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 2000
)pb";

extern const char kH20[] = R"pb(
  name: "H20-96GB"
  # Pages of vendors of servers, which agree; NVIDIA publishes no datasheet
  peak_tflops { key: "fp64" value: 1 }
  peak_tflops { key: "fp32" value: 44 }
  peak_tflops { key: "tf32" value: 74 }
  peak_tflops { key: "bf16" value: 148 }
  peak_tflops { key: "fp16" value: 148 }
  peak_tflops { key: "fp8" value: 296 }
  peak_tflops { key: "int8" value: 296 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 4000
)pb";

extern const char kMi100[] = R"pb(
  name: "MI100"
  # AMD Instinct MI100 brochure; fp32 is that of the matrix cores (23.1 without)
  peak_tflops { key: "fp64" value: 11.5 }
  peak_tflops { key: "fp32" value: 46.1 }
  peak_tflops { key: "bf16" value: 92.3 }
  peak_tflops { key: "fp16" value: 184.6 }
  peak_tflops { key: "int8" value: 184.6 }
  default_dtype: "fp16"
  memory_gbytes_per_s: 1228.8
)pb";

extern const char kMi210[] = R"pb(
  name: "MI210"
  # AMD Instinct MI210 datasheet; fp64 and fp32 are those of the matrix cores (22.6 without)
  peak_tflops { key: "fp64" value: 45.3 }
  peak_tflops { key: "fp32" value: 45.3 }
  peak_tflops { key: "bf16" value: 181 }
  peak_tflops { key: "fp16" value: 181 }
  peak_tflops { key: "int8" value: 181 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 1638.4
)pb";

extern const char kMi250[] = R"pb(
  name: "MI250-die"
  # Half of the AMD Instinct MI250 datasheet: programs see each of its two dies as a device. fp64 and fp32 are
  # those of the matrix cores (22.6 without).
  peak_tflops { key: "fp64" value: 45.3 }
  peak_tflops { key: "fp32" value: 45.3 }
  peak_tflops { key: "bf16" value: 181 }
  peak_tflops { key: "fp16" value: 181 }
  peak_tflops { key: "int8" value: 181 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 1638.4
)pb";

extern const char kMi250x[] = R"pb(
  name: "MI250X-die"
  # Half of the AMD Instinct MI250X datasheet, as MI250-die
  peak_tflops { key: "fp64" value: 47.9 }
  peak_tflops { key: "fp32" value: 47.9 }
  peak_tflops { key: "bf16" value: 191.5 }
  peak_tflops { key: "fp16" value: 191.5 }
  peak_tflops { key: "int8" value: 191.5 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 1638.4
)pb";

extern const char kMi325x[] = R"pb(
  name: "MI325X-256GB"
  # AMD Instinct MI325X datasheet: the rates of the MI300X, faster memory
  peak_tflops { key: "fp64" value: 163.4 }
  peak_tflops { key: "fp32" value: 163.4 }
  peak_tflops { key: "tf32" value: 653.7 }
  peak_tflops { key: "bf16" value: 1307.4 }
  peak_tflops { key: "fp16" value: 1307.4 }
  peak_tflops { key: "fp8" value: 2614.9 }
  peak_tflops { key: "int8" value: 2614.9 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 6000
)pb";

extern const char kMi355x[] = R"pb(
  name: "MI355X-288GB"
  # AMD Instinct MI355X datasheet, without sparsity
  peak_tflops { key: "fp64" value: 78.6 }
  peak_tflops { key: "fp32" value: 157.3 }
  peak_tflops { key: "bf16" value: 2516 }
  peak_tflops { key: "fp16" value: 2516 }
  peak_tflops { key: "fp8" value: 5033 }
  peak_tflops { key: "int8" value: 5033 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 8000
)pb";

}  // namespace chakra
