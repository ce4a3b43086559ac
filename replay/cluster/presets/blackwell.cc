namespace chakra {

// Nodes of 8 B200 SXM on NVSwitch, one 400 Gb/s port for each GPU.
extern const char kDgxB200[] = R"pb(
  name: "dgx-b200"
  source: "NVIDIA HGX B200 specification; NVIDIA DGX B200 datasheet; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
  # Latencies are defaults of a simulator, of a link in hardware alone: aliyun/SimAI,
  # astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py, which knows nothing newer than the H100. A path
  # through a switch pays its link twice: 50 ns on NVLink, 1 us between nodes.
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 8 GPUs on 2 NVSwitches: DGX B200 datasheet
      size: 8
      # 18 NVLink 5 links of 50 GB/s a direction, 1.8 TB/s both ways: HGX B200
      bandwidth_gbytes_per_s: 900
      latency_ns: 25  # SimAI, above: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 400 Gb/s ConnectX-7 for each GPU: DGX B200 datasheet
      bandwidth_gbytes_per_s: 50
      latency_ns: 500  # SimAI, above: NIC link
    }
  }
)pb";

// Nodes of 8 B300 SXM on NVSwitch, one 800 Gb/s port for each GPU.
extern const char kDgxB300[] = R"pb(
  name: "dgx-b300"
  source: "NVIDIA HGX B300 specification; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
  # Latencies: as dgx-b200
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      size: 8
      # 18 NVLink 5 links of 50 GB/s a direction, 1.8 TB/s both ways: HGX B300
      bandwidth_gbytes_per_s: 900
      latency_ns: 25  # SimAI: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 800 Gb/s ConnectX-8 for each GPU, 1.6 TB/s both ways for 8: HGX B300
      bandwidth_gbytes_per_s: 100
      latency_ns: 500  # SimAI: NIC link
    }
  }
)pb";

// Racks of 72 GB200 GPUs on one level of NVSwitch, one 400 Gb/s port for each GPU.
extern const char kGb200Nvl72[] = R"pb(
  name: "gb200-nvl72"
  source: "NVIDIA GB200 NVL72 specification; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
  # Latencies: as dgx-b200
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 18 trays of 4 GPUs, each with one link to each of 18 switch chips: GB200 NVL72
      size: 72
      # 18 NVLink 5 links of 50 GB/s a direction, 130 TB/s both ways for 72: GB200 NVL72
      bandwidth_gbytes_per_s: 900
      latency_ns: 25  # SimAI: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # 4 x 400 Gb/s ConnectX-7 for the 4 GPUs of a tray: stas00/ml-engineering, network
      bandwidth_gbytes_per_s: 50
      latency_ns: 500  # SimAI: NIC link
    }
  }
)pb";

// Racks of 72 GB300 GPUs on one level of NVSwitch, one 800 Gb/s port for each GPU.
extern const char kGb300Nvl72[] = R"pb(
  name: "gb300-nvl72"
  source: "NVIDIA GB300 NVL72 specification; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, NPKit and Kineto captures"
  # Latencies: as dgx-b200
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 18 trays of 4 GPUs, each with one link to each of 18 switch chips: GB300 NVL72
      size: 72
      # 18 NVLink 5 links of 50 GB/s a direction, 130 TB/s both ways for 72: GB300 NVL72
      bandwidth_gbytes_per_s: 900
      latency_ns: 25  # SimAI: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # one 800 Gb/s ConnectX-8 for each GPU: Microsoft ND GB300 v6
      bandwidth_gbytes_per_s: 100
      latency_ns: 500  # SimAI: NIC link
    }
  }
)pb";

// The message stays open for further fields; kLibraryEnd closes it.
extern const char kBlackwellLibrary[] = R"pb(
  collectives {
    library {
      generation: BLACKWELL
      # NCCL 2.29 reports 32 of these and 24 NVLS channels on one NVLink domain. Its search finds 8 rings of
      # 90 GB/s in 18 x 40.1 GB/s and doubles them twice: src/graph/search.cc and connect.cc.
      channels: 32
      level {
        link: NVLINK
        efficiency: 0.802  # 40.1 of 50 GB/s a link: NCCL src/graph/topo.h, SM100_NVLINK_BW
        # 0.74 of that: NVLS efficiency of NCCL's tuner, src/graph/tuning.cc
        in_switch_efficiency: 0.5935
        # NCCL src/transport/nvls.cc, NVLS_NCHANNELS_SM100_NVL; 32 where the group spans several domains
        in_switch_channels: 24
        # Groups of 4 use rings, of 5 (H200) and 6 (B200) the switch: nccl_one_node.csv; stas00/ml-engineering
        in_switch_ranks: 5
)pb";

// NVLink domains of a rack: 128 GPUs of two racks take what rings and trees do (OCI, NCCL 2.29.2).
extern const char kRackSwitch[] = R"pb(
        in_switch_alone: true
)pb";

extern const char kBlackwellNet[] = R"pb(
      }
      level {
        link: NET
        # 4096 B of payload in packets of 4122: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA specification, volume 1)
        efficiency: 0.9937
        transport { name: "infiniband-ndr" }
      }
      # As dgx-a100: nothing newer was recorded
      enqueue_us: 5
      launch_us: 13.9
      # As dgx-h100: not measured on this generation
      copy_gbytes_per_s: 47.6
)pb";

// With 8 channels of 40 GB/s the tuner goes from LL to Simple and past LL128, as 4 GPUs of a GB200 do from 4 to 8 MiB
// (nccl_one_node.csv).
extern const char kGraceSearch[] = R"pb(
      search_channels: 8
)pb";

// Assumed: with 16, 4 B300 on x86 go to LL128 at 8 MiB and to Simple at 16 MiB, as they do with NCCL 2.29.7
// (49 and 97 us; test/validation/collectives.md).
extern const char kBaseboardSearch[] = R"pb(
      search_channels: 16
)pb";

}  // namespace chakra
