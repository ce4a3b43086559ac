// Finds the files of a PyTorch capture among the inputs that a user names.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace chakra::pytorch {

struct CaptureFile {
  std::string path;
  bool host = false;  // an execution trace; else Kineto's
  int rank = -1;      // by the name; -1: the name has no rank
  bool sure = false;  // true: the name has "rank" or "worker"; false: it only ends in a number
};

// The capture files among `inputs` (files, and folders with their subfolders), sorted by path. Files that are
// neither host nor device traces are listed in `others` instead. Errors: an input that does not exist or
// cannot be read.
absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others);

}  // namespace chakra::pytorch
