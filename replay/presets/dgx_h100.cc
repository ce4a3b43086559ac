namespace chakra {

// Nodes of 8 H100 SXM 80 GB on NVSwitch, one NDR port for each GPU.
extern const char kDgxH100[] = R"pb(
  name: "dgx-h100"
  source: "NVIDIA H100 datasheet; NVIDIA DGX H100 user guide; latencies: SimAI gen_Topo_Template.py"
  # Latencies are defaults of a simulator, of a link in hardware alone: aliyun/SimAI,
  # astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py. A path through a switch pays its link twice: 50
  # ns on NVLink, 1 us between nodes. Measured end to end with software, 64 bytes take 3.33 us on NVLink
  # and 2.8 us (one leaf switch) or 3.7 us (two) on InfiniBand: DeepSeek-V3, ISCA 2025, table 5. To answer for
  # these: nvlink_latency_ns=1665, nic_latency_ns=1400 or 1850.
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 8 GPUs on 4 NVSwitches: DGX H100 user guide
      size: 8
      # 18 NVLink 4 links of 25 GB/s a direction, 900 GB/s both ways: H100 datasheet
      bandwidth_gbytes_per_s: 450
      latency_ns: 25  # SimAI, above: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 400 Gb/s NDR ConnectX-7 for each GPU: DGX H100 user guide
      bandwidth_gbytes_per_s: 50
      latency_ns: 500  # SimAI, above: NIC link
    }
  }
  device {
    name: "H100-SXM5-80GB"
    # Dense rates: H100 datasheet, SXM column, which prints the rates with sparsity, twice these (989 tf32,
    # 1,979 bf16 and fp16, 3,958 fp8 and int8). fp64 is that of the tensor cores (34 without); fp32 is not,
    # that is tf32.
    peak_tflops { key: "fp64" value: 67 }
    peak_tflops { key: "fp32" value: 67 }
    peak_tflops { key: "tf32" value: 494.5 }
    peak_tflops { key: "bf16" value: 989 }
    peak_tflops { key: "fp16" value: 989 }
    peak_tflops { key: "fp8" value: 1979 }
    peak_tflops { key: "int8" value: 1979 }
    default_dtype: "bf16"
    # 80 GB HBM3, 3.35 TB/s: H100 datasheet, SXM column
    memory_gbytes_per_s: 3350
  }
)pb";

}  // namespace chakra
