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
  bool host = false;          // an execution trace; else a trace of Kineto
  int rank = -1;              // read from the name; -1: the name has no rank
  bool sure = false;          // true: the name has "rank" or "worker"; false: the name only ends in a number
  std::vector<Place> places;  // coordinates in the parallel dimensions, read from the name
};

// Whether the name of a file, compressed or not, has the ending of captures: ".json".
bool NamedAsCapture(absl::string_view name);

// Fills `out` for the file at `path`. `head` is the beginning of its unpacked content; `name` is its name, or
// the name of the member if it is in an archive. False: the file is not a capture.
bool SniffCapture(absl::string_view head, const std::string& path, const std::string& name, CaptureFile* out);

// The capture files among `inputs` (files, and folders with their subfolders), in the order of the inputs
// and, in a folder, of the paths. Files that are neither host nor device traces are added to `others`. If the
// name of a device trace has no "rank", its rank may come from "rank_id" in a file profiler_info_N.json next
// to it. Errors: an input that does not exist or cannot be read.
absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others);

}  // namespace chakra::pytorch
