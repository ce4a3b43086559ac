// Measured collectives of NCCL and RCCL between nodes (between_nodes.csv) against presets, by fabric, machine
// and nodes. Bytes are those of nccl-tests, times in us. An error is predicted / measured - 1.
//
// The rows of MPI on buffers of hosts are a table of their own (between_nodes_mpi.*).
//
// Columns of between_nodes.csv that are read: machine, collective, algo (auto, ring, tree, nvls_tree; MPI's
// have other names), proto (auto, ll, ll128, simple), ranks, nodes, bytes, time_us, settings, in_place (yes,
// no or empty), use (yes, or no and why); of MPI gpu and
// library too.
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

// What stands for a measured machine: a line of between_nodes_machines.csv.
struct NodesMachine {
  std::string fabric;    // one of kNodesFabrics
  std::string cluster;   // "dgx-h100:nic_gbps=200", without nodes; empty: the machine is left out
  int domains = 0;       // NVLink domains, which count as nodes; 0: a domain for each node of the row
  std::string settings;  // what the settings of rows must contain; empty: any
  std::string all_to_all_settings;  // the same for all_to_all; empty: `settings`
  std::vector<std::string> set;     // fields of the cluster, as --set takes them
  std::string why;                  // the reason of all this, or why the machine is left out
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
  int nodes = 0, ranks = 0;         // as in the file; of racks, nodes are hosts
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

// Reads between_nodes_machines.csv: all columns are the fields of NodesMachine, those of `set` with blanks
// between them. Errors name line, column and what was expected.
absl::StatusOr<NodesMachines> ParseNodesMachines(const std::string& text);

// Whose rows a table has: of GPUs, or of hosts by MPI.
enum class NodesRows : uint8_t { kNccl, kMpi };

// Reads between_nodes.csv and takes medians. Rows that say that they are not to be used are left out, and so
// are rows of other libraries, algorithms of MPI that replay/nccl/mpi does not have, buffers of GPUs with
// MPI, machines without a cluster, other settings of a machine, and rows in place of a machine that has rows
// out of place. Errors name line, column and what was expected: numbers, collectives, machines that
// `machines` lacks.
absl::StatusOr<NodesTable> ParseBetweenNodes(const std::string& text, const NodesMachines& machines,
                                             NodesRows rows = NodesRows::kNccl);

// Prices all calls with their clusters. Errors: what LoadCluster(), SetFields() and CollectiveTable say, with
// the call.
absl::Status PredictBetweenNodes(const NodesMachines& machines, std::vector<NodesCall>* calls);

// Every call, as between_nodes.csv here has it. Precondition: all are priced.
std::string BetweenNodesCsv(const std::vector<NodesCall>& calls);

// The page. `left_out`: a table of machines left out in turn; empty: the page has none. Precondition: as
// above.
std::string BetweenNodesMarkdown(const NodesTable& table, const NodesMachines& machines,
                                 const std::string& left_out);

// The page of MPI, and what is held of it. Preconditions: as above.
std::string BetweenNodesMpiMarkdown(const NodesTable& table, const NodesMachines& machines,
                                    const std::string& left_out);
std::vector<Finding> CheckBetweenNodesMpi(const std::vector<NodesCall>& calls);

// Medians of |error| by fabric and band, against bounds and known exceptions. Precondition: as above.
std::vector<Finding> CheckBetweenNodes(const std::vector<NodesCall>& calls);

}  // namespace chakra::validation
