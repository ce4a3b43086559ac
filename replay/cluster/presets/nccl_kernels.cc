namespace chakra {

// What NCCL's kernels take on the device, by generation: LibraryTerm. "Fitted" is on nccl_one_node.csv
// (nccl-tests with a thread for each GPU, NCCL 2.27.3 and 2.29.2; ai-dynamo/aiconfigurator): by protocol,
// over all_reduce, all_gather and reduce_scatter of 2 to 8 GPUs together. Base times leave kernel_gap_us out.
// One law explains all generations: the rate of a channel with LL is what NCCL's tuner allows it (llMaxBws /
// channels), within 12 %.

extern const char kVoltaKernels[] = R"pb(
  # Not in the file. ll: fitted on the DLRM capture of 8 V100 (facebookresearch/param: all_reduce of 448 B 18
  # to 23 us, all_to_all of 192 B to 24 KiB 8 to 11 us); its channel carries what NCCL's tuner allows it, 39 /
  # 12, the share of a pass is kAmpereKernels'
  term {
    algorithm: "ring"
    protocol: "ll"
    base_us: 8
    step_us: 0.95
    channel_gbytes_per_s: 3.25
    step_share: 0.57
  }
  # Fitted on vTrain's all-reduces of 1 to 8 MiB on 4 to 8 V100 and on two of that capture: all 16 within 9 %
  term { algorithm: "ring" protocol: "ll128" base_us: 19.9 step_us: 2.7 bus_share: 0.99 own_gbytes_per_s: 29 }
  # The constants of NCCL's tuner, and 8.8 us more for each call. vTrain's other all-reduces agree to 4 %.
  term { algorithm: "ring" protocol: "simple" base_us: 17.2 step_us: 3.4 }
  term { algorithm: "tree" protocol: "ll" base_us: 8 step_us: 0.95 }
  term { algorithm: "tree" protocol: "ll128" base_us: 22.8 step_us: 1.25 }
  term { algorithm: "tree" protocol: "simple" base_us: 17.2 step_us: 4 }
  term { algorithm: "direct" protocol: "ll" base_us: 4.7 step_us: 1.1 channel_gbytes_per_s: 3.25 }
  term { algorithm: "direct" protocol: "simple" base_us: 17.2 step_us: 3.4 }
  kernel_gap_us: 1.2  # as kAmpereKernels
)pb";

extern const char kAmpereKernels[] = R"pb(
  # Fitted on 2, 4 and 8 A100, NCCL 2.27.3
  term {
    algorithm: "ring"
    protocol: "ll"
    base_us: 6.55
    step_us: 0.92
    channel_gbytes_per_s: 1.63
    step_share: 0.06
  }
  term {
    algorithm: "ring"
    protocol: "ll128"
    base_us: 16.2
    step_us: 0.96
    bus_share: 0.78
    own_gbytes_per_s: 110
  }
  term {
    algorithm: "ring"
    protocol: "simple"
    base_us: 21
    step_us: 6.8
    bus_share: 0.952
    own_gbytes_per_s: 606
    fill_bytes: 22400000
    fill_share: 0.274
  }
  term { algorithm: "direct" protocol: "ll" base_us: 8 step_us: 1.3 channel_gbytes_per_s: 5.7 }
  term {
    algorithm: "direct"
    protocol: "simple"
    base_us: 12.6
    step_us: 0
    bus_share: 0.875
    own_gbytes_per_s: 758
    fill_bytes: 2500000
    fill_share: 1.5
  }
  # Between kernels that wait in a stream: assumed, cannot be told from base_us in the file
  kernel_gap_us: 1.2
)pb";

extern const char kHopperKernels[] = R"pb(
  # Fitted on 2, 4 and 8 H200, NCCL 2.29.2
  term {
    algorithm: "ring"
    protocol: "ll"
    base_us: 3.1
    step_us: 0.83
    channel_gbytes_per_s: 6.1
    step_share: 0.26
  }
  term {
    algorithm: "ring"
    protocol: "ll128"
    base_us: 10.3
    step_us: 1.17
    bus_share: 0.997
    own_gbytes_per_s: 395
  }
  term {
    algorithm: "ring"
    protocol: "simple"
    base_us: 9.9
    step_us: 3.8
    bus_share: 1.021
    own_gbytes_per_s: 808
    fill_bytes: 28000000
    fill_share: 0.256
  }
  term { algorithm: "nvls" protocol: "simple" base_us: 22.4 bus_share: 1.03 by_chunk: true }
  term { algorithm: "direct" protocol: "ll" base_us: 4.5 step_us: 0.5 channel_gbytes_per_s: 5.4 }
  term {
    algorithm: "direct"
    protocol: "simple"
    base_us: 11.3
    step_us: 0
    bus_share: 0.845
    fill_bytes: 12000000
    fill_share: 0.35
  }
  kernel_gap_us: 1.2  # as kAmpereKernels
)pb";

