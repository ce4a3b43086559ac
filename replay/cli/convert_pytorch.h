// The options of `chakra-replay convert pytorch`.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "trace/et/read_options.h"

namespace chakra::cli {

class PytorchOptions {
 public:
  explicit PytorchOptions(CLI::App* app);
  bool chosen() const { return app_->parsed(); }
  // An error message about what is missing on the command line; "": nothing is.
  std::string Missing() const;
  absl::Status Run() const;

 private:
  // The prefix of the names of the traces: OUT, or OUT/rank if OUT is a folder.
  absl::Status Prefix(size_t ranks, std::string* prefix) const;

  CLI::App* app_;
  std::vector<std::string> inputs_;
  ReadOptions read_;
  std::string output_, report_, compression_ = "none";
  bool quiet_ = false;
};

}  // namespace chakra::cli
