// A region of RepeatingSim.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/packet/skip/repeating_sim.h"

namespace chakra::packet {

struct RepeatingSim::Simulation {
  Simulation(PacketNetwork* network, const PacketOptions& options) : sim(network, options, false) {}
  SteadySim sim;
  // Number of a pair's paths in RepeatingSim to the number in `sim`.
  absl::flat_hash_map<uint32_t, uint32_t> ways;
  PacketTotals before;  // counts of earlier regions
};

struct RepeatingSim::Region {
  struct Flow {
    int64_t at;           // ps, since the start of the region
    uint64_t order;       // number in PacketFabric
    uint64_t input;       // number among all flows of RepeatingSim
    uint32_t connection;  // index in `connections`
    bool want_sent;
    bool sent = false, received = false;  // already reported
    uint64_t tag, bytes, packets;
    int64_t delay;
    Bandwidth limit;
  };

  int64_t start = 0;                 // ps
  int64_t end = kNever;              // ps: nothing is under way from here on, if no flow begins before
  uint32_t node = 0;                 // in the episodes; kNoIndex: the results are not kept
  uint32_t output = 0;               // next output of the node
  uint64_t stamp = 0;                // of the region's entry in RepeatingSim::due_
  int64_t due = kNever;              // ps: time of that entry; never later than Next()
  uint64_t open = 0;                 // flows that are not received
  std::unique_ptr<Simulation> live;  // null: the region copies an earlier episode
  std::vector<Flow> flows;
  std::vector<uint32_t> connections;  // numbers in RepeatingSim
  std::vector<uint32_t> ports;
  std::vector<PortTotals> before;                 // counts of the ports when they joined
  std::vector<uint64_t> most_before;              // most queued bytes of the ports when they joined
  absl::flat_hash_map<uint32_t, uint32_t> nodes;  // nodes with a shared buffer: their numbers in the region
};

}  // namespace chakra::packet
