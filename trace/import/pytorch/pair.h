// Which event of the device trace is which node of the host trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/pytorch/capture.h"

namespace chakra::pytorch {

struct Pairing {
  std::vector<uint32_t> event_of_node;  // by row of HostTrace::nodes; kNoRow: none
  std::vector<uint32_t> node_of_event;  // by row of DeviceTrace::events; kNoRow: none
  std::string method;                   // "record_function_id", "thread_order"
  int64_t rf_offset = 0;                // Kineto's record function id less the host trace's
  uint64_t matched = 0;
  uint64_t nodes_unmatched = 0;  // operators of the host trace without an event
  uint64_t ops_unmatched = 0;    // operators of the device trace without a node
  std::vector<Repair> repairs;
};

// Pairs by record function id where names agree (after the one offset at which
// most of them do: repair "rf_offset"), else by the order of names in each
// thread, where the host trace may be a window of a longer Kineto trace or the
// other way round ("ambiguous_window": several fit, the first was taken). Only
// equal names are paired, and each node and event once. Further repairs:
// "name_mismatch", "repeated_record_function". Synthetic nodes (no record
// function, process_group:init) need no event.
// InvalidArgument: host and device traces of different runs (fewer than half
// of the smaller side's operators are the same), with counts and the first
// names that differ.
absl::StatusOr<Pairing> Pair(const HostTrace& host, const DeviceTrace& device);

}  // namespace chakra::pytorch
