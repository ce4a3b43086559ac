namespace chakra {

// Nodes of 8 A100 SXM 80 GB on NVSwitch, one HDR port for each GPU.
extern const char kDgxA100[] = R"pb(
  name: "dgx-a100"
  source: "NVIDIA A100 datasheet 1758950 r4; NVIDIA DGX A100 user guide DU-09821; latencies: SimAI gen_Topo_Template.py; library: NCCL sources, NPKit and Kineto captures"
  # Latencies are defaults of a simulator, of a link in hardware alone: aliyun/SimAI,
  # astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py. A path through a switch pays its link twice: 50
  # ns on NVLink, 1 us between nodes. Measured end to end with software, 64 bytes take 3.33 us on NVLink
  # and 2.8 us (one leaf switch) or 3.7 us (two) on InfiniBand: DeepSeek-V3, ISCA 2025, table 5. To answer for
  # these: nvlink_latency_ns=1665, nic_latency_ns=1400 or 1850.
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 8 GPUs on 6 NVSwitches: DGX A100 user guide
      size: 8
      # 12 NVLink 3 links of 25 GB/s a direction, 600 GB/s both ways: A100 datasheet
      bandwidth_gbytes_per_s: 300
      latency_ns: 25  # SimAI, above: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 200 Gb/s HDR ConnectX-6 for each GPU: DGX A100 user guide
      bandwidth_gbytes_per_s: 25
      latency_ns: 500  # SimAI, above: NIC link
    }
  }
  collectives {
    library {
      generation: AMPERE
      # NCCL reports 24 on 8 A100: its search finds 6 rings of 40 GB/s in 12 x 20 GB/s and doubles them twice,
      # src/graph/search.cc and connect.cc
      channels: 24
      level {
        link: NVLINK
        efficiency: 0.8  # 20.0 of 25 GB/s a link: NCCL src/graph/topo.h, SM80_NVLINK_BW
      }
      level {
        link: NET
        # 4096 B of payload in packets of 4122: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA specification, volume 1)
        efficiency: 0.9937
        transport { name: "infiniband-hdr" }
      }
      # cudaLaunchKernel of NCCL kernels: on the host 5 us at best (8 V100, facebookresearch/param, DLRM
      # capture); from the call to the start of the kernel, where the stream was idle, 13.9 us in the median
      # here (2 A100, HolisticTraceAnalysis, ResNet-50 DDP capture).
      # Both were recorded with a profiler on, which adds to them.
      enqueue_us: 5.2  # a row of 8 launches takes 42 us: Azure/AI-benchmarking-guide, nccl-tests -g 8
      launch_us: 13.9
      # NPKit, GPU_DIRECT_RECV, Simple, 1 MiB: median 57,797 ns on an RTX 3090, the same generation of
      # multiprocessor (spcl/atlahs, npkit_benchmark_results/ault)
      copy_gbytes_per_s: 18.1
)pb";

}  // namespace chakra
