// Constants by device, each with its range, source and date.
//
// Rated and idle watts are data sheets and readings of drivers. What operations add on an H100 rests on
// measurements that are no runs of MLPerf:
//
//   memory_watts   8.6 pJ for each bit of HBM3: about 4 in the stack, the rest for its interface and the way
//   over the
//                  chip. HBM3e takes 5 % less, HBM2e on 7 nm 10 pJ, HBM2 on 12 nm 14 pJ. So it goes as the
//                  bandwidth.
//   busy_watts     decoding one sequence streams weights at 0.65 to 0.7 of the bandwidth and draws 300 W
//   (ML.ENERGY
//                  benchmark 3.0): 300 - 120 - 0.65 x 230.
//   issue_watts    decoding 128 sequences draws 600 W, at 0.75 of the bandwidth and 0.15 of the peak.
//   tensor_watts   a large product holds the rated power at about 0.73 of its highest clock, where dynamic
//   power is 0.55
//                  of what it is there (FrequencyCurve): (700 - 120) / 0.55 - busy - issue - 0.3 x memory.
//   link_watts     a collective at the whole bandwidth of NVLink: 24 of 132 multiprocessors, 0.9 to 1.4
//   of 3.35 TB/s of
//                  memory, 10 to 20 W of links.
//
// busy_watts, clocks and leakage of the whole chip, goes with its transistors, issue_watts with its
// multiprocessors. Other devices take what is left as the same shares of what is between resident and rated,
// which no measurement of theirs has confirmed; data_sheets.cc has the ratings of those of which nothing else
// is known. Hosts: what nodes drew before and after metered runs, less their devices' idle power; means of
// metered runs are not in any constant.
#include "replay/energy/data_sheets.h"
#include "replay/energy/model.h"
#include "trace/io/proto_io.h"

