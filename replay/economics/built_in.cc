// Prices, grids and footprints with their sources. Dollars of prices are planners' estimates and resellers'
// offers: no vendor publishes what large buyers pay, so the ranges are wide.
#include "replay/economics/built_in.h"

namespace chakra::economics {

const char kPrices[] = R"pb(
  name: "built in, 2026-11"
  device {
    device: "H100-SXM5-80GB"
    device_dollars {
      value: 28000
      low: 20000
      high: 40000
      source: "planners' estimates; Calculon's paper: 20 to 40 thousand"
      date: "2025-01"
    }
    host_dollars {
      value: 75000
      low: 50000
      high: 110000
      source: "derived: other server parts are 15 to 22 % of a run, arXiv 2405.21015"
      date: "2024-05"
    }
    rent_dollars_per_device_hour {
      value: 2.95
      low: 1.30
      high: 3.99
      source: "Nebius on demand; low: SemiAnalysis' cost to a hyperscaler; high: Lambda, 8-GPU node, 2026"
      date: "2026-07"
    }
  }
  device {
    device: "H200-SXM-141GB"
    device_dollars { value: 32000 low: 24000 high: 45000 source: "planners' estimates" date: "2025-06" }
    host_dollars { value: 75000 low: 50000 high: 110000 source: "as H100" date: "2024-05" }
    rent_dollars_per_device_hour {
      value: 3.50
      low: 1.41
      high: 4.50
      source: "Nebius on demand; low: SemiAnalysis' cost to a hyperscaler"
      date: "2026-07"
    }
  }
  device {
    device: "B200-SXM-180GB"
    device_dollars { value: 40000 low: 30000 high: 55000 source: "planners' estimates" date: "2025-06" }
    host_dollars { value: 85000 low: 55000 high: 120000 source: "as H100, newer host" date: "2025-06" }
    rent_dollars_per_device_hour {
      value: 5.50
      low: 1.95
      high: 6.69
      source: "Nebius on demand; low: SemiAnalysis' cost to a hyperscaler; high: Lambda, 8-GPU node, 2026"
      date: "2026-07"
    }
  }
  device {
    device: "GB200-186GB"
    device_dollars {
      value: 50000
      low: 38000
      high: 65000
      source: "planners' estimates: 3 to 4 million for a rack of 72 with its hosts"
      date: "2025-06"
    }
    host_dollars {
      value: 20000
      low: 12000
      high: 40000
      source: "planners' estimates, of a tray of 4"
      date: "2025-06"
    }
    rent_dollars_per_device_hour {
      value: 5.0
      low: 2.9
      high: 6.7
      source: "SemiAnalysis: more than 5 for racks of Blackwell Ultra, three years"
      date: "2026-07"
    }
  }
  device {
    device: "MI300X-192GB"
    device_dollars { value: 15000 low: 10000 high: 20000 source: "planners' estimates" date: "2025-01" }
    host_dollars { value: 75000 low: 50000 high: 110000 source: "as H100" date: "2024-05" }
    rent_dollars_per_device_hour {
      value: 2.0
      low: 1.12
      high: 3.5
      source: "low: SemiAnalysis' cost to a hyperscaler; value and high assumed"
      date: "2026-07"
    }
  }
  device {
    device: "A100-SXM4-80GB"
    device_dollars { value: 14000 low: 9000 high: 20000 source: "planners' estimates" date: "2023-06" }
    host_dollars { value: 60000 low: 40000 high: 90000 source: "planners' estimates" date: "2023-06" }
    rent_dollars_per_device_hour {
      value: 2.79
      low: 1.2
      high: 2.79
      source: "Lambda, 8-GPU node, 2026; low assumed"
      date: "2026-07"
    }
  }
  device {
    device: "A100-SXM4-40GB"
    device_dollars { value: 10000 low: 7000 high: 14000 source: "planners' estimates" date: "2023-06" }
    host_dollars { value: 60000 low: 40000 high: 90000 source: "planners' estimates" date: "2023-06" }
    rent_dollars_per_device_hour {
      value: 1.99
      low: 1.29
      high: 1.99
      source: "Lambda, 8-GPU node, 10.32 to 15.92"
      date: "2026-07"
    }
  }
  device {
    device: "V100-SXM-32GB"
    device_dollars { value: 8000 low: 5000 high: 10000 source: "planners' estimates" date: "2020-01" }
    host_dollars { value: 50000 low: 30000 high: 80000 source: "planners' estimates" date: "2020-01" }
    rent_dollars_per_device_hour {
      value: 0.79
      low: 0.55
      high: 0.79
      source: "Lambda, 8-GPU node, 4.40 to 6.32"
      date: "2026-07"
    }
  }
  switch_dollars_per_gbps {
    value: 1.48
    low: 0.98
    high: 2.2
    source: "QM9700 about 38,000 for 64 x 400 Gb/s; 64 x 800 Gb/s boxes 50,000 to 85,000; high assumed"
    date: "2026-09"
  }
  transceiver_dollars_per_gbps {
    value: 2.0
    low: 1.0
    high: 13
    source: "resellers: 400G DR4 549 to 1,119, 800G DR8 from 799; maker's list 5,196 for 400G"
    date: "2026-09"
  }
  cable_dollars { value: 60 low: 10 high: 200 source: "assumed" date: "2026-11" }
  rack_dollars { value: 6000 low: 2000 high: 30000 source: "assumed" date: "2026-11" }
  site_dollars_per_kw_month {
    value: 200
    low: 184
    high: 215
    source: "CBRE, wholesale colocation, US, second half of 2025"
    date: "2025-12"
  }
  electricity_dollars_per_kwh {
    value: 0.083
    low: 0.05
    high: 0.23
    source: "SemiAnalysis: US average; high: Singapore; low assumed"
    date: "2024-03"
  }
  staff_share { value: 0.02 low: 0.01 high: 0.05 source: "assumed" date: "2026-11" }
  lifetime_years {
    value: 4
    low: 3
    high: 6
    source: "Meta's cluster of 24,576 H100 is costed over 4; hyperscalers book up to 6"
    date: "2025-06"
  }
  interest_share { value: 0.08 low: 0 high: 0.13 source: "assumed" date: "2026-11" }
  used_share {
    value: 0.85
    low: 0.7
    high: 1
    source: "RSC clusters are 83 and 85 % in use, arXiv 2410.21680"
    date: "2024-10"
  }
)pb";

