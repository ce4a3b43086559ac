namespace chakra {

// Servers of 8 GPUs on PCIe, without NVLink: two sockets, two pairs of GPUs on each. NCCL moves data through the
// host's memory between pairs, and its rings share what the bridges carry.
extern const char kL40sNode[] = R"pb(
  name: "l40s"
  source: "NVIDIA L40S datasheet; rates of the host: fitted on nccl_one_node.csv (ai-dynamo/aiconfigurator)"
  topology {
    dimension {
      name: "pcie"
      kind: SWITCH
      size: 2
      # PCIe 4.0 x16: stas00/ml-engineering, network
      bandwidth_gbytes_per_s: 31
      latency_ns: 50  # in the steps of the library
    }
    dimension { name: "host" kind: SWITCH size: 2 bandwidth_gbytes_per_s: 31 latency_ns: 50 }
    dimension { name: "socket" kind: SWITCH size: 2 bandwidth_gbytes_per_s: 31 latency_ns: 50 }
    # one 200 Gb/s port for each two GPUs: NVIDIA-certified L40S servers
    dimension { name: "nic" kind: SWITCH size: 0 bandwidth_gbytes_per_s: 12.5 latency_ns: 500 }
  }
  collectives {
    library {
      generation: AMPERE
      channels: 4
      # 24 GB/s: NCCL src/graph/topo.h, PCI_BW of generation 4. Measured are 20 GB/s in a pair, 5 between pairs, 1.4
      # between sockets
      level { link: PCI efficiency: 0.774 carried: 0.84 }
      level { link: PCI efficiency: 0.774 carried: 0.208 shared_by: 2 }
      level { link: PCI efficiency: 0.774 carried: 0.058 shared_by: 2 }
      level { link: NET efficiency: 0.9937 transport { name: "roce-100" } }
      enqueue_us: 5
      launch_us: 13.9  # as dgx-a100
)pb";

// Servers with a PCIe switch for each pair, as measured with NCCL's defaults: peers in a pair, the host's memory beyond.
extern const char kRtxPro6000Node[] = R"pb(
  name: "rtx-pro-6000"
  source: "NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet; rates of the host: local-inference-lab/rtx6kpro"
  topology {
    # PCIe 5.0 x16: stas00/ml-engineering, network
    dimension { name: "pcie" kind: SWITCH size: 2 bandwidth_gbytes_per_s: 63 latency_ns: 50 }
    dimension { name: "host" kind: SWITCH size: 2 bandwidth_gbytes_per_s: 63 latency_ns: 50 }
    dimension { name: "socket" kind: SWITCH size: 2 bandwidth_gbytes_per_s: 63 latency_ns: 50 }
    # one 400 Gb/s port for each two GPUs
    dimension { name: "nic" kind: SWITCH size: 0 bandwidth_gbytes_per_s: 25 latency_ns: 500 }
  }
  collectives {
    library {
      generation: BLACKWELL
      channels: 4
      # 48 GB/s: NCCL src/graph/topo.h, PCI_BW for generation 5. Bus bandwidth of large all-reduces on two EPYC 9575F:
      # 30.3 GB/s on 4 GPUs, 22.2 on 8; 22.4 GB/s a GPU in an all-to-all of 8; a pair: one way, 89 % of the link's 63
      level { link: PCI efficiency: 0.774 carried: 0.92 }
      level { link: PCI efficiency: 0.774 carried: 0.62 shared_by: 2 }
      level { link: PCI efficiency: 0.774 carried: 0.455 shared_by: 2 }
      level { link: NET efficiency: 0.9937 transport { name: "roce-100" } }
      enqueue_us: 5
      launch_us: 13.9  # as dgx-a100
)pb";

extern const char kPcieKernels[] = R"pb(
      # Fitted on 2, 4 and 8 L40S, NCCL 2.27.3
      term { algorithm: "ring" protocol: "ll" base_us: 2.6 step_us: 1.1 bus_share: 1.3 }
      term { algorithm: "ring" protocol: "simple" base_us: 16 step_us: 2 }
      term { algorithm: "tree" protocol: "ll" base_us: 2.6 step_us: 1.1 }
      term { algorithm: "tree" protocol: "simple" base_us: 10 step_us: 2 }
      term { algorithm: "direct" protocol: "ll" base_us: 4.2 step_us: 2 bus_share: 1.2 }
      term { algorithm: "direct" protocol: "simple" base_us: 10 step_us: 0 bus_share: 1.1 }
      kernel_gap_us: 1.2  # as kAmpereKernels
)pb";

}  // namespace chakra
