// What a replay measured, before it becomes a report.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {

// The number of kinds of communication that EngineOptions::comm_kinds distinguishes.
inline constexpr int kCommKinds = 8;

struct RankMetrics {
  Time end;           // when its last node ended
  Time compute_busy;  // at least one COMP node ran, other than host operations and copies
  Time host_busy;     // at least one host operation ran
  Time comm_busy;     // at least one communication node ran or waited
  Time exposed_comm;  // comm_busy without a (non-host) COMP node running
  Time memory_busy;   // at least one memory node, or copy from a capture, ran
  Time idle;          // `end` minus the time in which any node ran
  uint64_t nodes = 0;
  Time waited;          // sum of waits in collectives for the last member to arrive
  Time kept_waiting;    // sum of the waits of others for this rank, in calls where it arrived last; if
                        // several members arrived last, the wait counts for the lowest of them
  Time exposed_memory;  // memory_busy without computation or communication; host operations do not hide it
  // exposed_comm by kind. While several kinds run at once, the time counts for the lowest kind.
  std::array<Time, kCommKinds> exposed_of{};
};

// The instances of one kind on one group that used one algorithm.
struct ChosenAlgorithm {
  std::string algorithm;  // "ring", or "ring/simple" of a library
  uint64_t count = 0;
  uint64_t least_bytes = 0, most_bytes = 0;  // of one instance, in the measure of CollectiveMetrics::bytes
  std::string why;                           // why the first instance used it; empty without a library
};

// All instances of one kind on one group. Point-to-point messages have one entry: kind "send_recv", group "".
struct CollectiveMetrics {
  int ranks = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;           // the larger of a rank's input and output buffer, summed over instances
  Time time;                    // last end - last arrival, summed
  Time wait;                    // last arrival - first arrival, summed
  Time recorded;                // recorded time of the simulated instances, from the last arrival on, summed
  uint64_t recorded_count = 0;  // instances with a recorded time
  std::string algorithm;        // of the first instance
  std::vector<ChosenAlgorithm> chosen;  // in the order of first use; empty for send_recv
};

// The nodes of one name, or of one lane, on all ranks.
struct NameMetrics {
  std::string name;
  uint64_t count = 0;
  Time time;            // from start to end, including waits for partners, summed
  bool merged = false;  // covers several names: "layer#.mlp", or "(others)"
};

// Communication that keeps its recorded time although the run simulates communication: nothing could price
// it, or it is not matched as a call.
struct KeptComm {
  uint64_t nodes = 0;
  Time time;  // recorded, summed over nodes
};

struct Metrics {
  Time makespan;
  KeptComm kept;
  std::vector<RankMetrics> ranks;
  std::map<std::pair<std::string, std::string>, CollectiveMetrics> collectives;  // (kind, group)
  uint64_t nodes = 0;
  uint64_t flows = 0;             // simulated one by one
  uint64_t fast_collectives = 0;  // answered in closed form
  uint64_t invalid_nodes = 0;
  std::vector<Repair> repairs;  // found while replaying
  std::vector<std::string> warnings;
  std::vector<NameMetrics> operators;  // by name of node (NameTimes::Report()), the longest first
  std::vector<NameMetrics> lanes;      // by name of lane, the longest first
};

}  // namespace chakra
