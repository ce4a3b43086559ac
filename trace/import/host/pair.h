// Pairs the events of the device trace with the nodes of the host trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

struct Pairing {
  std::vector<uint32_t> event_of_node;  // by row of HostTrace::nodes; kNoRow: none
  std::vector<uint32_t> node_of_event;  // by row of DeviceTrace::events; kNoRow: none
  std::string method;                   // "record_function_id", "thread_order" or "host_only"
  int64_t rf_offset = 0;                // Kineto's record function id minus the host trace's
  uint64_t matched = 0;
  uint64_t nodes_unmatched = 0;  // operators of the host trace without an event
  uint64_t ops_unmatched = 0;    // operators of the device trace without a node
  std::vector<Repair> repairs;
};

// Pairs by record function id if the names agree, with the offset between the ids at which most names agree
// (repair "rf_offset"). Otherwise pairs by the order of names in each thread; either trace may then cover
// only a part of the other ("ambiguous_window": several parts fit, and the first was taken). Only equal names
// are paired, and each node and event at most once. Other repairs: "name_mismatch",
// "repeated_record_function". Synthetic nodes (no record function, process_group:init) need no event.
// InvalidArgument: host and device traces of different runs (fewer than half of the operators of the smaller
// trace match); the message has counts and the first names that differ.
absl::StatusOr<Pairing> Pair(const HostTrace& host, const DeviceTrace& device);

}  // namespace chakra::pytorch
