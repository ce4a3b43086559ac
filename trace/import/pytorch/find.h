// From what a user names to the files of a PyTorch capture.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace chakra::pytorch {

struct CaptureFile {
  std::string path;
  bool host = false;  // an execution trace; else Kineto's
  int rank = -1;      // by the name; -1: the name does not say
  bool sure = false;  // the name says "rank" or "worker"; else it only ends in a number
};

// The captures among `inputs` (files, and folders with the folders in them),
// sorted by path. Files that are neither host nor device traces are left out,
// and listed in `others`. Errors: an input that does not exist or cannot be
// read.
absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others);

}  // namespace chakra::pytorch
