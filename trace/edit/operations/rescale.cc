// Changes the width of data or tensor parallelism: more or fewer ranks along one dimension of the groups.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

// The groups along a dimension: disjoint, with equal distances between their members, and together with all
// ranks.
struct Family {
  std::vector<std::string> names;
  std::vector<std::vector<int>> members;
};

// Returns the distances of the members from the first member; equal for all groups of a family.
std::vector<int> Strides(const std::vector<int>& members) {
  std::vector<int> out;
  for (const int m : members) out.push_back(m - members.front());
  return out;
}

std::vector<Family> Families(const SetShape& set) {
  std::map<std::vector<int>, Family> by_pattern;
  for (const auto& [name, members] : set.groups) {
    if (members.size() < 2) continue;
    Family& f = by_pattern[Strides(members)];
    f.names.push_back(name);
    f.members.push_back(members);
  }
  std::vector<Family> out;
  for (auto& [pattern, f] : by_pattern) {
    std::vector<int> seen(static_cast<size_t>(set.ranks));
    size_t count = 0;
    bool once = true;
    Family distinct;
    for (size_t g = 0; g < f.names.size(); ++g) {
      // Count several groups with the same ranks once.
      if (std::find(distinct.members.begin(), distinct.members.end(), f.members[g]) != distinct.members.end())
        continue;
      distinct.names.push_back(f.names[g]);
      distinct.members.push_back(f.members[g]);
      for (const int m : f.members[g])
        once = once && m >= 0 && m < set.ranks && ++seen[static_cast<size_t>(m)] == 1;
      count += f.members[g].size();
    }
    if (once && count == static_cast<size_t>(set.ranks)) out.push_back(std::move(distinct));
  }
  return out;
}

std::string Describe(const std::vector<Family>& families) {
  std::vector<std::string> parts;
  for (const Family& f : families) {
    parts.push_back(absl::StrCat(f.names.size(), " of ", f.members[0].size(), " ranks, as \"", f.names[0],
                                 "\" (", absl::StrJoin(f.members[0], ", ").substr(0, 40), ")"));
  }
  return absl::StrJoin(parts, "; ");
}

// The position of each rank: its group in the family (coordinate), and its place in this group.
struct Grid {
  int width = 0, stride = 0;  // stride: distance of rank numbers along the dimension; 0: not constant
  std::vector<int> coordinate, place;  // by rank
  std::vector<std::vector<int>> members;

  // Returns the new rank number. It keeps the order of dimensions if the old numbers have a stride.
  int Number(int coordinate_of, int place_of, int new_width) const {
    if (stride > 0) {
      const int first = members[static_cast<size_t>(coordinate_of)].front();
      const int inner = first % stride, outer = first / (stride * width);
      return inner + stride * (place_of + new_width * outer);
    }
    return place_of * static_cast<int>(members.size()) + coordinate_of;
  }
};

Grid MakeGrid(const SetShape& set, const Family& family) {
  Grid g;
  g.members = family.members;
  g.width = static_cast<int>(family.members[0].size());
  g.coordinate.resize(static_cast<size_t>(set.ranks));
  g.place.resize(static_cast<size_t>(set.ranks));
  const std::vector<int>& first = family.members[0];
  g.stride = first[1] - first[0];
  for (size_t c = 0; c < g.members.size(); ++c) {
    for (size_t p = 0; p < g.members[c].size(); ++p) {
      const auto rank = static_cast<size_t>(g.members[c][p]);
      g.coordinate[rank] = static_cast<int>(c);
      g.place[rank] = static_cast<int>(p);
      const int at = g.members[c].front() + static_cast<int>(p) * g.stride;
      if (g.stride < 1 || at != g.members[c][p] || g.members[c].front() / g.stride % g.width != 0)
        g.stride = -1;
    }
  }
  g.stride = std::max(g.stride, 0);
  return g;
}

