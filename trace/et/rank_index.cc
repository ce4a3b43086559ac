#include "trace/et/rank_index.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/rank_list.h"
#include "trace/base/status_macros.h"
#include "trace/model/groups.h"

namespace chakra {
namespace {

constexpr int kMostRounds = 256;  // in rings of more ranks, no symmetric ranks are found
constexpr int64_t kMostRanks = int64_t{1} << 22;

template <typename T>
const T* FindRank(const std::vector<std::pair<int, T>>& by_rank, int rank) {
  const auto it = std::lower_bound(by_rank.begin(), by_rank.end(), rank,
                                   [](const std::pair<int, T>& a, int r) { return a.first < r; });
  return it == by_rank.end() || it->first != rank ? nullptr : &it->second;
}

// Sorts by rank. Returns the first rank that is there twice, or -1.
template <typename T>
int SortByRank(std::vector<std::pair<int, T>>* by_rank) {
  std::sort(by_rank->begin(), by_rank->end());
  const auto twice = std::adjacent_find(by_rank->begin(), by_rank->end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  return twice == by_rank->end() ? -1 : twice->first;
}

}  // namespace

class RankIndexReader {
 public:
  RankIndexReader(const proto::RankIndex& from, absl::string_view file) : from_(from), file_(file) {}

  absl::StatusOr<RankIndex> Read() {
    if (from_.ranks() < 1 || from_.ranks() > kMostRanks)
      return Error(absl::StrCat("field ranks is ", from_.ranks(), "; expected 1 to ", kMostRanks));
    ranks_ = static_cast<int>(from_.ranks());
    for (int f = 0; f < from_.family_size(); ++f) {
      RETURN_IF_ERROR(ReadFamily(from_.family(f)));
    }
    // Check the lists first, before allocating memory for ranks that belong to no graph.
    for (int g = 0; g < from_.graph_size(); ++g) {
      RETURN_IF_ERROR(ReadRanksOf(from_.graph(g), g));
    }
    RETURN_IF_ERROR(GiveGraphs());
    for (int g = 0; g < from_.graph_size(); ++g) {
      subject_ = SubjectOf(g);
      RETURN_IF_ERROR(ReadPlaces(from_.graph(g), &out_.graphs_[static_cast<size_t>(g)]));
    }
    FindSymmetric();
    return std::move(out_);
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": ", subject_, subject_.empty() ? "" : ", ", what));
  }
  std::string SubjectOf(int graph) const {
    return absl::StrCat("graph ", graph, " (\"", from_.graph(graph).file(), "\")");
  }

  absl::Status ReadList(const std::string& text, absl::string_view field, std::vector<int>* out) {
    if (absl::Status s = ParseRanks(text, ranks_, out); !s.ok())
      return Error(absl::StrCat("field ", field, ": ", s.message()));
    entries_ += out->size();
    if (entries_ <= kMaxGroupMembers) return absl::OkStatus();
    return Error(
        absl::StrCat("field ", field, ": expected at most ", kMaxGroupMembers, " ranks in all lists"));
  }

  absl::Status ReadFamily(const proto::RankIndex::Family& from) {
    subject_ = absl::StrCat("family \"", from.name(), "\"");
    if (from.name().empty()) return Error("field name is empty; expected the name that graphs use");
    if (!family_of_.try_emplace(from.name(), out_.families_.size()).second)
      return Error("field name: expected each family once");
    RankIndex::Family& family = out_.families_.emplace_back();
    family.name = from.name();
    for (const proto::RankIndex::Group& g : from.group()) {
      const std::string field = absl::StrCat("group \"", g.name(), "\", field ");
      if (g.name().empty()) return Error(absl::StrCat(field, "name: this name always means all ranks"));
      std::vector<int> members;
      RETURN_IF_ERROR(ReadList(g.ranks(), absl::StrCat("ranks of group \"", g.name(), "\""), &members));
      for (const int m : members) family.of_rank.emplace_back(m, static_cast<uint32_t>(family.groups.size()));
      family.groups.push_back(g.name());
      if (!out_.groups_.emplace(g.name(), std::move(members)).second)
        return Error(absl::StrCat(field, "name: expected each group once"));
    }
    if (const int twice = SortByRank(&family.of_rank); twice >= 0)
      return Error(absl::StrCat("rank ", twice, " is listed twice; expected each rank in one group at most"));
    return absl::OkStatus();
  }

