// From what a user names to the trace files that are meant.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// What PREFIX.N.et[.zst|.gz] says, or another ending of a format whose files hold a
// rank each. `rank` is -1 where the name has no number; `is_trace` is false for other
// endings, and for the "._NAME" that macOS puts beside NAME.
struct TraceName {
  std::string prefix;  // with the folder
  int rank = -1;
  bool is_trace = false;
  bool native = false;  // of Importer
};
TraceName ParseTraceName(absl::string_view path);

struct TraceFile {
  std::string path;
  std::string prefix;
  int rank = 0;
};

// The files that `inputs` (files, folders, prefixes) name, not yet opened.
// Errors: nothing there (with what lies near), a folder that cannot be listed,
// several prefixes in a folder. `passed_over`, if not null, gets the files of other formats that hold ranks of a
// run, as PREFIX.N.json beside PREFIX.N.et: the native ones are read.
absl::StatusOr<std::vector<TraceFile>> ResolveInputs(const std::vector<std::string>& inputs,
                                                     std::vector<std::string>* passed_over = nullptr);

// Sorts by rank. Errors: a rank twice, or one missing in 0 to n - 1. A single
// file without a number is rank 0.
absl::Status CheckRanks(std::vector<TraceFile>* files);

}  // namespace chakra