class RescaleEdit : public SetOperation {
 public:
  explicit RescaleEdit(const proto::Rescale& spec) : spec_(spec) {}

  absl::Status Reshape(const SetShape& before, SetShape* after, std::vector<int>* source,
                       std::set<std::string>* notes) const override {
    ASSIGN_OR_RETURN(Family family, Choose(before));
    const Grid grid = MakeGrid(before, family);
    constexpr uint64_t kMostRanks = 65536, kMostMembers = uint64_t{1} << 22;
    uint64_t members = 0;
    for (const auto& [name, ranks] : before.groups) members += ranks.size();
    if (grid.members.size() * static_cast<uint64_t>(spec_.to()) > kMostRanks ||
        members * static_cast<uint64_t>(spec_.to()) > kMostMembers * static_cast<uint64_t>(grid.width)) {
      return absl::InvalidArgumentError(absl::StrCat("to: ", spec_.to(), " for each of ", grid.members.size(),
                                                     " groups, expected at most ", kMostRanks, " ranks and ",
                                                     kMostMembers, " members of groups in all"));
    }
    after->ranks = static_cast<int>(grid.members.size()) * spec_.to();
    source->assign(static_cast<size_t>(after->ranks), -1);
    for (size_t c = 0; c < grid.members.size(); ++c) {
      for (int p = 0; p < spec_.to(); ++p) {
        (*source)[static_cast<size_t>(grid.Number(static_cast<int>(c), p, spec_.to()))] =
            grid.members[c][static_cast<size_t>(p % grid.width)];
      }
    }
    after->groups.clear();
    for (const auto& [name, members] : before.groups) {
      RETURN_IF_ERROR(AddGroup(name, members, grid, after));
    }
    Explain(grid, after->ranks, notes);
    return absl::OkStatus();
  }

