namespace chakra {

// Devices, as text of chakra.proto.Device: those of cluster presets and others. Text that several devices
// share stands here once; replay/cluster/devices.cc and replay/cluster/presets.cc put the pieces together.
// All rates are dense. fp32 is the rate of products of matrices in full precision; NVIDIA's TF32 is tf32. The
// peaks are those at the boost clock. Sizes of memory are those that the driver reports, or the data sheet's GB of
// 1e9 bytes (GB300, MI325X, MI355X). Cards that get all of their power from the slot cannot hold the boost
// clock during long products of matrices. Their sustained clock is taken to be the geometric mean of base
// clock and boost clock; the share is relative to the boost clock. host_gbytes_per_s is what copies of pinned
// memory get on 16 lanes of PCIe 4 and 5, and on GB200's link of chips (Azure/AI-benchmarking-guide, NVBandwidth:
// A100 26, H100 and H200 51 to 52, GB200 193 to 201); PCIe 3 is taken to have half of PCIe 4, and GB300 what
// GB200 has.

extern const char kP4[] = R"pb(
  name: "P4" memory_mib: 7611
  # NVIDIA Tesla P4 datasheet: 5.5 TFLOP/s, 22 TOP/s, 192 GB/s, all within 50 to 75 W
  peak_tflops { key: "fp32" value: 5.5 }
  peak_tflops { key: "int8" value: 22 }
  default_dtype: "fp32"
  sustained_share: 0.873  # base clock of 810 MHz, boost clock of 1,063: NVIDIA Tesla P4 product brief
  memory_gbytes_per_s: 192
  compute_units: 20 clock_mhz: 1063 l2_mbytes: 2 architecture: "pascal"
  host_gbytes_per_s: 13
)pb";

extern const char kP100Pcie[] = R"pb(
  name: "P100-PCIe-16GB" memory_mib: 16280
  # NVIDIA Tesla P100 datasheet, PCIe column, 16 GB
  peak_tflops { key: "fp64" value: 4.7 }
  peak_tflops { key: "fp32" value: 9.3 }
  peak_tflops { key: "fp16" value: 18.7 }
  default_dtype: "fp32"
  memory_gbytes_per_s: 732
  compute_units: 56 clock_mhz: 1303 l2_mbytes: 4 architecture: "pascal"
  host_gbytes_per_s: 13
)pb";

extern const char kP100Sxm[] = R"pb(
  name: "P100-SXM2-16GB" memory_mib: 16280
  # NVIDIA Tesla P100 datasheet, NVLink column
  peak_tflops { key: "fp64" value: 5.3 }
  peak_tflops { key: "fp32" value: 10.6 }
  peak_tflops { key: "fp16" value: 21.2 }
  default_dtype: "fp32"
  memory_gbytes_per_s: 732
  compute_units: 56 clock_mhz: 1480 l2_mbytes: 4 architecture: "pascal"
  host_gbytes_per_s: 13
)pb";

extern const char kV100Pcie[] = R"pb(
  name: "V100-PCIe-32GB" memory_mib: 32510
  # NVIDIA V100 datasheet, PCIe column; fp16 is that of the tensor cores
  peak_tflops { key: "fp64" value: 7 }
  peak_tflops { key: "fp32" value: 14 }
  peak_tflops { key: "fp16" value: 112 }
  default_dtype: "fp16"
  memory_gbytes_per_s: 900
  compute_units: 80 clock_mhz: 1380 l2_mbytes: 6 architecture: "volta"
  host_gbytes_per_s: 13
)pb";

extern const char kV100[] = R"pb(
  name: "V100-SXM-32GB" memory_mib: 32510
  # V100 datasheet, NVLink column; fp16 is that of the tensor cores, which know neither bf16 nor tf32
  peak_tflops { key: "fp64" value: 7.8 }
  peak_tflops { key: "fp32" value: 15.7 }
  peak_tflops { key: "fp16" value: 125 }
  default_dtype: "fp16"
  # 32 GB HBM2: V100 datasheet
  memory_gbytes_per_s: 900
  compute_units: 80 clock_mhz: 1530 l2_mbytes: 6 architecture: "volta"
  host_gbytes_per_s: 13
)pb";

