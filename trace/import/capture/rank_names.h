// Reads ranks from the names of files and the labels of processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::pytorch {

// A coordinate of a rank in one parallel dimension of its job: {"tp", 1}.
using Place = std::pair<std::string, int>;

struct NamedRank {
  int rank = -1;      // the number after "rank" or "worker", else the number at the end; -1: none
  bool sure = false;  // rank comes from "rank" or "worker"
  // From "tp1", "TP-1", "pp_rank_0" ..., in the order of the name, each dimension once.
  std::vector<Place> places;
};

// Reads a name without its folders. Endings of captures (".pt.trace.json.gz") are cut off first.
NamedRank RankFromName(absl::string_view name);

// Splits the label of a process that names a rank, as files have it that hold the ranks of a whole job:
// "[TP00] 10", "rank1 4711". False: there is no number at the end, or the text before it names no rank.
bool SplitProcess(absl::string_view process, std::string* label, std::string* number);

// The rank that the name of a process gives, in one normal form: "rank0" for "[Rank 0] 1001" and "rank0
// python", "TP0-DP1" for "[TP00-DP1] 7" and "Worker_TP0_DP1". "": the name gives no rank.
std::string LabelOfName(absl::string_view name);

// A file, or a part of one, that has places in its name and no rank.
struct PlacedFile {
  std::vector<Place> places;
  // Ranks that the file may have, because they are members of the groups that its calls are on; empty: any
  // rank.
  std::vector<int> members;
};

// The rank of each file, computed from its places. Empty, with the reason in `why`, if the places do not
// determine the ranks. If one dimension distinguishes all files, its number is the rank. Several dimensions
// are counted in mixed radix, the last one fastest, in the order pipeline, data, expert, context, tensor, or
// with data before pipeline: the order whose ranks agree with PlacedFile::members. If both orders agree and
// their ranks differ, the result is empty. `order` gets the order that was used.
std::vector<int> RanksFromPlaces(const std::vector<PlacedFile>& files, std::string* order, std::string* why);

}  // namespace chakra::pytorch
