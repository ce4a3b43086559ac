// What nccl-tests would print for a machine: collectives, or sends and receives, by size.
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
  std::optional<Peers> peers;  // sends and receives in place of `type`; without an algorithm
  int ranks = 0;
  int root = 0;
  std::string algorithm;  // a rule for Choose() in place of the cluster's; empty: the cluster's
  std::string protocol;   // "" or one of the three (with `peers` ll or simple); only with a library
  // Devices that one host thread launches on, as nccl-tests -g; 0: as the cluster says.
  int devices_per_thread = 0;
  bool each_flow = false;       // over the fabric, so that its links tell what they carried
  FlowLog* flow_log = nullptr;  // the caller's, outlives the table: of all flows; nothing in closed form then
};

struct TableRow {
  uint64_t bytes = 0;           // the larger of a rank's buffers, as the call has it; of each message
  std::string algorithm = "-";  // "-" on one rank; of sends and receives Peers::Text()
  std::string protocol = "-";   // also without a library
  int channels = 1;
  double time_us = 0;    // the larger of the next two
  double device_us = 0;  // of the kernel; with a library also of the gap before it
  double root_us = 0;    // of the kernel of the member TableOptions::root, without the gap
  double host_us = 0;    // of the thread that launches, with a library
  double algbw = 0;      // GB/s: bytes / time; a barrier moves none
  double busbw = 0;      // times BusFactor(), or times the most messages that one rank sends or receives
  std::string why;
  std::string passed_over;            // a program from a file that is for such calls, but not of this size
  std::vector<Candidate> candidates;  // with a library
};

// Errors: an algorithm or a protocol of the options that calls of the kind cannot have on this cluster,
// however many ranks they have.
absl::Status CheckAlgorithm(const CollectiveCosts& costs, const TableOptions& options);

// Prices calls one after another on one machine.
class CollectiveTable {
 public:
  // Errors: a cluster that has no `ranks` devices, an unknown fabric, a protocol without a library, an
  // algorithm or protocol that the collective does not have, peers that are not among the ranks.
  static absl::StatusOr<CollectiveTable> Make(const proto::Cluster& cluster, const TableOptions& options);

  // The time of one of many calls in a row, as nccl-tests takes it: the kernel's and the gap before it, but
  // never less than the host takes to enqueue on all devices of a thread. The launch of a lone call is
  // hidden. All-gather and gather: `bytes` is rounded down to a multiple of the ranks, but to one byte each
  // at least.
  absl::StatusOr<TableRow> Price(uint64_t bytes);

  const ClusterModel& cluster() const { return *cluster_; }
  const MachineView& machine() const { return *machine_; }
  // When the calls so far had ended, one after the other.
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
