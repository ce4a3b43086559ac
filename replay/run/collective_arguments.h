// The arguments of `collective`, except those for printing.
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
  // Call once. Checks the arguments by themselves and returns the sizes to price.
  absl::StatusOr<std::vector<uint64_t>> Sizes();
  // Call after Sizes(). Returns the table that prices the sizes. If an option is wrong for these ranks or for
  // the cluster's library and programs, the error is in `misuse` too.
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
  absl::Status limited_;  // the error of --max-memory
  TableOptions options_;
};

}  // namespace chakra