extern const char kBlackwellKernels[] = R"pb(
  # Fitted on 2 and 4 GPUs of a GB200, NCCL 2.29.2
  term {
    algorithm: "ring"
    protocol: "ll"
    base_us: 7
    step_us: 1.13
    channel_gbytes_per_s: 8.4
    step_share: 0.42
  }
  # Not chosen in the file: as kHopperKernels, with this generation's base and steps
  term { algorithm: "ring" protocol: "ll128" base_us: 14 step_us: 1.6 own_gbytes_per_s: 790 }
  term {
    algorithm: "ring"
    protocol: "simple"
    base_us: 10.6
    step_us: 12.36
    bus_share: 0.972
    own_gbytes_per_s: 949
    own_bytes: 249000000
    step_overlaps: true
  }
  # Not in the file: channels as kHopperKernels; the base is from 4 MiB on 8 B200 (stas00/ml-engineering,
  # network), the share of the link from 16 GiB there
  term { algorithm: "nvls" protocol: "simple" base_us: 38 bus_share: 1.044 by_chunk: true }
  term { algorithm: "direct" protocol: "ll" base_us: 7.7 step_us: 0.95 channel_gbytes_per_s: 6.4 }
  term {
    algorithm: "direct"
    protocol: "simple"
    base_us: 15
    step_us: 0
    bus_share: 0.881
    own_gbytes_per_s: 696
    fill_bytes: 12000000
    fill_share: 0.3
  }
  kernel_gap_us: 1.2  # as kAmpereKernels
)pb";

extern const char kCdna3Kernels[] = R"pb(
  # RCCL on 8 MI300X. ll, the base and the rate of a channel: the root of broadcasts of 160 and 19,200 bytes
  # takes 5.9 and 14.3 us on one channel, RCCL 2.22 (AMD-AGI/TraceLens, ResNet capture): 2 KiB, 8 bytes of
  # each of 256 threads, in 0.9 us. Steps of ll and simple: RCCL src/graph/tuning.cc, hwLat of its last
  # models. ll128 has NCCL's constants, which agree with 91.1 us for an all_reduce of 8 MiB
  # (crickett-hpe/hpc-ai-envs#30) to 3 %
  term {
    algorithm: "ring"
    protocol: "ll"
    base_us: 5.8
    step_us: 0.8
    network_step_us: 9.5
    channel_gbytes_per_s: 2.27
    step_share: 0.3
  }
  term { algorithm: "ring" protocol: "simple" step_us: 2.1 }
  term { algorithm: "tree" protocol: "ll" base_us: 5.8 step_us: 0.9 network_step_us: 10.5 }
  term { algorithm: "tree" protocol: "simple" step_us: 2.3 network_step_us: 25 }
  term {
    algorithm: "direct"
    protocol: "ll"
    base_us: 5.8
    step_us: 0.8
    network_step_us: 9.5
    channel_gbytes_per_s: 2.27
  }
  term { algorithm: "direct" protocol: "simple" step_us: 2.1 }
  # One channel of a program from a file: MSCCL's ring of one channel on 8 MI300X, all_gather of 64 MiB in
  # place in 5.4 ms (rouge3877/ns3-msccl-data). ll as that of rings; ll128 with its flags, assumed
  term { algorithm: "program" protocol: "ll" channel_gbytes_per_s: 2.27 }
  term { algorithm: "program" protocol: "ll128" channel_gbytes_per_s: 10.1 }
  term { algorithm: "program" protocol: "simple" channel_gbytes_per_s: 10.8 }
  kernel_gap_us: 1.2  # as kAmpereKernels
)pb";

extern const char kLibraryEnd[] = R"pb(
  }
  }
)pb";

}  // namespace chakra