  absl::Status ReadRanksOf(const proto::RankIndex::Graph& from, int index) {
    subject_ = SubjectOf(index);
    RankIndex::Graph& graph = out_.graphs_.emplace_back();
    graph.file = from.file();
    if (from.file().empty() || from.file() == "." || from.file() == ".." ||
        from.file().find('/') != std::string::npos || from.file().find('\0') != std::string::npos)
      return Error(
          absl::StrCat("field file is \"", from.file(), "\"; expected the name of a file next to the index"));
    RETURN_IF_ERROR(ReadList(from.ranks(), "ranks", &graph.ranks));
    std::sort(graph.ranks.begin(), graph.ranks.end());
    if (from.rank() < 0 || from.rank() >= ranks_ ||
        !std::binary_search(graph.ranks.begin(), graph.ranks.end(), static_cast<int>(from.rank())))
      return Error(absl::StrCat("field rank is ", from.rank(), "; expected one of its ranks, ",
                                from.ranks().substr(0, 40)));
    graph.owner = static_cast<int>(from.rank());
    return absl::OkStatus();
  }

  // Assigns each rank its graph.
  absl::Status GiveGraphs() {
    constexpr uint32_t kNone = 0xffffffff;
    subject_.clear();
    size_t listed = 0;
    for (const RankIndex::Graph& g : out_.graphs_) listed += g.ranks.size();
    if (listed < static_cast<size_t>(ranks_))
      return Error(
          absl::StrCat("graphs have ", listed, " ranks; expected ", ranks_, ", as field ranks says"));
    out_.graph_of_.assign(static_cast<size_t>(ranks_), kNone);
    for (size_t g = 0; g < out_.graphs_.size(); ++g) {
      for (const int r : out_.graphs_[g].ranks) {
        uint32_t& of = out_.graph_of_[static_cast<size_t>(r)];
        if (of != kNone)
          return Error(absl::StrCat("rank ", r, " is in the ranks of graphs ", of, " and ", g,
                                    "; expected one graph"));
        of = static_cast<uint32_t>(g);
      }
    }
    const auto none = std::find(out_.graph_of_.begin(), out_.graph_of_.end(), kNone);
    if (none == out_.graph_of_.end()) return absl::OkStatus();
    return Error(
        absl::StrCat("rank ", none - out_.graph_of_.begin(), " is in the ranks of no graph; expected one"));
  }

  absl::Status ReadPlaces(const proto::RankIndex::Graph& from, RankIndex::Graph* graph) {
    for (const proto::RankIndex::GroupPlace& place : from.group()) {
      RETURN_IF_ERROR(ReadGroupPlace(place, graph));
    }
    for (const proto::RankIndex::PeerPlace& place : from.peer()) {
      RETURN_IF_ERROR(ReadPeerPlace(place, graph));
    }
    return absl::OkStatus();
  }

  absl::Status ReadGroupPlace(const proto::RankIndex::GroupPlace& from, RankIndex::Graph* graph) {
    const std::string field = absl::StrCat("group \"", from.group(), "\"");
    for (const auto& [name, family] : graph->groups) {
      if (name == from.group()) return Error(absl::StrCat("field ", field, ": expected each group once"));
    }
    const auto it = family_of_.find(from.family());
    if (it == family_of_.end()) {
      std::vector<std::string> names;
      for (const RankIndex::Family& f : out_.families_) names.push_back(f.name);
      return Error(absl::StrCat("field family of ", field, ": there is no family \"", from.family(), "\"",
                                SuggestName(from.family().substr(0, 64), names)));
    }
    const RankIndex::Family& family = out_.families_[it->second];
    for (const int r : graph->ranks) {
      if (FindRank(family.of_rank, r) == nullptr)
        return Error(absl::StrCat("rank ", r, ", field family of ", field, ": no group of family \"",
                                  from.family(), "\" has this rank"));
    }
    const std::string& own = family.groups[*FindRank(family.of_rank, graph->owner)];
    if (own != from.group())
      return Error(absl::StrCat("rank ", graph->owner, ", field ", field, ": expected the group of family \"",
                                from.family(), "\" that has the rank whose trace the file is, \"", own,
                                "\""));
    graph->groups.emplace_back(from.group(), it->second);
    return absl::OkStatus();
  }