// In Google's regions, yearly means of 2024; by contracts: what its carbon-free share leaves of that
// (derived). Of countries 2023, OWID/Ember as codecarbon has them.
#define GOOGLE "GoogleCloudPlatform/region-carbon-info, 2024"
#define EMBER "codecarbon, from OWID/Ember, 2023"
const RegionRow kRegions[] = {{"iowa", 413, 0, 0, 53.7, GOOGLE},
                              {"oregon", 79, 0, 0, 10.3, GOOGLE},
                              {"northern virginia", 323, 0, 0, 122.7, GOOGLE},
                              {"south carolina", 576, 0, 0, 397.4, GOOGLE},
                              {"dallas", 303, 0, 0, 18.2, GOOGLE},
                              {"salt lake city", 555, 0, 0, -1, GOOGLE},
                              {"montreal", 5.5, 0, 0, -1, GOOGLE},
                              {"london", 106, 0, 0, -1, GOOGLE},
                              {"paris", 16, 0, 0, -1, GOOGLE},
                              {"frankfurt", 276, 0, 0, -1, GOOGLE},
                              {"belgium", 103, 0, 0, -1, GOOGLE},
                              {"finland", 39, 0, 0, -1, GOOGLE},
                              {"stockholm", 2.7, 0, 0, -1, GOOGLE},
                              {"warsaw", 643, 0, 0, -1, GOOGLE},
                              {"tokyo", 453, 0, 0, -1, GOOGLE},
                              {"seoul", 357, 0, 0, -1, GOOGLE},
                              {"mumbai", 679, 0, 0, -1, GOOGLE},
                              {"sydney", 498, 0, 0, -1, GOOGLE},
                              {"sao paulo", 67, 0, 0, -1, GOOGLE},
                              {"johannesburg", 657, 0, 0, -1, GOOGLE},
                              {"usa", 369, 0, 0, -1, EMBER},
                              {"france", 56, 0, 0, -1, EMBER},
                              {"germany", 381, 0, 0, -1, EMBER},
                              {"sweden", 41, 0, 0, -1, EMBER},
                              {"norway", 30, 0, 0, -1, EMBER},
                              {"poland", 662, 0, 0, -1, EMBER},
                              {"united kingdom", 238, 0, 0, -1, EMBER},
                              {"ireland", 291, 0, 0, -1, EMBER},
                              {"china", 582, 0, 0, -1, EMBER},
                              {"india", 713, 0, 0, -1, EMBER},
                              {"taiwan", 642, 439, 642, -1, "codecarbon 2023; ACT 583; Google 439"},
                              {"singapore", 471, 367, 495, -1, "codecarbon 2023; Google 367; ACT 495"},
                              {"japan", 485, 0, 0, -1, EMBER},
                              {"korea", 431, 0, 0, -1, EMBER},
                              {"canada", 170, 0, 0, -1, EMBER},
                              {"brazil", 98, 0, 0, -1, EMBER},
                              {"united arab emirates", 561, 0, 0, -1, EMBER},
                              {"world", 475, 301, 481, -1, "codecarbon; ACT 301 (2022) and 481 (2023)"},
                              {nullptr, 0, 0, 0, 0, nullptr}};

