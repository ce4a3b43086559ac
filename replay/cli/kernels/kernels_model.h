// The actions of `chakra-replay kernels` that use the kernel model: predict and calibrate.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/predict.h"

namespace chakra::cli {

class KernelModelActions {
 public:
  explicit KernelModelActions(CLI::App* app);

  // Whether one of the two actions was chosen.
  bool parsed() const { return predict_->parsed() || calibrate_->parsed(); }
  // The error of the command line; "": none.
  std::string Wrong() const;
  absl::Status Run() const;

 private:
  absl::Status Predict(const proto::Device& device, const KernelRows& rows) const;
  absl::Status Calibrate(const proto::Device& device, const KernelRows& rows) const;

  CLI::App *predict_, *calibrate_;
  std::string input_, device_, output_ = "-";
};

}  // namespace chakra::cli