  absl::Status ReadPeerPlace(const proto::RankIndex::PeerPlace& from, RankIndex::Graph* graph) {
    const std::string field = absl::StrCat("peer ", from.rank());
    if (from.rank() < 0 || from.rank() >= ranks_)
      return Error(absl::StrCat("field rank of ", field, ": expected 0 to ", ranks_ - 1));
    RankIndex::PeerPlace place;
    place.of_file = static_cast<int>(from.rank());
    if (place.of_file == graph->owner)
      return Error(absl::StrCat("field rank of ", field,
                                ": this is the rank whose trace the file is; expected another"));
    for (const RankIndex::PeerPlace& p : graph->peers) {
      if (p.of_file == place.of_file)
        return Error(absl::StrCat("field ", field, ": expected each rank once"));
    }
    for (const proto::RankIndex::PeerPlace::Distance& d : from.own()) {
      std::vector<int> ranks;
      RETURN_IF_ERROR(ReadList(d.ranks(), absl::StrCat("ranks of ", field), &ranks));
      for (const int r : ranks) {
        if (d.by() < -int64_t{r} || d.by() >= int64_t{ranks_} - r || d.by() == 0)
          return Error(absl::StrCat("rank ", r, ", field by of ", field, " is ", d.by(),
                                    "; expected another rank, 0 to ", ranks_ - 1));
        place.by.emplace_back(r, d.by());
      }
    }
    if (const int twice = SortByRank(&place.by); twice >= 0)
      return Error(absl::StrCat("rank ", twice, ", field ", field, ": expected each rank in one list"));
    for (const int r : graph->ranks) {
      if (FindRank(place.by, r) == nullptr)
        return Error(absl::StrCat("rank ", r, ", field ", field, ": the rank is in no list; expected one"));
    }
    if (const int64_t own = graph->owner + *FindRank(place.by, graph->owner); own != place.of_file)
      return Error(absl::StrCat("rank ", graph->owner, ", field by of ", field, ": leads to rank ", own,
                                "; expected ", place.of_file, ", as in the file"));
    graph->peers.push_back(std::move(place));
    return absl::OkStatus();
  }

  // Finds classes of symmetric ranks. At first, ranks differ by their graphs and distances; then, round by
  // round, by the classes of their partners, until there are no new classes.
  void FindSymmetric() {
    const auto n = static_cast<size_t>(ranks_);
    absl::flat_hash_map<std::vector<int64_t>, int64_t> known;
    std::vector<int64_t> of(n), next(n), key;
    size_t classes = 0;
    for (int round = 0; round < kMostRounds; ++round) {
      known.clear();
      for (size_t r = 0; r < n; ++r) {
        key = {round == 0 ? int64_t{out_.graph_of_[r]} : of[r]};
        for (const RankIndex::PeerPlace& p : out_.graphs_[out_.graph_of_[r]].peers) {
          const int64_t by = *FindRank(p.by, static_cast<int>(r));
          key.push_back(round == 0 ? by : of[static_cast<size_t>(static_cast<int64_t>(r) + by)]);
        }
        next[r] = known.try_emplace(key, static_cast<int64_t>(r)).first->second;  // first rank of its class
      }
      of.swap(next);
      if (known.size() == classes) break;
      classes = known.size();
      if (round + 1 == kMostRounds) std::iota(of.begin(), of.end(), int64_t{0});
    }
    out_.symmetric_to_.assign(of.begin(), of.end());
  }

  const proto::RankIndex& from_;
  const absl::string_view file_;
  RankIndex out_;
  int ranks_ = 0;
  uint64_t entries_ = 0;
  std::string subject_;  // the part of the index that is being read, for messages
  absl::flat_hash_map<std::string, size_t> family_of_;
};

absl::StatusOr<RankIndex> RankIndex::Make(const proto::RankIndex& index, absl::string_view file) {
  return RankIndexReader(index, file).Read();
}

const std::string& RankIndex::GroupFor(int rank, absl::string_view of_file) const {
  static const std::string all;
  for (const auto& [name, family] : graphs_[GraphOf(rank)].groups) {
    if (name == of_file) return families_[family].groups[*FindRank(families_[family].of_rank, rank)];
  }
  return all;
}

int RankIndex::RankFor(int rank, int of_file) const {
  const Graph& graph = graphs_[GraphOf(rank)];
  if (of_file == graph.owner) return rank;
  for (const PeerPlace& p : graph.peers) {
    if (p.of_file == of_file) return static_cast<int>(rank + *FindRank(p.by, rank));
  }
  return kNoRank;
}

absl::Status RankIndex::Covers(size_t graph, const RankTrace& trace) const {
  const Graph& g = graphs_[graph];
  const auto error = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat(trace.file, ": rank ", trace.rank, ": the trace names ",
                                                   what..., ", but the index gives no replacement for graph ",
                                                   graph));
  };
  for (const std::string& name : trace.group_names) {
    if (name.empty()) continue;
    if (std::none_of(g.groups.begin(), g.groups.end(),
                     [&](const auto& place) { return place.first == name; }))
      return error("group \"", name, "\"");
  }
  absl::flat_hash_set<int> known = {kNoRank, g.owner};
  for (const PeerPlace& p : g.peers) known.insert(p.of_file);
  for (const Peer& p : trace.peers) {
    for (const int other : {p.src, p.dst, p.root}) {
      if (!known.contains(other)) return error("rank ", other);
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra
