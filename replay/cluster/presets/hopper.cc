namespace chakra {

extern const char kDgxH100[] = R"pb(
  name: "dgx-h100"
  source: "NVIDIA H100 datasheet; NVIDIA DGX H100 user guide; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
)pb";

extern const char kDgxH200[] = R"pb(
  name: "dgx-h200"
  source: "NVIDIA H200 datasheet; NVIDIA DGX H100/H200 user guide; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
)pb";

// Nodes of 8 H100 or H200 SXM on NVSwitch, one NDR port for each GPU.
extern const char kHopperNode[] = R"pb(
  # Latencies are defaults of a simulator, of a link in hardware alone: aliyun/SimAI,
  # astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py. A path through a switch pays its link twice: 50
  # ns on NVLink, 1 us between nodes. Measured end to end with software, 64 bytes take 3.33 us on NVLink
  # and 2.8 us (one leaf switch) or 3.7 us (two) on InfiniBand: DeepSeek-V3, ISCA 2025, table 5. To answer for
  # these: nvlink_latency_ns=1665, nic_latency_ns=1400 or 1850.
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 8 GPUs on 4 NVSwitches: DGX H100/H200 user guide
      size: 8
      # 18 NVLink 4 links of 25 GB/s a direction, 900 GB/s both ways: H100 and H200 datasheets
      bandwidth_gbytes_per_s: 450
      latency_ns: 25  # SimAI, above: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 400 Gb/s NDR ConnectX-7 for each GPU: DGX H100/H200 user guide
      bandwidth_gbytes_per_s: 50
      latency_ns: 500  # SimAI, above: NIC link
    }
  }
)pb";

extern const char kHopperLibrary[] = R"pb(
  collectives {
    library {
      generation: HOPPER
      # NCCL reports 24 of these and 16 NVLS channels on 8 H100, 16 of each on two nodes:
      # aws-samples/aws-do-eks, Container-Root/eks/deployment/nccl-test
      channels: 24
      level {
        link: NVLINK
        efficiency: 0.824  # 20.6 of 25 GB/s a link: NCCL src/graph/topo.h, SM90_NVLINK_BW
        # 0.85 of that: NVLS efficiency of NCCL's tuner, src/graph/tuning.cc
        in_switch_efficiency: 0.7004
        in_switch_channels: 16  # NCCL src/transport/nvls.cc, NVLS_NCHANNELS_SM90, and the report above
        # Groups of 4 use rings, of 5 (H200) and 6 (B200) the switch: nccl_one_node.csv; stas00/ml-engineering
        in_switch_ranks: 5
      }
      level {
        link: NET
        # 4096 B of payload in packets of 4122: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA specification, volume 1)
        efficiency: 0.9937
        transport { name: "infiniband-ndr" }
      }
      enqueue_us: 3.75  # a row of 8 launches takes 30 us: Azure/AI-benchmarking-guide, nccl-tests -g 8
      launch_us: 13.9   # as dgx-a100: nothing newer was recorded
      # NPKit, GPU_DIRECT_RECV, Simple, 1 MiB: median 22,044 ns on a GH200 (spcl/atlahs,
      # npkit_benchmark_results/clariden)
      copy_gbytes_per_s: 47.6
)pb";

// Nodes of 8 H800 SXM: H100 with fewer links and hardly any fp64.
extern const char kDgxH800[] = R"pb(
  name: "dgx-h800"
  source: "DeepSeek-V3, ISCA 2025; NVIDIA H100 datasheet; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
  # Latencies: as dgx-h100
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      size: 8
      # 8 NVLink 4 links of 25 GB/s a direction, 400 GB/s both ways: DeepSeek-V3, ISCA 2025
      bandwidth_gbytes_per_s: 200
      latency_ns: 25  # SimAI: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 400 Gb/s NDR ConnectX-7 for each GPU: DeepSeek-V3, ISCA 2025
      bandwidth_gbytes_per_s: 50
      latency_ns: 500  # SimAI: NIC link
    }
  }
  collectives {
    library {
      generation: HOPPER
      # NCCL reports 16 of these and no NVLS channels on 8 H800: NVIDIA/nccl#892
      channels: 16
      level {
        link: NVLINK
        efficiency: 0.824  # as dgx-h100
      }
      level {
        link: NET
        efficiency: 0.9937  # as dgx-h100
        transport { name: "infiniband-ndr" }
      }
      enqueue_us: 3.75         # as dgx-h100
      launch_us: 13.9          # as dgx-h100
      copy_gbytes_per_s: 47.6  # as dgx-h100
)pb";

}  // namespace chakra