extern const char kT4[] = R"pb(
  name: "T4" memory_mib: 15360
  # NVIDIA T4 datasheet: 8.1 TFLOP/s, 65 in fp16, 130 TOP/s, 320 GB/s, all within 70 W
  peak_tflops { key: "fp32" value: 8.1 }
  peak_tflops { key: "fp16" value: 65 }
  peak_tflops { key: "int8" value: 130 }
  default_dtype: "fp16"
  sustained_share: 0.607  # base clock of 585 MHz, boost clock of 1,590: NVIDIA T4 product brief
  memory_gbytes_per_s: 320
  compute_units: 40 clock_mhz: 1590 l2_mbytes: 4 architecture: "turing"
  host_gbytes_per_s: 13
)pb";

extern const char kA10[] = R"pb(
  name: "A10" memory_mib: 23028
  # NVIDIA A10 datasheet, rates without sparsity
  peak_tflops { key: "fp32" value: 31.2 }
  peak_tflops { key: "tf32" value: 62.5 }
  peak_tflops { key: "bf16" value: 125 }
  peak_tflops { key: "fp16" value: 125 }
  peak_tflops { key: "int8" value: 250 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 600
  compute_units: 72 clock_mhz: 1695 l2_mbytes: 6 architecture: "ampere_rtx"
  host_gbytes_per_s: 26
)pb";

// A100 datasheet, which has one set of rates for all forms. fp64 is the rate of the tensor cores (9.7 without
// them); fp32 is the rate without tensor cores (with them it is tf32).
extern const char kA100Rates[] = R"pb(
  peak_tflops { key: "fp64" value: 19.5 }
  peak_tflops { key: "fp32" value: 19.5 }
  peak_tflops { key: "tf32" value: 156 }
  peak_tflops { key: "bf16" value: 312 }
  peak_tflops { key: "fp16" value: 312 }
  peak_tflops { key: "int8" value: 624 }
  default_dtype: "bf16"
  compute_units: 108 clock_mhz: 1410 l2_mbytes: 40 architecture: "ampere"
  host_gbytes_per_s: 26
)pb";

extern const char kA100Pcie40[] = R"pb(
  name: "A100-PCIe-40GB" memory_mib: 40536 memory_gbytes_per_s: 1555  # NVIDIA A100 datasheet, 40 GB PCIe
)pb";

extern const char kA100Sxm40[] = R"pb(
  name: "A100-SXM4-40GB" memory_mib: 40536 memory_gbytes_per_s: 1555  # NVIDIA A100 datasheet, 40 GB SXM
)pb";

extern const char kA100Sxm80[] = R"pb(
  name: "A100-SXM4-80GB" memory_mib: 81920
  # 80 GB HBM2e: A100 datasheet, SXM column; rounded to 2.04 TB/s elsewhere
  memory_gbytes_per_s: 2039
)pb";

extern const char kA100Pcie80[] = R"pb(
  name: "A100-PCIe-80GB" memory_mib: 81920 memory_gbytes_per_s: 1935  # NVIDIA A100 datasheet, 80 GB PCIe
)pb";

extern const char kL4[] = R"pb(
  name: "L4" memory_mib: 23034
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
  compute_units: 58 clock_mhz: 2040 l2_mbytes: 48 architecture: "ada"
  host_gbytes_per_s: 26
)pb";

extern const char kL40s[] = R"pb(
  name: "L40S" memory_mib: 46068
  # stas00/ml-engineering, compute/accelerator, from the L40S datasheet, without sparsity
  peak_tflops { key: "fp32" value: 91.6 }
  peak_tflops { key: "tf32" value: 183 }
  peak_tflops { key: "bf16" value: 362 }
  peak_tflops { key: "fp16" value: 362 }
  peak_tflops { key: "fp8" value: 733 }
  peak_tflops { key: "int8" value: 733 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 864
  compute_units: 142 clock_mhz: 2520 l2_mbytes: 96 architecture: "ada"
  host_gbytes_per_s: 26
)pb";

