// The table that nccl-tests prints, for a simulated machine: collectives, or sends and receives, by size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/library.h"
#include "replay/run/cluster_model.h"
#include "replay/run/options.h"
#include "replay/run/sendrecv.h"

namespace chakra {

class FlowLog;  // replay/engine/flow_log.h

struct TableOptions : MachineOptions {
  CollectiveType type = CollectiveType::kAllReduce;
  std::optional<Peers> peers;  // sends and receives instead of `type`; they have no algorithm
  int ranks = 0;
  int root = 0;
  std::string algorithm;  // a rule for Choose() that overrides the cluster's; empty: the cluster's
  std::string protocol;   // "" or one of the three protocols (ll or simple with `peers`); only with a library
  // Devices that one host thread launches on, as nccl-tests -g; 0: the cluster's value.
  int devices_per_thread = 0;
  bool each_flow = false;  // simulate each flow on the fabric, so that the links report what they carried
  // Not owned, must outlive the table; logs all flows, and no closed form is used.
  FlowLog* flow_log = nullptr;
};

struct TableRow {
  uint64_t bytes = 0;           // the larger of a rank's buffers; with `peers`, the size of each message
  std::string algorithm = "-";  // "-" on one rank; with `peers`, Peers::Text()
  std::string protocol = "-";   // "-" also without a library
  int channels = 1;
  double time_us = 0;    // the larger of device_us and host_us
  double device_us = 0;  // of the kernel; with a library, including the gap before the kernel
  double root_us = 0;    // of the kernel of the member TableOptions::root, without the gap
  double host_us = 0;    // of the host thread that launches; only with a library
  double algbw = 0;      // GB/s: bytes / time; 0 for a barrier, which moves no bytes
  // `algbw` times BusFactor(); with `peers`, times the maximum number of messages that one rank sends or
  // receives.
  double busbw = 0;
  std::string why;
  std::string passed_over;            // a program from a file that is for such calls, but not for this size
  std::vector<Candidate> candidates;  // with a library
};

// Errors: an algorithm or a protocol of the options that calls of this kind cannot have on this cluster,
// whatever the number of ranks.
absl::Status CheckAlgorithm(const CollectiveCosts& costs, const TableOptions& options);

// Prices calls one after another on one machine.
class CollectiveTable {
 public:
  // Errors: a cluster with fewer than `ranks` devices, an unknown fabric, a protocol without a library, an
  // algorithm or protocol that the collective does not have, peers that are not among the ranks.
  static absl::StatusOr<CollectiveTable> Make(const proto::Cluster& cluster, const TableOptions& options);

  // The time per call of many calls in a row, as nccl-tests measures it: the kernel and the gap before it,
  // but at least the time that the host needs to enqueue on all devices of a thread. The launch of a single
  // call is hidden. For all-gather and gather, `bytes` is rounded down to a multiple of the ranks, with at
  // least one byte each.
  absl::StatusOr<TableRow> Price(uint64_t bytes);

  const ClusterModel& cluster() const { return *cluster_; }
  const MachineView& machine() const { return *machine_; }
  // The end of the calls so far, which run one after the other.
  Time now() const { return now_; }
  const GroupShape& shape() const { return shape_; }
  const std::vector<int>& members() const { return members_; }
  int devices_per_thread() const { return devices_per_thread_; }

 private:
  CollectiveTable() = default;
  absl::Status Run(uint64_t comm_size, TableRow* row);
  absl::Status RunMessages(TableRow* row);

  TableOptions options_;
  std::vector<SentMessage> messages_;  // with options_.peers
  std::unique_ptr<ClusterModel> cluster_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<PlanCache> plans_ = std::make_unique<PlanCache>();  // of all sizes
  std::vector<int> members_;
  GroupShape shape_;
  int devices_per_thread_ = 1;
  Time now_;
};

}  // namespace chakra
