// chakra-replay convert pytorch
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
  // What is missing on the command line; "": nothing.
  std::string Missing() const;
  absl::Status Run() const;

 private:
  // What the traces' names begin with: OUT, or OUT/rank where OUT is a folder.
  absl::Status Prefix(size_t ranks, std::string* prefix) const;

  CLI::App* app_;
  std::vector<std::string> inputs_;
  ReadOptions read_;
  std::string output_, report_, compression_ = "none";
  bool quiet_ = false;
};

}  // namespace chakra::cli