extern const char kH100Pcie[] = R"pb(
  name: "H100-PCIe-80GB" memory_mib: 81559
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
  compute_units: 114 clock_mhz: 1620 l2_mbytes: 50 architecture: "hopper"
  host_gbytes_per_s: 52
)pb";

// The rates of the chip on SXM, except fp64. Source: H100 datasheet, SXM column, which prints the rates with
// sparsity, twice these (989 tf32, 1,979 bf16 and fp16, 3,958 fp8 and int8). fp32 is the rate without tensor
// cores (with them it is tf32).
extern const char kHopperRates[] = R"pb(
  peak_tflops { key: "fp32" value: 67 }
  peak_tflops { key: "tf32" value: 494.5 }
  peak_tflops { key: "bf16" value: 989 }
  peak_tflops { key: "fp16" value: 989 }
  peak_tflops { key: "fp8" value: 1979 }
  peak_tflops { key: "int8" value: 1979 }
  default_dtype: "bf16"
  compute_units: 132 clock_mhz: 1830 l2_mbytes: 50 architecture: "hopper"
  host_gbytes_per_s: 52
)pb";

extern const char kH100[] = R"pb(
  name: "H100-SXM5-80GB" memory_mib: 81559
  # That of the tensor cores (34 without)
  peak_tflops { key: "fp64" value: 67 }
  # 80 GB HBM3, 3.35 TB/s: H100 datasheet, SXM column
  memory_gbytes_per_s: 3350
)pb";

extern const char kH200[] = R"pb(
  name: "H200-SXM-141GB" memory_mib: 143771
  # The rates of the H100: H200 datasheet, SXM column, halved where it prints those with sparsity
  peak_tflops { key: "fp64" value: 67 }
  # 141 GB HBM3e, 4.8 TB/s: H200 datasheet
  memory_gbytes_per_s: 4800
)pb";

extern const char kH800[] = R"pb(
  name: "H800-SXM5-80GB" memory_mib: 81559
  # The chip of the H100, whose rates are assumed, but for fp64, which is cut to 1: philisun.com, comparison
  # of H100 and H800
  peak_tflops { key: "fp64" value: 1 }
  # as the H100
  memory_gbytes_per_s: 3350
)pb";

extern const char kH20[] = R"pb(
  name: "H20-96GB" memory_mib: 97871
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
  compute_units: 78 clock_mhz: 1830 l2_mbytes: 60 architecture: "hopper"
  host_gbytes_per_s: 52
)pb";

// Dense rates of one GPU: an eighth of the rates of HGX B200 and HGX B300, and half of that where these are
// with sparsity (TF32 18, BF16 and FP16 36, FP8 72 PFLOP/s; FP32 600 TFLOP/s).
extern const char kB200Rates[] = R"pb(
  peak_tflops { key: "fp32" value: 75 }
  peak_tflops { key: "tf32" value: 1125 }
  peak_tflops { key: "bf16" value: 2250 }
  peak_tflops { key: "fp16" value: 2250 }
  peak_tflops { key: "fp8" value: 4500 }
  default_dtype: "bf16"
  compute_units: 148 clock_mhz: 1860 l2_mbytes: 126 architecture: "blackwell"
  host_gbytes_per_s: 52
)pb";

extern const char kB200[] = R"pb(
  name: "B200-SXM-180GB"
  memory_mib: 183359
  board_watts: 1000  # HGX B200 specification
  # FP64 296 TFLOP/s, INT8 with sparsity 72 POP/s for 8 GPUs: HGX B200
  peak_tflops { key: "fp64" value: 37 }
  peak_tflops { key: "int8" value: 4500 }
  # 180 GB HBM3e, 64 TB/s for 8 GPUs: DGX B200 datasheet
  memory_gbytes_per_s: 8000
  peak_tflops { key: "fp4" value: 9000 }  # stas00/ml-engineering, compute/accelerator
)pb";

