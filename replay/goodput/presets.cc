// Published rates of failure.
#include "replay/goodput/presets.h"

namespace chakra::goodput {
namespace {

// Llama 3 405B (Table 5 of arXiv 2407.21783): 16,384 devices for 54 days are 21.2 million device hours; 419
// unexpected interruptions.
constexpr char kLlama3[] = R"pb(
  name: "llama3"
  failure { component: "device" device_hours_between: 108335
            repair_hours: 24 }  # 196: faulty GPU, SRAM, system processor, silent corruption, thermal
  failure { component: "device memory" device_hours_between: 294912 repair_hours: 24 }  # 72: HBM3
  failure { component: "host" device_hours_between: 451780
            repair_hours: 24 }  # 47: maintenance, SSD, power supply, chassis, IO board, processor, memory
  failure { component: "network" device_hours_between: 606676 }                 # 35: switch or cable
  failure { component: "card" device_hours_between: 3033381 repair_hours: 24 }  # 7: NIC
  failure { component: "software" device_hours_between: 342478 }  # 62: software, NCCL watchdog, dependency
  detection_seconds {
    value: 60
    low: 30
    high: 900
    source: "ByteRobust: explicit failures are detected in about 60 s, found in 2 to 15 min"
    date: "2025-09"
  }
  restart_seconds {
    value: 300
    low: 120
    high: 1200
    source: "RSC: 5 to 20 min, arXiv 2410.21680"
    date: "2024-10"
  }
  wait_without_spare_seconds { value: 3600 source: "assumed" date: "2026-11" }
  devices_per_node: 8
  spare_nodes: 64
)pb";

// Meta's research clusters (Kokolis et al., arXiv 2410.21680).
constexpr char kRsc1[] = R"pb(
  name: "rsc-1"
  failure { component: "node" per_1000_node_days: 6.50 repair_hours: 24 }
  detection_seconds { value: 0 source: "in restart" date: "2024-10" }
  restart_seconds { value: 300 low: 300 high: 1200 source: "5 to 20 min" date: "2024-10" }
  wait_without_spare_seconds { value: 3600 source: "assumed" date: "2026-11" }
  devices_per_node: 8
  spare_nodes: 64
)pb";

constexpr char kRsc2[] = R"pb(
  name: "rsc-2"
  failure { component: "node" per_1000_node_days: 2.34 repair_hours: 24 }
  detection_seconds { value: 0 source: "in restart" date: "2024-10" }
  restart_seconds { value: 300 low: 300 high: 1200 source: "5 to 20 min" date: "2024-10" }
  wait_without_spare_seconds { value: 3600 source: "assumed" date: "2026-11" }
  devices_per_node: 8
  spare_nodes: 64
)pb";

// Customers of clouds with 1,000 to 2,000 devices see more than 5 a day (SemiAnalysis ClusterMAX).
constexpr char kCloud[] = R"pb(
  name: "cloud"
  failure { component: "any" device_hours_between: 10000 repair_hours: 24 }
  detection_seconds { value: 120 low: 60 high: 900 source: "ByteRobust" date: "2025-09" }
  restart_seconds {
    value: 600
    low: 300
    high: 1200
    source: "RSC: 5 to 20 min, arXiv 2410.21680"
    date: "2024-10"
  }
  wait_without_spare_seconds { value: 3600 source: "assumed" date: "2026-11" }
  devices_per_node: 8
  spare_nodes: 8
)pb";

constexpr char kNone[] = R"pb(
  name: "none" devices_per_node: 8
)pb";

}  // namespace

const std::vector<ReliabilityPreset>& Presets() {
  static const auto* const kPresets = new std::vector<ReliabilityPreset>{
      {"llama3", kLlama3}, {"rsc-1", kRsc1}, {"rsc-2", kRsc2}, {"cloud", kCloud}, {"none", kNone}};
  return *kPresets;
}

}  // namespace chakra::goodput
