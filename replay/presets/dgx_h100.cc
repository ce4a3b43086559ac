namespace chakra {

// Nodes of 8 H100 SXM 80 GB on NVSwitch, one NDR port for each GPU.
extern const char kDgxH100[] = R"pb(
  name: "dgx-h100"
  source: "NVIDIA H100 datasheet; NVIDIA DGX H100 user guide; latencies: SimAI gen_Topo_Template.py"
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      size: 8  # GPUs on 4 NVSwitch3: DGX H100 user guide
      bandwidth_gbytes_per_s:
          450         # NVLink 4, 18 links x 25 GB/s a direction: H100 datasheet (900 GB/s both ways)
      latency_ns: 25  # NVSwitch hop: aliyun/SimAI gen_Topo_Template.py, default
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      bandwidth_gbytes_per_s: 50  # one 400 Gb/s NDR ConnectX-7 for each GPU: DGX H100 user guide
      latency_ns: 500             # NIC link: aliyun/SimAI gen_Topo_Template.py, default
    }
  }
  device {
    name: "H100-SXM5-80GB"
    # Dense rates (half of what the sheet prints with sparsity), NVIDIA H100 datasheet. fp64 is that of the
    # tensor cores; fp32 is not, that is tf32.
    peak_tflops { key: "fp64" value: 67 }
    peak_tflops { key: "fp32" value: 67 }
    peak_tflops { key: "tf32" value: 494.5 }
    peak_tflops { key: "bf16" value: 989 }
    peak_tflops { key: "fp16" value: 989 }
    peak_tflops { key: "fp8" value: 1979 }
    peak_tflops { key: "int8" value: 1979 }
    default_dtype: "bf16"
    memory_gbytes_per_s: 3350  # HBM3, 80 GB: NVIDIA H100 datasheet
  }
)pb";

}  // namespace chakra
