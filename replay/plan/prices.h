// The prices of the pieces of a step on one machine: computations, collectives, messages. They come from the
// models that a replay uses, and are cached by shape, so that thousands of splits share few prices.
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

// Times are in picoseconds.
class Prices {
 public:
  // Builds the machine of `options` for `ranks` ranks. `options` must outlive the object. Errors: those of a
  // replay's machine and time sources.
  static absl::StatusOr<std::unique_ptr<Prices>> Make(const RunOptions& options, int ranks);

  // The time of each operator, by index; 0 if no time source answers, as in a replay.
  absl::StatusOr<std::vector<double>> OfOperators(const std::vector<generate::Operator>& operators);
  absl::StatusOr<double> OfOperator(const generate::Operator& op);

  // An id for the groups of a kind in a split; -1 if the groups have one rank each.
  int GroupsOf(generate::GroupKind kind, const generate::Split& split);
  // The time of a call that all members of a group make at the same time. If the groups differ in where their
  // members are, the slowest group's time.
  absl::StatusOr<double> OfCollective(CollectiveType type, int64_t bytes, int groups);
  // OfCollective(), interpolated between two sizes. For sizes that differ from split to split.
  absl::StatusOr<double> AboutCollective(CollectiveType type, int64_t bytes, int groups);

  // The time from the first byte sent to the last byte received.
  double OfMessage(int src, int dst, int64_t bytes);
  // The times of the messages from each rank of a stage to its peer in the next stage, by boundary; pp - 1 of
  // them.
  std::vector<double> BetweenStages(const generate::Split& split, int64_t bytes);

  const ClusterModel& cluster() const { return cluster_; }
  const std::vector<std::string>& warnings() const { return run_.warnings; }
  uint64_t device_memory() const;  // bytes; 0: unknown
  int ranks() const { return ranks_; }
  bool contention_free() const { return machine_->contention_free(); }
  // The number of devices in the innermost blocks of fixed size: a node of the presets.
  int node() const { return node_; }
  int domain() const { return domain_; }  // DomainOf() the cluster

 private:
  explicit Prices(const RunOptions& options) : options_(options) {}
  // The groups of `kind`; of groups whose members are placed in the same way, only one.
  std::vector<std::vector<int>> DistinctGroups(generate::GroupKind kind, const generate::Split& split) const;

  using SplitKey = std::array<int64_t, 9>;
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