namespace chakra::energy {
namespace {

constexpr char kModel[] = R"pb(
  # What stands in for all that a device's own profile does not say. Shares of 1000 W between resident and
  # rated.
  profile {
    device: "default"
    power {
      idle_watts {
        value: 100
        low: 70
        high: 150
        source: "assumed: 0.1 of rated, as H100 and MI300X"
        date: "2026-11"
      }
      resident_watts {
        value: 170
        low: 110
        high: 250
        source: "assumed: H200 and B200 draw 0.17 to 0.19 of rated"
        date: "2026-11"
      }
      busy_watts {
        value: 86
        low: 50
        high: 170
        source: "assumed: as H100, of what is between resident and rated"
        date: "2026-11"
      }
      issue_watts { value: 293 low: 200 high: 390 source: "assumed: as H100" date: "2026-11" }
      tensor_watts { value: 1319 low: 1000 high: 1600 source: "assumed: as H100" date: "2026-11" }
      memory_watts { value: 397 low: 260 high: 600 source: "assumed: as H100" date: "2026-11" }
      link_watts { value: 215 low: 120 high: 310 source: "assumed: as H100" date: "2026-11" }
      wait_watts { value: 103 low: 50 high: 200 source: "assumed: as H100" date: "2026-11" }
      copy_watts { value: 69 low: 30 high: 130 source: "assumed: as H100" date: "2026-11" }
    }
    node {
      devices: 8
      nodes_per_rack: 4
      host_watts { value: 1650 low: 1200 high: 1900 source: "assumed: as a host of 8 H100" date: "2026-11" }
      fans_share {
        value: 0.12
        low: 0.08
        high: 0.15
        source: "air-cooled node of 8 H100 at most 8.4 kW (arXiv 2412.08602), its devices and host without fans at most 7.4"
        date: "2024-12"
      }
      supply_loss_share {
        value: 0.03
        low: 0.016
        high: 0.06
        source: "MLPerf Training 4.0: direct current against alternating current of the same nodes, 1.6 to 2.8 %; logs declare 0.94 to 0.96"
        date: "2024-06"
      }
    }
    frequency { knee: 0.75 least_voltage: 0.87 compute_share: 0.6 }
  }
  profile {
    device: "H100-SXM5-80GB"
    power {
      idle_watts {
        value: 72
        low: 69
        high: 76
        source: "nvidia-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts {
        value: 120
        low: 85
        high: 130
        source: "as H200, which nvidia-smi shows at 120 to 122 with a context"
        date: "2026-11"
      }
      busy_watts {
        value: 50
        low: 30
        high: 100
        source: "decoding one sequence draws 300 W: ML.ENERGY benchmark 3.0; 137 to 300 W in arXiv 2605.11999"
        date: "2026-05"
      }
      issue_watts {
        value: 170
        low: 120
        high: 230
        source: "decoding 128 sequences draws 600 W: ML.ENERGY benchmark 3.0"
        date: "2026-01"
      }
      tensor_watts {
        value: 765
        low: 600
        high: 950
        source: "the rated power at 0.73 of the highest clock, and FrequencyCurve; training is above 600 W, arXiv 2503.05804"
        date: "2025-03"
      }
      memory_watts {
        value: 230
        low: 180
        high: 320
        source: "8.6 pJ a bit of 3.35 TB/s: about 4 in HBM3, the rest interface and chip"
        date: "2026-11"
      }
      link_watts {
        value: 125
        low: 70
        high: 180
        source: "derived: 24 of 132 multiprocessors, 0.9 to 1.4 TB/s of memory, 10 to 20 W of NVLink"
        date: "2026-11"
      }
      wait_watts {
        value: 60
        low: 30
        high: 120
        source: "assumed: a kernel that polls on few multiprocessors"
        date: "2026-11"
      }
      copy_watts { value: 40 low: 20 high: 80 source: "assumed" date: "2026-11" }
      most_watts {
        value: 700
        low: 700
        high: 700
        source: "NVIDIA H100 datasheet, maximum TDP of SXM"
        date: "2023-03"
      }
    }
    node {
      host_watts {
        value: 1650
        low: 1500
        high: 1800
        source: "MLPerf Training 4.0 logs before and after the runs: 2,075 to 2,400 W with 8 idle devices"
        date: "2024-06"
      }
    }
  }
  profile {
    device: "H200-SXM-141GB"
    power {
      idle_watts {
        value: 74
        low: 73
        high: 76
        source: "nvidia-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts {
        value: 121
        low: 120
        high: 122
        source: "nvidia-smi with a context, public repositories"
        date: "2026-11"
      }
      busy_watts { value: 50 low: 30 high: 100 source: "as H100" date: "2026-11" }
      issue_watts { value: 170 low: 120 high: 230 source: "as H100" date: "2026-11" }
      tensor_watts { value: 765 low: 600 high: 950 source: "as H100" date: "2026-11" }
      memory_watts {
        value: 314
        low: 240
        high: 440
        source: "8.2 pJ a bit of 4.8 TB/s of HBM3e"
        date: "2026-11"
      }
      most_watts { value: 700 low: 700 high: 700 source: "NVIDIA H200 datasheet" date: "2024-11" }
    }
    node { host_watts { value: 1650 low: 1500 high: 1800 source: "as H100" date: "2024-06" } }
  }
  profile {
    device: "V100-SXM-32GB"
    power {
      idle_watts {
        value: 40
        low: 35
        high: 45
        source: "V100 at every limit 36 W in a job bound by its host: Zeus, NSDI 2023"
        date: "2023-04"
      }
      resident_watts { value: 40 low: 35 high: 45 source: "likewise" date: "2023-04" }
      memory_watts { value: 101 low: 70 high: 140 source: "14 pJ a bit of 0.9 TB/s of HBM2" date: "2026-11" }
      most_watts { value: 300 low: 300 high: 300 source: "NVIDIA V100 datasheet, SXM2" date: "2020-01" }
    }
    node { host_watts { value: 700 low: 400 high: 1000 source: "assumed" date: "2026-11" } }
    # Fitted to BERT under limits of 100 to 250 W (Zeus, NSDI 2023, summary_power_v100.csv); the others take
    # it.
    frequency { knee: 0.75 least_voltage: 0.87 compute_share: 0.6 }
  }
  profile {
    device: "A100-SXM4-80GB"
    power {
      idle_watts {
        value: 58
        low: 50
        high: 65
        source: "nvidia-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts {
        value: 85
        low: 60
        high: 100
        source: "assumed: between idle and the share of H200"
        date: "2026-11"
      }
      memory_watts {
        value: 163
        low: 120
        high: 230
        source: "10 pJ a bit of 2.04 TB/s of HBM2e"
        date: "2026-11"
      }
      most_watts { value: 400 low: 400 high: 400 source: "NVIDIA A100 datasheet, SXM" date: "2021-06" }
    }
    node { host_watts { value: 1100 low: 800 high: 1500 source: "assumed" date: "2026-11" } }
  }
  profile {
    device: "B200-SXM-180GB"
    power {
      idle_watts {
        value: 140
        low: 136
        high: 145
        source: "nvidia-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts {
        value: 187
        low: 160
        high: 200
        source: "nvidia-smi with a context, public repositories"
        date: "2026-11"
      }
      issue_watts {
        value: 190
        low: 134
        high: 258
        source: "as H100, 148 multiprocessors for 132"
        date: "2026-11"
      }
      busy_watts {
        value: 130
        low: 78
        high: 260
        source: "as H100, 208 billion transistors for 80"
        date: "2026-11"
      }
      memory_watts { value: 524 low: 400 high: 740 source: "8.2 pJ a bit of 8 TB/s of HBM3e" date: "2026-11" }
      most_watts {
        value: 1000
        low: 700
        high: 1000
        source: "NVIDIA B200 datasheet, maximum TGP; the default set point is 700"
        date: "2025-06"
      }
    }
    node {
      host_watts {
        value: 1750
        low: 1600
        high: 1930
        source: "MLPerf Training 5.0 logs before and after the runs: 2,719 to 3,050 W with 8 idle devices"
        date: "2025-06"
      }
    }
  }
  profile {
    device: "B300-SXM-288GB"
    power {
      issue_watts {
        value: 190
        low: 134
        high: 258
        source: "as H100, 148 multiprocessors for 132"
        date: "2026-11"
      }
      busy_watts {
        value: 130
        low: 78
        high: 260
        source: "as H100, 208 billion transistors for 80"
        date: "2026-11"
      }
      memory_watts { value: 524 low: 400 high: 740 source: "8.2 pJ a bit of 8 TB/s of HBM3e" date: "2026-11" }
      most_watts { value: 1000 low: 1000 high: 1100 source: "MLE accelerator table" date: "2026-07" }
    }
    node { host_watts { value: 1750 low: 1600 high: 1930 source: "as B200" date: "2025-06" } }
  }
  profile {
    device: "GB200-186GB"
    power {
      idle_watts {
        value: 145
        low: 140
        high: 150
        source: "nvidia-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts { value: 190 low: 170 high: 210 source: "as B200" date: "2026-11" }
      issue_watts {
        value: 190
        low: 134
        high: 258
        source: "as H100, 148 multiprocessors for 132"
        date: "2026-11"
      }
      busy_watts {
        value: 130
        low: 78
        high: 260
        source: "as H100, 208 billion transistors for 80"
        date: "2026-11"
      }
      memory_watts { value: 524 low: 400 high: 740 source: "8.2 pJ a bit of 8 TB/s of HBM3e" date: "2026-11" }
      most_watts { value: 1200 low: 1000 high: 1200 source: "MLE accelerator table" date: "2026-07" }
    }
    node {
      devices: 4
      nodes_per_rack: 18
      host_watts {
        value: 1400
        low: 900
        high: 1900
        source: "rack plan of GB300: 1 kW of processors and 0.9 kW static a node of 4 at most"
        date: "2025-06"
      }
      fans_share {
        value: 0.02
        low: 0.01
        high: 0.04
        source: "assumed: liquid cooling, fans for cards and drives"
        date: "2026-11"
      }
    }
  }
  profile {
    device: "GB300-288GB"
    power {
      issue_watts {
        value: 190
        low: 134
        high: 258
        source: "as H100, 148 multiprocessors for 132"
        date: "2026-11"
      }
      busy_watts {
        value: 130
        low: 78
        high: 260
        source: "as H100, 208 billion transistors for 80"
        date: "2026-11"
      }
      memory_watts { value: 524 low: 400 high: 740 source: "8.2 pJ a bit of 8 TB/s of HBM3e" date: "2026-11" }
      most_watts {
        value: 1400
        low: 1400
        high: 1400
        source: "MLE accelerator table; rack plan 4 x 1.4 kW"
        date: "2026-07"
      }
    }
    node {
      devices: 4
      nodes_per_rack: 18
      host_watts {
        value: 1500
        low: 1000
        high: 1900
        source: "rack plan of GB300: 1 kW of processors and 0.9 kW static a node of 4 at most"
        date: "2025-06"
      }
      fans_share {
        value: 0.02
        low: 0.01
        high: 0.04
        source: "assumed: liquid cooling, fans for cards and drives"
        date: "2026-11"
      }
    }
  }
  profile {
    device: "MI300X-192GB"
    power {
      idle_watts {
        value: 157
        low: 135
        high: 179
        source: "rocm-smi without a process, public repositories"
        date: "2026-11"
      }
      resident_watts {
        value: 191
        low: 170
        high: 200
        source: "rocm-smi after work, public repositories"
        date: "2026-11"
      }
      memory_watts {
        value: 364
        low: 280
        high: 510
        source: "8.6 pJ a bit of 5.3 TB/s of HBM3"
        date: "2026-11"
      }
      busy_watts {
        value: 96
        low: 57
        high: 191
        source: "as H100, 153 billion transistors for 80"
        date: "2026-11"
      }
      most_watts {
        value: 750
        low: 740
        high: 750
        source: "AMD MI300X datasheet, TBP; 740 W seen at full use"
        date: "2023-12"
      }
    }
    node { host_watts { value: 1650 low: 1300 high: 1900 source: "as H100" date: "2026-11" } }
  }
  profile {
    device: "MI325X-256GB"
    power {
      memory_watts { value: 394 low: 300 high: 550 source: "8.2 pJ a bit of 6 TB/s of HBM3e" date: "2026-11" }
      busy_watts {
        value: 96
        low: 57
        high: 191
        source: "as H100, 153 billion transistors for 80"
        date: "2026-11"
      }
      most_watts { value: 1000 source: "AMD MI325X datasheet, TBP" date: "2024-10" }
    }
  }
  profile {
    device: "MI355X-288GB"
    power {
      memory_watts { value: 524 low: 400 high: 740 source: "8.2 pJ a bit of 8 TB/s of HBM3e" date: "2026-11" }
      busy_watts {
        value: 116
        low: 70
        high: 231
        source: "as H100, 185 billion transistors for 80"
        date: "2026-11"
      }
      most_watts { value: 1400 source: "AMD MI355X datasheet, TBP" date: "2025-06" }
    }
  }
  network {
    switch_watts_per_gbps {
      value: 0.0293
      low: 0.0208
      high: 0.0414
      source: "QM9700: 750 W with passive copper over 64 ports of 400 Gb/s; low: a 51.2 Tb/s box at 1,066 W; high: a metered leaf switch, 691 W, and modules"
      date: "2025-01"
    }
    transceiver_watts_per_gbps {
      value: 0.0213
      low: 0.0125
      high: 0.0225
      source: "800G twin-port OSFP, 17 W; 400G DR4 at most 9 W, 5 W in 200G mode"
      date: "2025-01"
    }
    switch_pj_per_bit {
      value: 0
      low: 0
      high: 5
      source: "a metered leaf switch drew 678 to 734 W, flat while training ran over it (MLPerf Training 4.1)"
      date: "2024-11"
    }
  }
  pue {
    value: 1.2
    low: 1.08
    high: 1.56
    source: "PaLM 1.08; hyperscale sites about 1.1; world mean 1.56 (Uptime 2024)"
    date: "2024-07"
  }
)pb";

}  // namespace

const proto::EnergyModel& BuiltInModel() {
  static const auto* const kBuiltIn = [] {
    auto* model = new proto::EnergyModel;
    proto::EnergyModel rated;
    const bool read = ParseTextMessage(kModel, "built-in constants of energy", model).ok() &&
                      ParseTextMessage(kDataSheets, "data sheets", &rated).ok();
    read ? model->MergeFrom(rated) : model->Clear();
    return model;
  }();
  return *kBuiltIn;
}

}  // namespace chakra::energy
