namespace chakra {

// Nodes of 8 MI300X, each linked to each other, with one 400 Gb/s port for each GPU.
extern const char kMi300x[] = R"pb(
  name: "mi300x"
  source: "AMD Instinct MI300X and MI300X platform datasheets; Azure ND MI300X v5; latencies: assumed, and SimAI gen_Topo_Template.py; library: RCCL sources and issues, Kineto captures"
  topology {
    dimension {
      name: "xgmi"
      kind: FULLY_CONNECTED
      size: 8
      # a 16-lane Infinity Fabric link for each pair, 128 GB/s both ways: MI300X platform datasheet
      bandwidth_gbytes_per_s: 64
      # Assumed: what a path over NVSwitch takes in the other presets, two links of 25 ns
      latency_ns: 50
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # 8 x 400 Gb/s NDR InfiniBand for 8 GPUs: Azure ND MI300X v5, learn.microsoft.com; the platform names
      # none
      bandwidth_gbytes_per_s: 50
      # NIC link: aliyun/SimAI, astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py
      latency_ns: 500
    }
  }
  collectives {
    library {
      generation: HOPPER
      # What AMD's workload guide sets on 8 MI300X (NCCL_MIN_NCHANNELS=112), 16 for each of 7 links:
      # rocm.docs.amd.com, how-to/rocm-for-ai/inference-optimization/workload
      channels: 112
      level {
        link: NVLINK
        # 48 of 64 GB/s a link are left after protocol and error correction: an AMD engineer in
        # ROCm/rccl#1210; RCCL plans with them, src/graph/topo.h, GFX94X_XGMI_WIDTH
        efficiency: 0.75
      }
      level {
        link: NET
        # 4096 B of payload in packets of 4122: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA specification, volume 1)
        efficiency: 0.9937
        transport { name: "infiniband-ndr" }
      }
      # As dgx-a100: not taken from captures of RCCL
      enqueue_us: 5
      launch_us: 13.9
      copy_gbytes_per_s: 0  # not measured
)pb";

}  // namespace chakra
