// What `collective` is told, but for what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/command.pb.h"
#include "replay/run/collective_table.h"

namespace chakra {

class CollectiveArguments {
 public:
  explicit CollectiveArguments(const proto::CollectiveRun& told);
  // Once: checks what is told alone. The sizes that are priced.
  absl::StatusOr<std::vector<uint64_t>> Sizes();
  // After Sizes(): what prices them. Where an option is at fault that the ranks, or the cluster's library and
  // programs refuse, it is in `misuse` too.
  absl::StatusOr<CollectiveTable> Table(std::vector<std::string>* notes, absl::Status* misuse);

  const std::string& kind() const { return kind_; }
  TableOptions& options() { return options_; }
  const TableOptions& options() const { return options_; }

 private:
  absl::Status ReadKind();
  absl::Status ReadPeers();
  absl::Status CheckChoice(const proto::Cluster& cluster) const;

  std::string kind_, peers_, bytes_;
  double factor_;
  absl::Status limited_;  // of --max-memory
  TableOptions options_;
};

}  // namespace chakra