extern const char kB300[] = R"pb(
  name: "B300-SXM-288GB"
  memory_mib: 275040
  board_watts: 1100  # HGX B300 specification
  # developer.nvidia.com/blog/making-softmax-more-efficient-with-nvidia-blackwell-ultra
  exponential_rate: 2
  # FP64 10 TFLOP/s for 8 GPUs: HGX B300. Sources disagree on int8, which is left out.
  peak_tflops { key: "fp64" value: 1.25 }
  # 288 GB HBM3e: stas00/ml-engineering, compute/accelerator
  memory_gbytes_per_s: 8000
  peak_tflops { key: "fp4" value: 12600 }  # as above
)pb";

extern const char kGb200[] = R"pb(
  name: "GB200-186GB"
  memory_mib: 189471
  board_watts: 1200  # stas00/ml-engineering, compute/accelerator
  # Dense rates of one GPU: 1/72 of GB200 NVL72's, halved where those are with sparsity (TF32 180, BF16 and
  # FP16 360, FP8 720 PFLOP/s, INT8 720 POP/s; FP32 5,760, FP64 2,880 TFLOP/s)
  peak_tflops { key: "fp64" value: 40 }
  peak_tflops { key: "fp32" value: 80 }
  peak_tflops { key: "tf32" value: 1250 }
  peak_tflops { key: "bf16" value: 2500 }
  peak_tflops { key: "fp16" value: 2500 }
  peak_tflops { key: "fp8" value: 5000 }
  peak_tflops { key: "int8" value: 5000 }
  default_dtype: "bf16"
  # 186 GB HBM3e, 576 TB/s for 72 GPUs: GB200 NVL72
  memory_gbytes_per_s: 8000
  compute_units: 152
  clock_mhz: 2010
  l2_mbytes: 126
  architecture: "blackwell"
  peak_tflops { key: "fp4" value: 10000 }  # GB200 NVL72, a 72nd, without sparsity
  host_gbytes_per_s: 197
)pb";
extern const char kGb300[] = R"pb(
  name: "GB300-288GB"
  memory_mib: 274658
  board_watts: 1400  # stas00/ml-engineering, compute/accelerator
  exponential_rate: 2  # as B300
  # Dense rates of one GPU: stas00/ml-engineering, compute/accelerator; as a GB200's but for fp64
  peak_tflops { key: "fp64" value: 1.3 }
  peak_tflops { key: "fp32" value: 80 }
  peak_tflops { key: "tf32" value: 1250 }
  peak_tflops { key: "bf16" value: 2500 }
  peak_tflops { key: "fp16" value: 2500 }
  peak_tflops { key: "fp8" value: 5000 }
  default_dtype: "bf16"
  # 288 GB HBM3e
  memory_gbytes_per_s: 8000
  compute_units: 152
  clock_mhz: 2010
  l2_mbytes: 126
  architecture: "blackwell"
  peak_tflops { key: "fp4" value: 15000 }  # stas00/ml-engineering, compute/accelerator
  host_gbytes_per_s: 197
)pb";
extern const char kRtxPro6000[] = R"pb(
  name: "RTX-PRO-6000" memory_mib: 97887
  # NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet, without sparsity: FP4 4 PFLOP/s with it
  peak_tflops { key: "fp32" value: 120 }
  peak_tflops { key: "tf32" value: 250 }
  peak_tflops { key: "bf16" value: 500 }
  peak_tflops { key: "fp16" value: 500 }
  peak_tflops { key: "fp8" value: 1000 }
  peak_tflops { key: "int8" value: 1000 }
  default_dtype: "bf16"
  # 96 GB GDDR7
  memory_gbytes_per_s: 1597
  compute_units: 188 clock_mhz: 2600 l2_mbytes: 128 architecture: "blackwell_rtx"
  peak_tflops { key: "fp4" value: 2000 }
  host_gbytes_per_s: 52
)pb";