  absl::Status Apply(Draft* draft, int rank, const SetShape& before, const SetShape&,
                     Tally* tally) const override {
    ASSIGN_OR_RETURN(Family family, Choose(before));
    const Grid grid = MakeGrid(before, family);
    const auto old = static_cast<size_t>(draft->rank());
    int place = 0;
    while (place < spec_.to() && grid.Number(grid.coordinate[old], place, spec_.to()) != rank) ++place;
    for (uint32_t r = 0; r < draft->size(); ++r) {
      const Row& row = draft->row(r);
      if (row.removed || !row.works()) continue;
      if (row.is_comm()) {
        RETURN_IF_ERROR(EditComm(draft, r, grid, place, before));
      } else if (row.type == NodeType::kComp && !row.kept_comm() && WorkFactor(grid) != 1) {
        ScaleWork(draft, r, WorkFactor(grid), tally);
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Family> Choose(const SetShape& set) const {
    std::vector<Family> families = Families(set);
    if (spec_.groups().empty()) {
      if (families.size() == 1) return families[0];
      if (families.empty() && set.groups.empty()) {
        Family world;
        world.names = {""};
        world.members.emplace_back();
        for (int r = 0; r < set.ranks; ++r) world.members[0].push_back(r);
        if (set.ranks > 1) return world;
      }
      if (set.ranks == 1) return OneTrace();
      return absl::InvalidArgumentError(
          absl::StrCat("groups: absent, and the traces do not show the dimension; expected the name of one "
                       "group along the dimension",
                       families.empty() ? "" : absl::StrCat(" (there are ", Describe(families), ")")));
    }
    for (const Family& f : families) {
      const bool all =
          std::all_of(spec_.groups().begin(), spec_.groups().end(), [&](const std::string& name) {
            const auto it = set.groups.find(name);
            return it != set.groups.end() &&
                   std::find(f.members.begin(), f.members.end(), it->second) != f.members.end();
          });
      if (all) return f;
    }
    if (set.ranks == 1) return OneTrace();
    return absl::InvalidArgumentError(
        absl::StrCat("groups: ", absl::StrJoin(spec_.groups(), ", "),
                     ": not a dimension, expected groups with equal distances that together have all ranks",
                     families.empty() ? "" : absl::StrCat(" (there are ", Describe(families), ")")));
  }

  static absl::Status OneTrace() {
    return absl::InvalidArgumentError(
        "one trace has no other ranks along a dimension; expected the traces of all ranks, or a replay with "
        "--ranks N, which makes N ranks from it (with --replicas GROUP=M, which names the group that grows)");
  }

  static std::string CopyName(const std::string& name, int copy) {
    return copy == 0 ? name : absl::StrCat(name, ":", copy);
  }

  // Copies a group within one place of the dimension for each new place; widens a group over all places.
  absl::Status AddGroup(const std::string& name, const std::vector<int>& members, const Grid& grid,
                        SetShape* after) const {
    std::map<int, std::vector<int>> by_place;  // coordinates, in the order of the members
    for (const int m : members) {
      const auto rank = static_cast<size_t>(m);
      if (m < 0 || rank >= grid.place.size())
        return absl::InvalidArgumentError(
            absl::StrCat("group \"", name, "\" has rank ", m, ", which is not in the traces"));
      by_place[grid.place[rank]].push_back(grid.coordinate[rank]);
    }
    if (by_place.size() == 1) {
      const int home = by_place.begin()->first;
      for (int p = home; p < spec_.to(); p += grid.width) {
        std::vector<int> copy;
        for (const int c : by_place.begin()->second) copy.push_back(grid.Number(c, p, spec_.to()));
        after->groups[CopyName(name, p / grid.width)] = copy;
      }
      return absl::OkStatus();
    }
    for (const auto& [p, coordinates] : by_place) {
      auto sorted = coordinates, first = by_place.begin()->second;
      std::sort(sorted.begin(), sorted.end());
      std::sort(first.begin(), first.end());
      if (static_cast<int>(by_place.size()) != grid.width || sorted != first) {
        return absl::InvalidArgumentError(absl::StrCat(
            "group \"", name, "\" has some places of the dimension, expected one or all ", grid.width));
      }
    }
    std::vector<int> wide;
    for (int p = 0; p < spec_.to(); ++p) {
      for (const int c : by_place.begin()->second) wide.push_back(grid.Number(c, p, spec_.to()));
    }
    // Members stay ascending by rank if they were ascending before.
    if (std::is_sorted(members.begin(), members.end())) std::sort(wide.begin(), wide.end());
    after->groups[name] = wide;
    return absl::OkStatus();
  }

  double Ratio(const Grid& grid) const { return static_cast<double>(grid.width) / spec_.to(); }
  // The factor for computation, and for messages between ranks at the same place of the data dimension.
  double WorkFactor(const Grid& grid) const {
    return spec_.dimension() == proto::Rescale::TENSOR || spec_.keep_global_batch() ? Ratio(grid) : 1;
  }

  static void ScaleWork(Draft* draft, uint32_t r, double factor, Tally* tally) {
    const Row row = draft->row(r);
    if (row.cpu()) {
      tally->Leave("operations of the host");
      return;
    }
    if (row.duration > Time::Zero())
      draft->SetDuration(r, FromMicros(static_cast<double>(row.duration.picos()) * 1e-6 * factor));
    if (row.work.has_num_ops)
      draft->SetOperations(r, std::llround(static_cast<double>(row.work.num_ops) * factor));
    if (row.work.has_tensor_bytes)
      draft->SetBytes(
          r, static_cast<uint64_t>(std::llround(static_cast<double>(row.work.tensor_bytes) * factor)));
  }

  // Whether the group is along the dimension, that is, has ranks at different places.
  static bool Along(const std::vector<int>& members, const Grid& grid) {
    return std::any_of(members.begin(), members.end(), [&](int m) {
      return grid.place[static_cast<size_t>(m)] != grid.place[static_cast<size_t>(members.front())];
    });
  }

  absl::Status EditComm(Draft* draft, uint32_t r, const Grid& grid, int place, const SetShape& before) const {
    const Row row = draft->row(r);
    const auto group = before.groups.find(std::string(row.group));
    const bool world = group == before.groups.end();
    const bool along = row.type == NodeType::kCollective && (world || Along(group->second, grid));
    if (!world && !along && row.type == NodeType::kCollective && place >= grid.width)
      draft->SetGroup(r, CopyName(std::string(row.group), place / grid.width));
    Peer peer = row.peer;
    for (int32_t* p : {&peer.src, &peer.dst, &peer.root}) {
      if (*p == kNoRank) continue;
      const auto rank = static_cast<size_t>(*p);
      if (*p < 0 || rank >= grid.place.size())
        return draft->Error(r, absl::StrCat("rank ", *p, " is not in the traces"));
      // A peer at the same place stays at the rank's place. A peer at another place keeps its place number,
      // or gets the last place if this number no longer exists.
      const bool same = grid.place[rank] == grid.place[static_cast<size_t>(draft->rank())];
      if (!same && row.type != NodeType::kCollective)
        return draft->Error(
            r, "rescale: a message between two places of the dimension, expected collectives there");
      *p = grid.Number(grid.coordinate[rank], same ? place : std::min(grid.place[rank], spec_.to() - 1),
                       spec_.to());
    }
    draft->SetPeer(r, peer);
    double factor = 1;
    if (along) {
      // comm_size is the size of the input buffer: one shard in an all-gather, all data in other collectives.
      const auto type = static_cast<CollectiveType>(row.comm.type);
      if (type == CollectiveType::kAllGather || type == CollectiveType::kGather) factor = Ratio(grid);
    } else if (spec_.dimension() == proto::Rescale::TENSOR || spec_.keep_global_batch()) {
      factor = Ratio(grid);
    }
    if (factor != 1 && row.bytes() > 0)
      draft->SetBytes(r, static_cast<uint64_t>(std::llround(static_cast<double>(row.bytes()) * factor)));
    return absl::OkStatus();
  }

  void Explain(const Grid& grid, int ranks, std::set<std::string>* notes) const {
    const bool data = spec_.dimension() == proto::Rescale::DATA;
    notes->insert(absl::StrCat(
        "dimension: ", grid.members.size(), " groups of ", grid.width, " become groups of ", spec_.to(), ", ",
        ranks, " ranks in all; rank numbers ",
        grid.stride > 0 ? absl::StrCat("keep the stride ", grid.stride) : "are in the order of places"));
    notes->insert("new ranks repeat the ranks whose places they copy, with the same times");
    notes->insert(
        "along the dimension: shards of all-gathers are multiplied by old / new; other collectives keep "
        "their bytes");
    if (data && !spec_.keep_global_batch())
      notes->insert("the batch of each replica stays: computation and all other communication do not change");
    if (data && spec_.keep_global_batch()) {
      notes->insert(
          "the global batch stays: device computation and communication within a replica, the optimizer "
          "included, are multiplied by old / new; kernels are assumed to be as efficient with less work");
    }
    if (!data) {
      notes->insert(
          "device computation and communication of other dimensions are multiplied by old / new, also "
          "operators that are not sharded (norms, dropout); kernels are assumed to be as efficient with less "
          "work");
    }
    notes->insert("messages, tags and lanes do not change; memory is not checked");
  }

  const proto::Rescale spec_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeRescale(const proto::Edit& edit, const std::string& where) {
  const proto::Rescale& spec = edit.rescale();
  if (spec.to() < 1 || spec.to() > 1 << 20)
    return BadField(where, "to",
                    absl::StrCat(spec.to(), ", expected 1 to 1048576 ranks along the dimension"));
  if (spec.keep_global_batch() && spec.dimension() != proto::Rescale::DATA)
    return BadField(where, "keep_global_batch", "given; expected only with dimension: DATA");
  return OnSet<RescaleEdit>(spec);
}

}  // namespace chakra::edit
