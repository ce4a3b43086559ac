// What names of files, and labels of processes, say of ranks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::pytorch {

// A place in a dimension of the split of a job over ranks: {"tp", 1}.
using Place = std::pair<std::string, int>;

struct NamedRank {
  int rank = -1;      // by "rank" or "worker", else the number at the end; -1: none
  bool sure = false;  // by "rank" or "worker"
  std::vector<Place>
      places;  // by "tp1", "TP-1", "pp_rank_0"..., in the order of the name, each dimension once
};

// Reads a name without its folders. Endings of captures (".pt.trace.json.gz") are cut off first.
NamedRank RankFromName(absl::string_view name);

// A process that its file labels with a rank, as those do that bring the ranks of a job into one file:
// "[TP00] 10", "rank1 4711". False: there is no number at the end, or nothing before it tells a rank.
bool SplitProcess(absl::string_view process, std::string* label, std::string* number);

// The rank that the name of a process tells, in one way of writing: "[Rank 0] 1001" and "rank0 python" are of
// "rank0", "[TP00-DP1] 7" and "Worker_TP0_DP1" of "TP0-DP1". "": it tells none.
std::string LabelOfName(absl::string_view name);

// A file, or a part of one, that has places in its name and no rank.
struct PlacedFile {
  std::vector<Place> places;
  std::vector<int>
      members;  // ranks that it may be of, as far as the groups tell it that it calls on; empty: any
};

// The rank of each file by its places; empty, with `why`, where they do not tell it. A dimension that orders
// all files is the rank. Several count with the last one fastest, in the order in which what members say
// holds: pipeline, data, expert, context, tensor, or data before pipeline. Where members do not tell these
// two apart, nothing is guessed.
std::vector<int> RanksFromPlaces(const std::vector<PlacedFile>& files, std::string* order, std::string* why);

}  // namespace chakra::pytorch