extern const char kMi100[] = R"pb(
  name: "MI100" memory_mib: 32752
  # AMD Instinct MI100 brochure; fp32 is that of the matrix cores (23.1 without)
  peak_tflops { key: "fp64" value: 11.5 }
  peak_tflops { key: "fp32" value: 46.1 }
  peak_tflops { key: "bf16" value: 92.3 }
  peak_tflops { key: "fp16" value: 184.6 }
  peak_tflops { key: "int8" value: 184.6 }
  default_dtype: "fp16"
  memory_gbytes_per_s: 1228.8
  compute_units: 120 clock_mhz: 1502 l2_mbytes: 8 architecture: "cdna"
  host_gbytes_per_s: 26
)pb";

extern const char kMi210[] = R"pb(
  name: "MI210" memory_mib: 65520  # AMD Instinct MI210 datasheet
)pb";

extern const char kMi250[] = R"pb(
  # Half of the AMD Instinct MI250 datasheet: programs see each of its two dies as a device
  name: "MI250-die" memory_mib: 65520
)pb";

// One die of the MI210 and of the MI250; their datasheets give equal rates. fp64 and fp32 are the rates of
// the matrix cores (22.6 without them).
extern const char kMi200Die[] = R"pb(
  peak_tflops { key: "fp64" value: 45.3 }
  peak_tflops { key: "fp32" value: 45.3 }
  peak_tflops { key: "bf16" value: 181 }
  peak_tflops { key: "fp16" value: 181 }
  peak_tflops { key: "int8" value: 181 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 1638.4
  compute_units: 104 clock_mhz: 1700 l2_mbytes: 8 architecture: "cdna2"
  host_gbytes_per_s: 26
)pb";

extern const char kMi250x[] = R"pb(
  name: "MI250X-die" memory_mib: 65520
  # Half of the AMD Instinct MI250X datasheet, as MI250-die
  peak_tflops { key: "fp64" value: 47.9 }
  peak_tflops { key: "fp32" value: 47.9 }
  peak_tflops { key: "bf16" value: 191.5 }
  peak_tflops { key: "fp16" value: 191.5 }
  peak_tflops { key: "int8" value: 191.5 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 1638.4
  compute_units: 110 clock_mhz: 1700 l2_mbytes: 8 architecture: "cdna2"
  host_gbytes_per_s: 26
)pb";

// MI300X datasheet, dense. fp64 is the rate of the matrix cores (81.7 without them).
extern const char kMi300Rates[] = R"pb(
  peak_tflops { key: "fp64" value: 163.4 }
  peak_tflops { key: "fp32" value: 163.4 }
  peak_tflops { key: "tf32" value: 653.7 }
  peak_tflops { key: "bf16" value: 1307.4 }
  peak_tflops { key: "fp16" value: 1307.4 }
  peak_tflops { key: "fp8" value: 2614.9 }
  peak_tflops { key: "int8" value: 2614.9 }
  default_dtype: "bf16"
  compute_units: 304 clock_mhz: 2100 l2_mbytes: 256 architecture: "cdna3"
  host_gbytes_per_s: 52
)pb";

extern const char kMi300[] = R"pb(
  name: "MI300X-192GB" memory_mib: 196592
  # 192 GB HBM3, 5.3 TB/s: MI300X datasheet
  memory_gbytes_per_s: 5300
)pb";

extern const char kMi325x[] = R"pb(
  # AMD Instinct MI325X datasheet: the rates of the MI300X, faster memory
  name: "MI325X-256GB" memory_mib: 244140 memory_gbytes_per_s: 6000
)pb";

extern const char kMi355x[] = R"pb(
  name: "MI355X-288GB" memory_mib: 274658
  # AMD Instinct MI355X datasheet, without sparsity
  peak_tflops { key: "fp64" value: 78.6 }
  peak_tflops { key: "fp32" value: 157.3 }
  peak_tflops { key: "bf16" value: 2516 }
  peak_tflops { key: "fp16" value: 2516 }
  peak_tflops { key: "fp8" value: 5033 }
  peak_tflops { key: "int8" value: 5033 }
  default_dtype: "bf16"
  memory_gbytes_per_s: 8000
  compute_units: 256 clock_mhz: 2400 l2_mbytes: 256 architecture: "cdna4"
  peak_tflops { key: "fp4" value: 10100 }
  host_gbytes_per_s: 52
)pb";

}  // namespace chakra
