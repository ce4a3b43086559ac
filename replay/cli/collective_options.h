// What `collective` is told, but for what it prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/run/collective_table.h"

namespace chakra::cli {

class CollectiveArguments {
 public:
  // COLLECTIVE and the options, bound to this, which must outlive the parsing.
  void AddTo(CLI::App* app);
  // Once, after the parsing: checks what the command line alone says. The sizes that are priced.
  absl::StatusOr<std::vector<uint64_t>> Sizes();
  // After Sizes(): what prices them. Where an option is at fault that the ranks, or the cluster's library and
  // programs refuse, it is in `misuse` too.
  absl::StatusOr<CollectiveTable> Table(std::vector<std::string>* notes, absl::Status* misuse);

  const std::string& kind() const { return kind_; }
  TableOptions& options() { return options_; }
  const TableOptions& options() const { return options_; }

 private:
  void AddMachine(CLI::App* app);
  absl::Status ReadKind();
  absl::Status ReadPeers();
  absl::Status CheckChoice(const proto::Cluster& cluster) const;

  std::string kind_;
  std::string peers_;
  std::string bytes_ = "1KiB..8GiB";
  double factor_ = 2;
  TableOptions options_;
};

}  // namespace chakra::cli
