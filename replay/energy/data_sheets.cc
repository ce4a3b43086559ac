// Devices of which the data sheet alone is known: what they may draw. All else is the "default" profile's.
#include "replay/energy/data_sheets.h"

namespace chakra::energy {

const char kDataSheets[] = R"pb(
  profile {
    device: "MI250X-die"
    power { most_watts { value: 280 source: "AMD MI250X datasheet, 560 W peak of two dies" date: "2021-11" } }
  }
  profile {
    device: "MI250-die"
    power { most_watts { value: 280 source: "AMD MI250 datasheet, 560 W peak of two dies" date: "2021-11" } }
  }
  profile {
    device: "MI210"
    power { most_watts { value: 300 source: "AMD MI210 datasheet" date: "2022-03" } }
  }
  profile {
    device: "MI100"
    power { most_watts { value: 300 source: "AMD MI100 datasheet" date: "2020-11" } }
  }
  profile {
    device: "H800-SXM5-80GB"
    power { most_watts { value: 700 source: "as H100" date: "2023-03" } }
  }
  profile {
    device: "H20-96GB"
    power { most_watts { value: 400 source: "public specification of H20" date: "2024-01" } }
  }
  profile {
    device: "H100-PCIe-80GB"
    power { most_watts { value: 350 source: "NVIDIA H100 datasheet, PCIe" date: "2023-03" } }
  }
  profile {
    device: "A100-SXM4-40GB"
    power { most_watts { value: 400 source: "NVIDIA A100 datasheet, SXM" date: "2021-06" } }
  }
  profile {
    device: "A100-PCIe-80GB"
    power { most_watts { value: 300 source: "NVIDIA A100 datasheet, PCIe" date: "2021-06" } }
  }
  profile {
    device: "A100-PCIe-40GB"
    power { most_watts { value: 250 source: "NVIDIA A100 datasheet, PCIe 40 GB" date: "2020-06" } }
  }
  profile {
    device: "V100-PCIe-32GB"
    power { most_watts { value: 250 source: "NVIDIA V100 datasheet, PCIe" date: "2020-01" } }
  }
  profile {
    device: "P100-SXM2-16GB"
    power { most_watts { value: 300 source: "NVIDIA P100 datasheet" date: "2016-06" } }
  }
  profile {
    device: "P100-PCIe-16GB"
    power { most_watts { value: 250 source: "NVIDIA P100 datasheet" date: "2016-06" } }
  }
  profile {
    device: "T4"
    power { most_watts { value: 70 source: "NVIDIA T4 datasheet" date: "2018-09" } }
  }
  profile {
    device: "P4"
    power { most_watts { value: 75 source: "NVIDIA P4 datasheet" date: "2016-09" } }
  }
  profile {
    device: "A10"
    power { most_watts { value: 150 source: "NVIDIA A10 datasheet" date: "2021-04" } }
  }
  profile {
    device: "L4"
    power { most_watts { value: 72 source: "NVIDIA L4 datasheet" date: "2023-03" } }
  }
  profile {
    device: "L40S"
    power { most_watts { value: 350 source: "NVIDIA L40S datasheet" date: "2023-08" } }
  }
  profile {
    device: "RTX-PRO-6000"
    power {
      most_watts { value: 600 source: "NVIDIA RTX PRO 6000 Blackwell Workstation datasheet" date: "2025-03" }
    }
  }
)pb";

}  // namespace chakra::energy
