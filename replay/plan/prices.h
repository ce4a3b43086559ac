// What the pieces of a step cost on one machine: computations, collectives, messages. Each is asked of the
// models that a replay asks, and remembered by its shape, so that thousands of splits share few answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/nccl/message_prices.h"
#include "replay/run/cluster_model.h"
#include "replay/run/description.h"
#include "replay/run/options.h"
#include "replay/run/price.h"
#include "trace/generate/layout.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::planning {

// Times are picoseconds.
class Prices {
 public:
  // The machine of `options` for `ranks` ranks. `options` must outlive it. Errors: those of a replay's
  // machine and rungs.
  static absl::StatusOr<std::unique_ptr<Prices>> Make(const RunOptions& options, int ranks);

  // Of each operator, by its index; of one that no rung answers 0, as in a replay.
  absl::StatusOr<std::vector<double>> OfOperators(const std::vector<generate::Operator>& operators);
  absl::StatusOr<double> OfOperator(const generate::Operator& op);

  // The groups of a kind of a split; of a group of one rank -1.
  int GroupsOf(generate::GroupKind kind, const generate::Split& split);
  // A call of all members of one of the groups at once: of the slowest one of them, where they differ in
  // where they sit.
  absl::StatusOr<double> OfCollective(CollectiveType type, int64_t bytes, int groups);
  // The same, read off a line between two sizes: for sizes of which each split has others.
  absl::StatusOr<double> AboutCollective(CollectiveType type, int64_t bytes, int groups);

  // From the first byte sent to the last received.
  double OfMessage(int src, int dst, int64_t bytes);
  // Of what each rank of a stage sends to its peer of the next one, by boundary; pp - 1 of them.
  std::vector<double> BetweenStages(const generate::Split& split, int64_t bytes);

  const ClusterModel& cluster() const { return cluster_; }
  const std::vector<std::string>& warnings() const { return run_.warnings; }
  uint64_t device_memory() const;  // bytes; 0: not known
  int ranks() const { return ranks_; }
  bool contention_free() const { return machine_->contention_free(); }
  // Devices of the innermost blocks of fixed size: a node of the presets.
  int node() const { return node_; }
  int domain() const { return domain_; }  // DomainOf() the cluster

 private:
  explicit Prices(const RunOptions& options) : options_(options) {}
  // The groups of `kind` that differ in where their members sit.
  std::vector<std::vector<int>> DistinctGroups(generate::GroupKind kind, const generate::Split& split) const;

  using SplitKey = std::array<int64_t, 8>;
  const RunOptions& options_;
  RunDescription run_;
  ClusterModel cluster_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<MessagePrices> messages_;
  std::unique_ptr<GraphPricer> pricer_;
  int ranks_ = 0, node_ = 1, domain_ = 0;
  absl::flat_hash_map<std::string, double> operators_;
  absl::flat_hash_map<SplitKey, int> groups_of_split_;
  std::map<std::vector<std::vector<int>>, int> known_groups_;
  std::vector<const std::vector<std::vector<int>>*> groups_;
  absl::flat_hash_map<std::tuple<CollectiveType, int64_t, int>, double> collectives_;
};

}  // namespace chakra::planning
