// The index of a folder in which ranks share files: which rank replays which file, and with whom it
// communicates (proto/rank_index.proto).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/rank_index.pb.h"
#include "trace/model/trace.h"

namespace chakra {

// The end of the file name of an index, after the prefix of its traces.
inline constexpr char kRankIndexEnding[] = ".ranks.json";

// A consistent index. Immutable.
class RankIndex {
 public:
  // Errors (InvalidArgument) begin with `file`, the name of the index, and give the graph, family or rank and
  // the field: a rank that belongs to no graph or to two graphs, a group without a replacement, invalid
  // lists, names that are given twice, ranks out of range, a file name that is not in the index's folder,
  // more than kMaxGroupMembers entries in all lists.
  static absl::StatusOr<RankIndex> Make(const proto::RankIndex& index, absl::string_view file);

  int ranks() const { return static_cast<int>(graph_of_.size()); }
  size_t graphs() const { return graphs_.size(); }
  // The name of a graph's file, and the rank whose trace this file holds.
  const std::string& FileOf(size_t graph) const { return graphs_[graph].file; }
  int OwnerOf(size_t graph) const { return graphs_[graph].owner; }
  size_t GraphOf(int rank) const { return graph_of_[static_cast<size_t>(rank)]; }
  const Groups& groups() const { return groups_; }

  // What `rank` uses instead of a group or a rank in the file of its graph.
  const std::string& GroupFor(int rank, absl::string_view of_file) const;
  int RankFor(int rank, int of_file) const;
  // Returns the first symmetric rank: the first rank of the same graph whose messages go to and come from
  // ranks at the same distances, where these ranks are symmetric too.
  int SymmetricTo(int rank) const { return symmetric_to_[static_cast<size_t>(rank)]; }

  // Checks that the index has a replacement for all groups and ranks in the file of a graph. Errors give the
  // file, its rank and what is missing.
  absl::Status Covers(size_t graph, const RankTrace& trace) const;

 private:
  friend class RankIndexReader;
  struct PeerPlace {
    int of_file = 0;
    std::vector<std::pair<int, int64_t>> by;  // sorted by rank: distance
  };
  struct Graph {
    std::string file;
    int owner = 0;
    std::vector<int> ranks;
    std::vector<std::pair<std::string, size_t>> groups;  // group in the file, and the index of its family
    std::vector<PeerPlace> peers;
  };
  struct Family {
    std::string name;
    std::vector<std::string> groups;
    std::vector<std::pair<int, uint32_t>> of_rank;  // sorted by rank: index into `groups`
  };

  std::vector<Graph> graphs_;
  std::vector<Family> families_;
  std::vector<uint32_t> graph_of_;
  std::vector<int> symmetric_to_;
  Groups groups_;
};

}  // namespace chakra
