#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

// Copies an iteration, one copy after another. On recorded lanes, a copy follows the previous copy as the
// iteration followed the rows before it; without lanes, a copy starts when the previous copy has ended.
class RepeatEdit : public Operation {
 public:
  explicit RepeatEdit(const proto::Repeat& spec) : spec_(spec) {}

  absl::Status Apply(Draft* draft, const std::vector<uint32_t>&, Tally* tally) const override {
    Range range;
    RETURN_IF_ERROR(FindRange(draft, &range));
    RETURN_IF_ERROR(SortRecorded(draft, &range.rows));
    const size_t n = range.rows.size();
    Time begin = Time::Never(), end;
    for (const uint32_t r : range.rows) {
      begin = std::min(begin, draft->row(r).start);
      end = std::max(end, draft->row(r).start + draft->row(r).duration);
    }
    const Time period = end - begin;
    const uint32_t original = draft->size();
    std::vector<uint32_t> last = range.rows;  // newest copy of each row
    for (int k = 1; k < spec_.times(); ++k) {
      std::vector<uint32_t> copies(n);
      for (size_t i = 0; i < n; ++i) {
        copies[i] = draft->Clone(range.rows[i]);
        if (period > Time::Zero()) draft->SetStart(copies[i], draft->row(range.rows[i]).start + period * k);
      }
      Connect(draft, range.rows, last, copies, tally);
      if (!range.step.empty())
        draft->AddStep(absl::StrCat(range.step, " (again, ", k, ")"), copies.front(), copies.back());
      last = copies;
      tally->added += n;
    }
    Follow(draft, range.rows, last, original, end, period * (spec_.times() - 1));
    return absl::OkStatus();
  }

 private:
  struct Range {
    std::vector<uint32_t> rows;
    std::string step;  // name of the capture's step
  };

  absl::Status FindRange(Draft* draft, Range* out) const {
    if (spec_.iteration().empty()) {
      for (uint32_t r = 0; r < draft->size(); ++r) {
        if (!draft->row(r).removed && draft->row(r).works()) out->rows.push_back(r);
      }
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Iterations found, FindIterations(draft));
    absl::StatusOr<Interval> wanted = ParseIteration(spec_.iteration(), found.rows.size());
    if (!wanted.ok())
      return absl::InvalidArgumentError(absl::StrCat(draft->file(), ": rank ", draft->rank(),
                                                     ", repeat.iteration: ", wanted.status().message()));
    for (int64_t i = wanted->first; i <= wanted->last; ++i) {
      const std::vector<uint32_t>& rows = found.rows[static_cast<size_t>(i)];
      out->rows.insert(out->rows.end(), rows.begin(), rows.end());
    }
    if (found.marked) out->step = found.names[static_cast<size_t>(wanted->first)];
    return absl::OkStatus();
  }

  static void Connect(Draft* draft, const std::vector<uint32_t>& rows, const std::vector<uint32_t>& before,
                      const std::vector<uint32_t>& copies, Tally* tally) {
    absl::flat_hash_map<uint32_t, uint32_t> copy_of;
    absl::flat_hash_map<uint64_t, uint32_t> lane_end;  // by lane: last row of the previous copy
    std::vector<uint32_t> leaves;
    for (size_t i = 0; i < rows.size(); ++i) copy_of[rows[i]] = copies[i];
    for (size_t i = 0; i < rows.size(); ++i) {
      if (draft->row(rows[i]).lane != kNoLane) lane_end[draft->LaneKey(rows[i])] = before[i];
      const auto& children = draft->children(rows[i]);
      if (std::none_of(children.begin(), children.end(), [&](uint32_t c) { return copy_of.contains(c); }))
        leaves.push_back(before[i]);
    }
    absl::flat_hash_map<uint64_t, bool> begun;
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t r = rows[i], copy = copies[i];
      draft->KeepCaller(r, copy, copy_of);
      bool internal = false;
      Dep gap;  // gap on the lane between the iteration and the row before it
      for (const Dep& d : Deps(draft->deps(r))) {
        if (d.row == kNoRow) continue;
        const auto it = copy_of.find(d.row);
        if (it != copy_of.end()) {
          draft->AddDep(copy, it->second, d);
          internal = true;
        } else if (draft->row(d.row).works()) {
          gap.TakeLonger(AfterEnd(d, draft->row(d.row).duration), Time::Zero());
        }
      }
      const uint64_t lane = draft->LaneKey(r);
      if (draft->row(r).lane != kNoLane) {
        gap.kind = draft->row(r).cpu() ? "thread" : "stream";
        if (begun.emplace(lane, true).second) draft->AddDep(copy, lane_end[lane], gap);
      } else if (!internal) {
        for (const uint32_t leaf : leaves) draft->AddDep(copy, leaf, false);
        tally->notes.insert(
            "nodes without a recorded lane that depend on nothing in the iteration wait for the end of the "
            "copy before");
      }
    }
  }

  // Makes the rows that followed the iteration follow its last copy.
  static void Follow(Draft* draft, const std::vector<uint32_t>& rows, const std::vector<uint32_t>& last,
                     uint32_t original, Time end, Time shift) {
    std::vector<bool> in(draft->size());
    for (const uint32_t r : rows) in[r] = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto children = draft->children(rows[i]);
      for (const uint32_t child : children) {
        if (child >= original || in[child]) continue;
        for (const Dep& d : Deps(draft->deps(child))) {
          if (d.row != rows[i]) continue;
          draft->DropDep(child, rows[i]);
          draft->AddDep(child, last[i], d);
        }
      }
    }
    if (shift == Time::Zero()) return;
    for (uint32_t r = 0; r < original; ++r) {
      if (!in[r] && !draft->row(r).removed && draft->row(r).start >= end)
        draft->SetStart(r, draft->row(r).start + shift);
    }
  }

  const proto::Repeat spec_;
};

}  // namespace

absl::StatusOr<AnyOperation> MakeRepeat(const proto::Edit& edit, const std::string& where) {
  const proto::Repeat& spec = edit.repeat();
  if (spec.times() < 2 || spec.times() > 100000)
    return BadField(where, "times", absl::StrCat(spec.times(), ", expected 2 to 100000"));
  if (!spec.iteration().empty()) {
    const auto parsed = ParseIteration(spec.iteration(), SIZE_MAX);
    if (!parsed.ok()) return BadField(where, "iteration", parsed.status().message());
  }
  return OnRank<RepeatEdit>(spec);
}

}  // namespace chakra::edit
