// Which rank each file of a capture is of.
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
  std::vector<std::string> left_out;  // files that are of no rank
};

// Moves what was loaded to its ranks; `loaded` goes with `files`. A file that holds several ranks counts as
// one file for each, whose label is part of its path. The rank of a file is, in this order:
// - the one that `rank_of` gives (RankByHand());
// - what its content, or "rank" in its name, says;
// - the only rank that is in all groups that it calls on;
// - its place in the dimensions of the split, by its name (RanksFromPlaces());
// - the number at the end of its name, unless the job is smaller, or files of its kind have "rank" in theirs.
// "rank" and places may stand in the name of a folder, too, unless all files of a kind are in it.
//
// A front end's trace, with neither rank nor device nor calls, is left out of a run whose other files have
// them, with a warning; so is the trace of a graph's capture that nobody can tell the rank of. Errors
// (InvalidArgument) name the file: a rank that nothing tells, two files for one rank.
absl::Status PlaceFiles(std::vector<CaptureFile> files, std::vector<LoadedFile>* loaded,
                        const std::vector<std::string>& rank_of, PlacedFiles* out);

}  // namespace chakra::pytorch
