// From the names that a user gives to trace files and their ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// A file name taken apart: PREFIX.N.et[.zst|.gz], or PREFIX.N with the ending of another format whose files
// hold one rank each. `rank` is -1 if the name has no number. `is_trace` is false for other endings, and for
// the file "._NAME" that macOS writes next to NAME.
struct TraceName {
  std::string prefix;  // with the folder
  int rank = -1;
  bool is_trace = false;
  bool native = false;  // Importer::native
};
TraceName ParseTraceName(absl::string_view path);

struct TraceFile {
  std::string path;
  std::string prefix;
  int rank = 0;
};

// The files that `inputs` (files, folders, prefixes) name, not yet opened. `passed_over`, if not null, gets
// the files of other formats that are not read because native files of the same prefix exist: PREFIX.N.json
// next to PREFIX.N.et. Errors: nothing of this name exists (the message lists similar names), a folder cannot
// be listed, a folder has several prefixes.
absl::StatusOr<std::vector<TraceFile>> ResolveInputs(const std::vector<std::string>& inputs,
                                                     std::vector<std::string>* passed_over = nullptr);

// Sorts by rank. A single file without a number is rank 0. Errors: two files of one rank; a rank between 0
// and the greatest rank without a file.
absl::Status CheckRanks(std::vector<TraceFile>* files);

}  // namespace chakra