// Dies and memory of devices for ACT; footprints of products where somebody reviewed one.
const char kEmbodied[] = R"pb(
  device_years {
    value: 5
    low: 4
    high: 6
    source: "LLMCarbon spreads over 5 years; BLOOM's authors over 6"
    date: "2023-09"
  }
  used_share { value: 0.85 low: 0.7 high: 1 source: "BLOOM's authors" date: "2022-11" }
  switch_footprint_kg_per_gbps {
    value: 0
    source: "no maker publishes a footprint of a switch or a module: not counted"
    date: "2026-11"
  }
  embodied {
    device: "H100-SXM5-80GB"
    part { name: "die" area_cm2: 8.14 node_nm: 5 source: "NVIDIA H100 whitepaper: 814 mm2" }
    part {
      name: "HBM"
      gbytes: 80
      kg_per_gbyte: 0.065
      packages: 5
      source: "ACT: as DDR4 of 10 nm, since it has no HBM"
    }
    footprint_kg {
      value: 164
      low: 127.6
      high: 410
      source: "NVIDIA product footprint of HGX H100, 1,312 kg for 8; low: teardown of A100, arXiv 2509.00093; high: Boavizta's factors"
      date: "2025-09"
    }
    host_part { name: "processors" count: 2 area_cm2: 16 node_nm: 10 source: "two of 4 dies of 400 mm2" }
    host_part {
      name: "DRAM"
      gbytes: 2048
      kg_per_gbyte: 0.065
      packages: 32
      source: "ACT: DDR4 of 10 nm; DGX H100 user guide: 2 TB"
    }
    host_part {
      name: "SSD"
      gbytes: 34560
      kg_per_gbyte: 0.0063
      packages: 10
      source: "ACT: V3; DGX H100 user guide: 8 x 3.84 TB and 2 x 1.92 TB"
    }
    host_footprint_kg {
      value: 2500
      low: 1000
      high: 3600
      source: "server of BLOOM without GPUs (Luccioni et al.); range assumed"
      date: "2022-11"
    }
  }
  embodied {
    device: "H200-SXM-141GB"
    part { name: "die" area_cm2: 8.14 node_nm: 5 source: "as H100" }
    part { name: "HBM" gbytes: 141 kg_per_gbyte: 0.065 packages: 6 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg {
      value: 200
      low: 140
      high: 450
      source: "assumed: H100 and its memory, 42 % of the footprint, in proportion"
      date: "2026-11"
    }
  }
  embodied {
    device: "B200-SXM-180GB"
    part { name: "dies" count: 2 area_cm2: 8.0 node_nm: 5 source: "two dies of about 800 mm2, 4NP" }
    part { name: "HBM" gbytes: 192 kg_per_gbyte: 0.065 packages: 8 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg {
      value: 290
      low: 150
      high: 700
      source: "assumed: H100's, dies and memory in proportion"
      date: "2026-11"
    }
  }
  embodied {
    device: "GB200-186GB"
    part { name: "dies" count: 2 area_cm2: 8.0 node_nm: 5 source: "two dies of about 800 mm2, 4NP" }
    part { name: "HBM" gbytes: 192 kg_per_gbyte: 0.065 packages: 8 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg {
      value: 290
      low: 150
      high: 700
      source: "assumed: H100's, dies and memory in proportion"
      date: "2026-11"
    }
    host_part { name: "processors" count: 2 area_cm2: 8 node_nm: 5 source: "assumed" }
    host_part {
      name: "DRAM"
      gbytes: 960
      kg_per_gbyte: 0.065
      packages: 32
      source: "ACT: as DDR4 of 10 nm; 480 GB a Grace"
    }
    host_footprint_kg {
      value: 1000
      low: 500
      high: 2500
      source: "assumed: a tray of 4, less than a server of 8"
      date: "2026-11"
    }
  }
  embodied {
    device: "MI300X-192GB"
    part {
      name: "compute dies"
      count: 8
      area_cm2: 1.15
      node_nm: 5
      source: "AMD CDNA 3 whitepaper, 8 dies; areas by public die shots"
    }
    part {
      name: "base dies"
      count: 4
      area_cm2: 3.7
      node_nm: 7
      source: "AMD CDNA 3 whitepaper, 4 dies of 6 nm, here as 7"
    }
    part { name: "HBM" gbytes: 192 kg_per_gbyte: 0.065 packages: 8 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg {
      value: 280
      low: 150
      high: 700
      source: "assumed: H100's, dies and memory in proportion"
      date: "2026-11"
    }
  }
  embodied {
    device: "A100-SXM4-80GB"
    part { name: "die" area_cm2: 8.26 node_nm: 7 source: "NVIDIA A100 whitepaper: 826 mm2" }
    part { name: "HBM" gbytes: 80 kg_per_gbyte: 0.065 packages: 5 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg {
      value: 150
      low: 127.6
      high: 318
      source: "BLOOM's authors; low: teardown, arXiv 2509.00093; high: Chien, HotCarbon 2023, host's share included"
      date: "2025-09"
    }
  }
  embodied {
    device: "A100-SXM4-40GB"
    part { name: "die" area_cm2: 8.26 node_nm: 7 source: "NVIDIA A100 whitepaper: 826 mm2" }
    part { name: "HBM" gbytes: 40 kg_per_gbyte: 0.065 packages: 5 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg { value: 127.6 low: 120 high: 318 source: "teardown, arXiv 2509.00093" date: "2025-09" }
  }
  embodied {
    device: "V100-SXM-32GB"
    part {
      name: "die"
      area_cm2: 8.15
      node_nm: 14
      source: "NVIDIA V100 whitepaper: 815 mm2, 12 nm, here as 14"
    }
    part { name: "HBM" gbytes: 32 kg_per_gbyte: 0.065 packages: 4 source: "ACT: as DDR4 of 10 nm" }
    footprint_kg { value: 120 low: 60 high: 300 source: "assumed: below A100" date: "2026-11" }
  }
)pb";

}  // namespace chakra::economics
