// Measured collectives of NCCL and RCCL between nodes (between_nodes.csv) against presets, by fabric, machine
// and nodes. Bytes are those of nccl-tests, times are in us. An error is predicted / measured - 1.
//
// The rows of MPI on buffers of hosts have their own table (between_nodes_mpi.*).
//
// The columns of between_nodes.csv that are read: machine, collective, algo (auto, ring, tree, nvls_tree;
// rows of MPI have other names), proto (auto, ll, ll128, simple), ranks, nodes, bytes, time_us, settings,
// in_place (yes, no or empty), use (yes, or no and the reason); in rows of MPI also gpu and library.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

// The cluster for a measured machine: a line of between_nodes_machines.csv.
struct NodesMachine {
  std::string fabric;    // one of kNodesFabrics
  std::string cluster;   // "dgx-h100:nic_gbps=200", without nodes; empty: the machine is left out
  int domains = 0;       // NVLink domains, which count as nodes; 0: each node of the row is a domain
  std::string settings;  // text that the settings of rows must contain; empty: any
  std::string all_to_all_settings;  // the same for all_to_all; empty: `settings`
  std::vector<std::string> set;     // fields of the cluster, as --set takes them
  std::string why;                  // the reason for the choice, or why the machine is left out
};
using NodesMachines = std::map<std::string, NodesMachine>;

inline constexpr std::array<const char*, 7> kNodesFabrics = {"InfiniBand", "RoCE",  "EFA", "TCPX",
                                                             "Slingshot",  "racks", "TCP"};

// Sizes: below 64 KiB, below 1 MiB, below 32 MiB, the rest.
inline constexpr std::array<const char*, 4> kNodesBands = {"<64K", "64K-1M", "1-32M", ">=32M"};
size_t NodesBand(uint64_t bytes);

// One call of one machine: the median of its rows.
struct NodesCall {
  std::string machine, fabric, collective;
  std::string algorithm, protocol;  // that the run forced; empty: the library's choice
  int nodes = 0, ranks = 0;         // as in the file; for racks, nodes are hosts
  uint64_t bytes = 0;
  double measured_us = 0;
  double predicted_us = 0;  // 0: not priced yet
  std::string chosen;       // "tree/ll128", the prediction's

  double Error() const { return predicted_us / measured_us - 1; }
  // "ring/ll128", "ring", "auto".
  std::string Forced() const;
};

struct NodesTable {
  std::vector<NodesCall> calls;  // by machine, collective, algorithm, protocol, nodes, ranks and bytes
  size_t rows = 0;               // of the file
  std::map<std::string, size_t> left_out;  // rows by reason
};

// Reads between_nodes_machines.csv: the columns are the fields of NodesMachine; blanks separate the entries
// of `set`. Errors name the line, the column and the expected values.
absl::StatusOr<NodesMachines> ParseNodesMachines(const std::string& text);

// The rows of a table: NCCL and RCCL on GPUs, or MPI on hosts.
enum class NodesRows : uint8_t { kNccl, kMpi };

// Reads between_nodes.csv and takes medians. Leaves out rows that the file marks as unusable, rows of other
// libraries, algorithms of MPI that replay/nccl/mpi does not have, buffers of GPUs with MPI, machines without
// a cluster, other settings of a machine, and rows in place if the machine has rows out of place. Errors name
// the line, the column and the expected values: numbers, collectives, machines that `machines` lacks.
absl::StatusOr<NodesTable> ParseBetweenNodes(const std::string& text, const NodesMachines& machines,
                                             NodesRows rows = NodesRows::kNccl);

// Prices all calls with their clusters. Errors: those of LoadCluster(), SetFields() and CollectiveTable, with
// the call.
absl::Status PredictBetweenNodes(const NodesMachines& machines, std::vector<NodesCall>* calls);

// A line for every call, as in test/validation/between_nodes.csv. Precondition: all calls are priced.
std::string BetweenNodesCsv(const std::vector<NodesCall>& calls);

// The page. `left_out`: a table of predictions with one machine left out at a time; empty: none.
// Precondition: all calls are priced.
std::string BetweenNodesMarkdown(const NodesTable& table, const NodesMachines& machines,
                                 const std::string& left_out);

// The page of MPI, and its checks. Preconditions: all calls are priced.
std::string BetweenNodesMpiMarkdown(const NodesTable& table, const NodesMachines& machines,
                                    const std::string& left_out);
std::vector<Finding> CheckBetweenNodesMpi(const std::vector<NodesCall>& calls);

// Medians of |error| by fabric and band, against bounds and known exceptions. Precondition: all calls are
// priced.
std::vector<Finding> CheckBetweenNodes(const std::vector<NodesCall>& calls);

}  // namespace chakra::validation
