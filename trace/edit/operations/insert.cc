#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "trace/base/status_macros.h"
#include "trace/edit/lane_order.h"
#include "trace/edit/lane_places.h"
#include "trace/edit/operation.h"
#include "trace/edit/run_joiner.h"
#include "trace/edit/work_places.h"

namespace chakra::edit {
namespace {

bool AnyNamesOthers(const std::vector<NodeSpec>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const NodeSpec& n) { return NamesOthers(n); });
}

absl::Status CheckNodes(const std::vector<NodeSpec>& nodes, const SetShape& shape, const std::string& where) {
  for (const NodeSpec& n : nodes) {
    RETURN_IF_ERROR(CheckInSet(n, shape, where));
  }
  return absl::OkStatus();
}

std::vector<uint32_t> MakeChain(Draft* draft, const std::vector<NodeSpec>& specs, uint32_t anchor,
                                Time start) {
  std::vector<uint32_t> chain;
  for (const NodeSpec& spec : specs) {
    const uint32_t r = AddNode(draft, spec, anchor, start);
    if (!chain.empty()) draft->AddDep(r, chain.back(), true);
    start += spec.row.duration;
    chain.push_back(r);
  }
  return chain;
}

// Places a chain in the order: its first row right after `behind`; if `behind` is kNoRow, its last row right
// before `before`.
void PutChain(LaneOrder* order, const std::vector<uint32_t>& chain, uint32_t behind, uint32_t before) {
  if (behind != kNoRow) {
    order->After(chain[0], behind);
  } else {
    order->Before(chain[0], before);
  }
  for (size_t i = 1; i < chain.size(); ++i) order->After(chain[i], chain[i - 1]);
}

class InsertEdit : public Operation {
 public:
  InsertEdit(const proto::Insert& spec, std::vector<NodeSpec> nodes)
      : spec_(spec), nodes_(std::move(nodes)) {}
  bool needs_shape() const override { return AnyNamesOthers(nodes_); }
  absl::Status Check(const SetShape& shape, const std::string& where) const override {
    return CheckNodes(nodes_, shape, where);
  }

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    std::vector<uint32_t> anchors = matches;
    RETURN_IF_ERROR(SortRecorded(draft, &anchors));
    if (spec_.times() == proto::Insert::FIRST) anchors.resize(1);
    if (spec_.times() == proto::Insert::LAST) anchors = {anchors.back()};
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    for (const uint32_t anchor : anchors) {
      const Row row = draft->row(anchor);
      const bool after = spec_.where() == proto::Insert::AFTER;
      const std::vector<uint32_t> chain =
          MakeChain(draft, nodes_, anchor, after ? row.start + row.duration : row.start);
      if (after) {
        if (!spec_.aside()) draft->MoveChildren(anchor, chain.back());
        draft->AddDep(chain.front(), anchor, true);
      } else {
        for (const Dep& d : Deps(draft->deps(anchor))) {
          if (d.row != kNoRow) draft->AddDep(chain.front(), d.row, OfEdit(d));
        }
        if (spec_.where() == proto::Insert::BEFORE) {
          draft->AddDep(anchor, chain.back(), true);
        } else {
          const auto children = draft->children(anchor);
          for (const uint32_t child : children) {
            if (draft->AtEnd(draft->DepOn(child, anchor))) draft->AddDep(child, chain.back(), true);
          }
        }
      }
      PutChain(&order, chain, after ? anchor : kNoRow, anchor);
      tally->added += chain.size();
    }
    return order.Keep(tally);
  }

 private:
  const proto::Insert spec_;
  const std::vector<NodeSpec> nodes_;
};

