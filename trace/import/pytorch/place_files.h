// Finds the rank of each file of a capture.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/join/capture_rank.h"
#include "trace/import/pytorch/find.h"
#include "trace/import/pytorch/load_files.h"

namespace chakra::pytorch {

struct PlacedFiles {
  std::map<int, CaptureRank> ranks;
  std::vector<std::string> warnings;
  std::vector<std::string> left_out;  // files that belong to no rank
};

// Moves the loaded traces to their ranks. `loaded` has the order of `files`. A file that holds several ranks
// is treated as one file for each rank, with the rank's label after its path. The rank of a file is, in this
// order:
// - the rank that `rank_of` gives (RankByHand());
// - the rank in its content, or after "rank" in its name;
// - the only rank that is in all groups that its calls are on;
// - the rank that follows from the places in its name (RanksFromPlaces());
// - the number at the end of its name, unless the job has fewer ranks, or other files of its kind have "rank"
//   in their names.
// "rank" and places may also be in the name of a folder, unless all files of a kind are in that folder.
//
// The trace of a front end, which has no rank, no device operation and no call, is left out with a warning if
// other files have them. So is the trace of a graph's capture whose rank is unknown. Errors (InvalidArgument)
// name the file: a rank is unknown, or two files have the same rank.
absl::Status PlaceFiles(std::vector<CaptureFile> files, std::vector<LoadedFile>* loaded,
                        const std::vector<std::string>& rank_of, PlacedFiles* out);

}  // namespace chakra::pytorch
