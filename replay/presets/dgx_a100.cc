namespace chakra {

// Nodes of 8 A100 SXM 80 GB on NVSwitch, one HDR port for each GPU.
extern const char kDgxA100[] = R"pb(
  name: "dgx-a100"
  source: "NVIDIA A100 80GB datasheet; NVIDIA DGX A100 user guide DU-09821; latencies: SimAI gen_Topo_Template.py"
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      size: 8  # GPUs on 6 NVSwitch2: DGX A100 user guide DU-09821
      bandwidth_gbytes_per_s:
          300         # NVLink 3, 12 links x 25 GB/s a direction: A100 datasheet (600 GB/s both ways)
      latency_ns: 25  # NVSwitch hop: aliyun/SimAI gen_Topo_Template.py, default
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      bandwidth_gbytes_per_s: 25  # one 200 Gb/s HDR ConnectX-6 for each GPU: DGX A100 user guide DU-09821
      latency_ns: 500             # NIC link: aliyun/SimAI gen_Topo_Template.py, default
    }
  }
  device {
    name: "A100-SXM4-80GB"
    # Dense rates, NVIDIA A100 datasheet. fp64 is that of the tensor cores; fp32 is not, that is tf32.
    peak_tflops { key: "fp64" value: 19.5 }
    peak_tflops { key: "fp32" value: 19.5 }
    peak_tflops { key: "tf32" value: 156 }
    peak_tflops { key: "bf16" value: 312 }
    peak_tflops { key: "fp16" value: 312 }
    peak_tflops { key: "int8" value: 624 }
    default_dtype: "bf16"
    memory_gbytes_per_s: 2039  # HBM2e, 80 GB: NVIDIA A100 datasheet
  }
)pb";

}  // namespace chakra