class ReplaceEdit : public Operation {
 public:
  ReplaceEdit(const proto::Replace& spec, std::vector<NodeSpec> nodes)
      : runs_(spec.runs()), nodes_(std::move(nodes)) {}
  bool needs_shape() const override { return AnyNamesOthers(nodes_); }
  absl::Status Check(const SetShape& shape, const std::string& where) const override {
    return CheckNodes(nodes_, shape, where);
  }

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    std::vector<uint32_t> rows = matches;
    RETURN_IF_ERROR(SortRecorded(draft, &rows));
    ASSIGN_OR_RETURN(LanePlaces places, LanePlaces::Make(draft));
    ASSIGN_OR_RETURN(LaneOrder order, LaneOrder::Make(draft));
    const bool ordered = runs_ ? ReplaceRuns(draft, places, rows, &order, tally)
                               : ReplaceGroup(draft, &order, rows, tally).fits;
    if (ordered) return order.Keep(tally);
    tally->notes.insert(
        "nodes that depend on a match were recorded before nodes that a match depends on: lanes may run in "
        "another order");
    return absl::OkStatus();
  }

 private:
  struct Replaced {
    std::vector<uint32_t> chain;
    // Whether there is a position in recorded order that is after all dependencies of the chain and before
    // all rows that depend on the chain.
    bool fits = true;
  };

  // Returns false if a chain does not fit.
  bool ReplaceRuns(Draft* draft, const LanePlaces& places, const std::vector<uint32_t>& rows,
                   LaneOrder* order, Tally* tally) const {
    std::vector<bool> in(draft->size());
    for (const uint32_t r : rows) in[r] = true;
    RunJoiner joiner(draft, places);
    bool fit = true;
    for (const uint32_t r : rows) {
      if (places.previous(r) != kNoRow && in[places.previous(r)])
        continue;  // r is not the first row of its run
      for (uint32_t at = r; at != kNoRow && in[at];) {
        joiner.Begin(at);
        for (at = places.next(at); at != kNoRow && in[at] && !joiner.DependsThrough(at); at = places.next(at))
          joiner.Add(at);
        if (at != kNoRow && in[at]) tally->notes.insert(kClosedRuns);
        const Replaced made = ReplaceGroup(draft, order, joiner.group(), tally);
        joiner.Became(made.chain);
        fit = fit && made.fits;
      }
    }
    return fit;
  }

  Replaced ReplaceGroup(Draft* draft, LaneOrder* order, const std::vector<uint32_t>& group,
                        Tally* tally) const {
    const absl::flat_hash_set<uint32_t> in(group.begin(), group.end());
    const std::vector<uint32_t> chain =
        MakeChain(draft, nodes_, group.front(), draft->row(group.front()).start);
    for (const uint32_t r : group) {
      for (const Dep& d : Deps(draft->deps(r))) {
        if (d.row != kNoRow && !in.contains(d.row)) draft->AddDep(chain.front(), d.row, d);
      }
    }
    std::vector<Row> before, after;
    for (const uint32_t r : group) before.push_back(draft->row(r));
    for (const uint32_t r : chain) after.push_back(draft->row(r));
    const WorkPlaces places(before, after);
    for (size_t i = 0; i < group.size(); ++i) MoveChildrenTo(draft, places, i, group[i], chain);
    for (const uint32_t r : group) draft->Remove(r, chain.front());
    uint32_t behind = order->LastDep(chain.front());
    if (behind != kNoRow && order->Earlier(behind, group.front())) behind = kNoRow;
    uint32_t child = order->FirstChild(chain.back());
    for (size_t i = 0; i + 1 < chain.size(); ++i) {  // rows that the chain releases before its end
      for (const uint32_t c : draft->children(chain[i])) {
        if (c != chain[i + 1] && (child == kNoRow || order->Earlier(c, child))) child = c;
      }
    }
    const bool fits = behind == kNoRow || child == kNoRow || order->Earlier(behind, child);
    PutChain(order, chain, behind, group.front());
    tally->added += chain.size();
    tally->removed += group.size();
    return {chain, fits};
  }

  const bool runs_;
  const std::vector<NodeSpec> nodes_;
};

template <typename Nodes>
absl::StatusOr<std::vector<NodeSpec>> ReadSpecs(const Nodes& nodes, const std::string& where) {
  if (nodes.empty()) return BadField(where, "node", "absent, expected at least one");
  std::vector<NodeSpec> out;
  for (const proto::NewNode& n : nodes) {
    ASSIGN_OR_RETURN(NodeSpec spec, ReadNodeSpec(n, where));
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace

absl::StatusOr<AnyOperation> MakeInsert(const proto::Edit& edit, const std::string& where) {
  ASSIGN_OR_RETURN(std::vector<NodeSpec> nodes, ReadSpecs(edit.insert().node(), where));
  if (edit.insert().aside() && edit.insert().where() != proto::Insert::AFTER)
    return BadField(where, "aside", "given; expected only for nodes AFTER the matches");
  return OnRank<InsertEdit>(edit.insert(), std::move(nodes));
}

absl::StatusOr<AnyOperation> MakeReplace(const proto::Edit& edit, const std::string& where) {
  ASSIGN_OR_RETURN(std::vector<NodeSpec> nodes, ReadSpecs(edit.replace().node(), where));
  return OnRank<ReplaceEdit>(edit.replace(), std::move(nodes));
}

}  // namespace chakra::edit
