// Which ranks of a folder replay which file, and whom they communicate with (proto/rank_index.proto).
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

// What an index is named, after the prefix of its traces.
inline constexpr char kRankIndexEnding[] = ".ranks.json";

// An index without contradictions. Immutable.
class RankIndex {
 public:
  // Errors (InvalidArgument) begin with `file`, the index, and name the graph, family or rank and the field:
  // a rank that no graph or two graphs have, a group that stands for none, lists that are none, names that
  // are given twice, ranks out of range, a file that is not beside the index, more than kMaxGroupMembers
  // entries in all lists.
  static absl::StatusOr<RankIndex> Make(const proto::RankIndex& index, absl::string_view file);

  int ranks() const { return static_cast<int>(graph_of_.size()); }
  size_t graphs() const { return graphs_.size(); }
  // The name of a graph's file, and the rank whose trace the file is.
  const std::string& FileOf(size_t graph) const { return graphs_[graph].file; }
  int OwnerOf(size_t graph) const { return graphs_[graph].owner; }
  size_t GraphOf(int rank) const { return graph_of_[static_cast<size_t>(rank)]; }
  const Groups& groups() const { return groups_; }

  // What `rank` names in place of a group or of a rank that the file of its graph names.
  const std::string& GroupFor(int rank, absl::string_view of_file) const;
  int RankFor(int rank, int of_file) const;
  // The first rank of the graph whose messages go to and come from ranks at the same distances, which do the same as
  // each other too.
  int TwinOf(int rank) const { return twin_of_[static_cast<size_t>(rank)]; }

  // Whether the index says what stands in place of all groups and ranks that the file of a graph names.
  // Errors name the file, its rank and what is missing.
  absl::Status Covers(size_t graph, const RankTrace& trace) const;

 private:
  friend class RankIndexReader;
  struct PeerPlace {
    int of_file = 0;
    std::vector<std::pair<int, int64_t>> by;  // by rank
  };
  struct Graph {
    std::string file;
    int owner = 0;
    std::vector<int> ranks;
    std::vector<std::pair<std::string, size_t>> groups;  // of the file, and its family
    std::vector<PeerPlace> peers;
  };
  struct Family {
    std::string name;
    std::vector<std::string> groups;
    std::vector<std::pair<int, uint32_t>> of_rank;  // by rank: an index into `groups`
  };

  std::vector<Graph> graphs_;
  std::vector<Family> families_;
  std::vector<uint32_t> graph_of_;
  std::vector<int> twin_of_;
  Groups groups_;
};

}  // namespace chakra
