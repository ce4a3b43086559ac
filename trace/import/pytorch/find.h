// Finds the files of a PyTorch capture among the inputs that a user names.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/rank_names.h"

namespace chakra::pytorch {

struct CaptureFile {
  std::string path;
  bool host = false;          // an execution trace; else Kineto's
  int rank = -1;              // by the name; -1: the name has no rank
  bool sure = false;          // true: the name has "rank" or "worker"; false: it only ends in a number
  std::vector<Place> places;  // in the dimensions of the split, by the name
};

// Whether a file's name, with or without an ending of compression, is one of captures: ".json".
bool NamedAsCapture(absl::string_view name);

// Fills `out` for the file at `path`, whose content begins with `head` (unpacked) and whose name, without the
// archive that it is in, is `name`. False: the file is no capture.
bool SniffCapture(absl::string_view head, const std::string& path, const std::string& name, CaptureFile* out);

// The capture files among `inputs` (files, and folders with their subfolders), sorted by path. Files that are
// neither host nor device traces are listed in `others` instead. Errors: an input that does not exist or
// cannot be read. Beside a trace without "rank" in its name, "rank_id" in profiler_info_N.json tells it.
absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others);

}  // namespace chakra::pytorch
