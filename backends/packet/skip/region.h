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
  GlidingSim sim;
  absl::flat_hash_map<uint32_t, uint32_t> ways;  // of RepeatingSim to its own
  PacketTotals before;                           // what it did for regions before this one
};

struct RepeatingSim::Region {
  struct Flow {
    int64_t at;           // ps, since the beginning
    uint64_t order;       // of PacketFabric
    uint64_t input;       // of all flows
    uint32_t connection;  // place in `connections`
    bool want_sent;
    bool sent = false, received = false;  // told
    uint64_t tag, bytes, packets;
    int64_t delay;
    Bandwidth limit;
  };

  int64_t start = 0;                 // ps
  int64_t end = kNever;              // ps: nothing is under way; if nothing begins before
  uint32_t node = 0;                 // of the episodes; kNoIndex: it is not kept
  uint32_t output = 0;               // of the node: the next
  uint64_t stamp = 0;                // of its entry in RepeatingSim::due_
  int64_t due = kNever;              // ps: of that entry; never after Next()
  uint64_t open = 0;                 // flows that are not received
  std::unique_ptr<Simulation> live;  // null: it follows
  std::vector<Flow> flows;
  std::vector<uint32_t> connections;  // of RepeatingSim
  std::vector<uint32_t> ports;
  std::vector<PortTotals> before;                 // of the ports, when they came in
  std::vector<uint64_t> most_before;              // queued
  absl::flat_hash_map<uint32_t, uint32_t> nodes;  // that share a buffer: their numbers
};

}  // namespace chakra::packet
