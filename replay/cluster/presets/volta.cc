namespace chakra {

// Nodes of 8 V100 SXM2 wired as a hybrid cube mesh (DGX-1V, AWS p3.16xlarge); an EDR port for each two GPUs.
extern const char kDgxV100[] = R"pb(
  name: "dgx-v100"
  source: "NVIDIA V100 datasheet; NVIDIA DGX-1 white paper WP-08437; wiring: nvidia-smi topo -m; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, Kineto captures"
  # Latencies are defaults of a simulator, of a link in hardware alone: aliyun/SimAI,
  # astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py. A path pays its link twice: 50 ns inside the
  # node, 1 us between nodes. SimAI has no machine without a switch: that of its NVSwitch stands for a direct
  # link.
  topology {
    dimension {
      name: "nvlink"
      # There is no switch. This dimension gives each GPU its whole 150 GB/s; the library level below has the
      # wiring, which decides how many rings fit on the GPUs of a group.
      kind: SWITCH
      size: 8
      # 6 NVLink 2 links of 25 GB/s a direction, 300 GB/s both ways: V100 datasheet
      bandwidth_gbytes_per_s: 150
      latency_ns: 25  # SimAI, above
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # 4 x 100 Gb/s EDR for 8 GPUs: DGX-1 white paper; half a port for each GPU
      bandwidth_gbytes_per_s: 6.25
      latency_ns: 500  # SimAI, above: NIC link
    }
  }
  collectives {
    library {
      generation: VOLTA
      # NCCL's search finds 6 ring channels on V100 (NVIDIA/nccl#713) and src/graph/connect.cc doubles them
      channels: 12
      level {
        link: NVLINK
        # A packet has flits of 16 B: one of header for the 8 of a GPU's 128 B request, 8/9. Foley and
        # Danskin, "Ultra-Performance Pascal GPU and NVLink Interconnect", IEEE Micro 37(2), 2017; WikiChip,
        # NVLink. NCCL's search reaches 22 of 25 GB/s (NVIDIA/nccl#713); its topo.h plans with 20.
        efficiency: 0.8889
        # nvidia-smi topo -m of an 8 V100 server: kyumdoctor.tistory.com/74. Each GPU has 6 links.
        wiring { a: 0 b: 1 links: 1 }
        wiring { a: 0 b: 2 links: 1 }
        wiring { a: 0 b: 3 links: 2 }
        wiring { a: 0 b: 4 links: 2 }
        wiring { a: 1 b: 2 links: 2 }
        wiring { a: 1 b: 3 links: 1 }
        wiring { a: 1 b: 5 links: 2 }
        wiring { a: 2 b: 3 links: 2 }
        wiring { a: 2 b: 6 links: 1 }
        wiring { a: 3 b: 7 links: 1 }
        wiring { a: 4 b: 5 links: 1 }
        wiring { a: 4 b: 6 links: 1 }
        wiring { a: 4 b: 7 links: 2 }
        wiring { a: 5 b: 6 links: 2 }
        wiring { a: 5 b: 7 links: 1 }
        wiring { a: 6 b: 7 links: 2 }
        wire_gbytes_per_s: 25
      }
      level {
        link: NET
        # 4096 B of payload in packets of 4122: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA specification, volume 1)
        efficiency: 0.9937
        transport { name: "infiniband-hdr" }
      }
      # cudaLaunchKernel of the 64 NCCL kernels of a DLRM step on 8 V100 (facebookresearch/param): 5 us at
      # best; from the call to the start of the kernel, where the stream was idle, 10 us in the median (53
      # launches). Recorded with a profiler on, which adds to both.
      enqueue_us: 5
      launch_us: 10
      copy_gbytes_per_s: 0  # not measured
)pb";

// Nodes of 16 V100 SXM3 on NVSwitch, an EDR port for each two GPUs.
extern const char kDgx2[] = R"pb(
  name: "dgx2"
  source: "NVIDIA V100 datasheet; NVIDIA DGX-2 datasheet; latencies: SimAI gen_Topo_Template.py; library: NCCL sources and reports, Kineto captures"
  # Latencies: as dgx-v100
  topology {
    dimension {
      name: "nvlink"
      kind: SWITCH
      # 16 GPUs on 12 NVSwitches: DGX-2 datasheet
      size: 16
      # 6 NVLink 2 links of 25 GB/s a direction, 300 GB/s both ways: V100 datasheet
      bandwidth_gbytes_per_s: 150
      latency_ns: 25  # SimAI: NVSwitch hop
    }
    dimension {
      name: "nic"
      kind: SWITCH
      size: 0
      # 8 x 100 Gb/s EDR for 16 GPUs: DGX-2 datasheet; half a port for each GPU
      bandwidth_gbytes_per_s: 6.25
      latency_ns: 500  # SimAI: NIC link
    }
  }
  collectives {
    library {
      generation: VOLTA
      # NCCL reports 12 on a DGX-2: aau-claaudia/aicloud-docs, docs/multi_gpu_keras
      channels: 12
      level {
        link: NVLINK
        efficiency: 0.8889  # as dgx-v100: 128 of 144 B of a packet
      }
      level {
        link: NET
        efficiency: 0.9937  # as dgx-v100: 4096 of 4122 B of a packet
        transport { name: "infiniband-hdr" }
      }
      enqueue_us: 5         # as dgx-v100
      launch_us: 10         # as dgx-v100
      copy_gbytes_per_s: 0  # not measured
)pb";

}  // namespace chakra
