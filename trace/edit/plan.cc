#include "trace/edit/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/model/capture_info.h"
#include "trace/model/groups.h"

namespace chakra::edit {
namespace {

constexpr size_t kSomeNames = 4096;

std::vector<std::string> ReadStrings(absl::string_view body, absl::string_view name) {
  std::vector<std::string> out;
  Attribute a;
  if (!FindAttribute(body, kMetadataAttr, name, &a)) return out;
  if (a.value.number != static_cast<uint32_t>(ValueField::kStringList)) return out;
  wire::Cursor c = a.value.message();
  wire::Field f;
  while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
    if (f.number == kListValues && f.type == wire::kBytes) out.emplace_back(f.text());
  }
  return out;
}

// Makes the capture's steps begin and end with nodes that still exist, and adds the steps that edits added.
absl::Status KeepSteps(Draft* draft, std::string* metadata) {
  ASSIGN_OR_RETURN(std::optional<CaptureInfo> info, ReadCaptureInfo(draft->trace()));
  if (!info.has_value() || info->steps.empty()) return absl::OkStatus();
  const Column<uint32_t>& order = draft->trace().graph->order;
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  bool moved = false;
  std::vector<std::string> names;
  std::vector<int64_t> first, last;
  for (const CaptureInfo::Step& step : info->steps) {
    uint32_t a = place[step.first], b = place[step.last];
    const auto ends = [&](uint32_t i) { return draft->row(order[i]).start + draft->row(order[i]).duration; };
    if (draft->row(order[a]).removed || draft->row(order[b]).removed ||
        ends(b) < draft->row(order[a]).start) {
      moved = true;
      uint32_t earliest = kNoRow, latest = kNoRow;
      for (uint32_t i = a; i <= b; ++i) {
        const Row& row = draft->row(order[i]);
        if (row.removed) continue;
        if (earliest == kNoRow || row.start < draft->row(order[earliest]).start) earliest = i;
        if (latest == kNoRow || ends(latest) < ends(i)) latest = i;
      }
      if (earliest == kNoRow) continue;
      a = earliest;
      b = latest;
    }
    names.push_back(step.name);
    first.push_back(static_cast<int64_t>(draft->row(order[a]).id));
    last.push_back(static_cast<int64_t>(draft->row(order[b]).id));
  }
  for (const Draft::Step& step : draft->added_steps()) {
    if (draft->row(step.first).removed || draft->row(step.last).removed) continue;
    names.push_back(step.name);
    first.push_back(static_cast<int64_t>(draft->row(step.first).id));
    last.push_back(static_cast<int64_t>(draft->row(step.last).id));
    moved = true;
  }
  if (!moved) return absl::OkStatus();
  *metadata = WithStrings(*metadata, kMetadataAttr, "step_names", names);
  *metadata = WithIntegers(*metadata, kMetadataAttr, "step_first_nodes", first);
  *metadata = WithIntegers(*metadata, kMetadataAttr, "step_last_nodes", last);
  return absl::OkStatus();
}

const OperationEntry* FindOperation(proto::Edit::OperationCase kind) {
  for (const OperationEntry& e : Operations()) {
    if (e.kind == kind) return &e;
  }
  return nullptr;
}

// Turns "edit 2 (fuse), most: ..." into "FILE:LINE: edit 2 (fuse), most: ...".
absl::Status Located(const Script& script, int index, const absl::Status& status, absl::string_view subject) {
  absl::string_view path = status.message();
  if (absl::ConsumePrefix(&path, subject)) path = path.substr(0, path.find(':'));
  const int line = LineOf(script, index, path);
  return absl::Status(status.code(), absl::StrCat(script.source, line > 0 ? absl::StrCat(":", line) : "",
                                                  ": ", status.message()));
}

// Adds the notes that need sums over ranks: what was scaled, unless the selector says it, and what was left
// unchanged.
void AddCounts(const proto::Edit& edit, const Tally& tally, proto::EditOutcome* o) {
  const auto parts =
      std::count_if(tally.scaled.begin(), tally.scaled.end(), [](uint64_t n) { return n > 0; });
  if (edit.select().type().empty() && (parts > 1 || tally.scaled[0] > 0)) {
    std::vector<std::string> said;
    for (size_t i = 0; i < tally.scaled.size(); ++i) {
      if (tally.scaled[i] > 0) said.push_back(absl::StrCat(FormatCount(tally.scaled[i]), " ", kScaled[i]));
    }
    o->add_note(
        absl::StrCat("scaled: ", absl::StrJoin(said, ", "),
                     parts > 1 ? "; `--scale device=FACTOR` changes only computation on the device" : ""));
  }
  for (const auto& [reason, nodes] : tally.left)
    o->add_note(absl::StrCat(FormatCount(nodes), " left as they are: ", reason));
  if (o->changed() + o->added() + o->removed() == 0 && tally.left.empty())
    o->add_note("nothing changed: the matches already have the values of the edit");
}

}  // namespace

absl::Status EditPlan::Add(const Script& from) {
  const proto::EditScript& script = from.script;
  if (script.edit().empty())
    return absl::InvalidArgumentError(absl::StrCat(from.source, ": no edit, expected at least one"));
  absl::StrAppend(&name_, name_.empty() ? "" : ", ", script.name().empty() ? from.source : script.name());
  const std::vector<int> lines = LinesOfEdits(from);
  for (int i = 0; i < script.edit_size(); ++i) {
    const proto::Edit& edit = script.edit(i);
    std::string subject = absl::StrCat("edit ", i + 1);
    const OperationEntry* entry = FindOperation(edit.operation_case());
    if (entry != nullptr) absl::StrAppend(&subject, " (", entry->name, ")");
    if (!edit.name().empty()) absl::StrAppend(&subject, " \"", edit.name(), "\"");
    if (entry == nullptr) {
      std::vector<std::string> known;
      for (const OperationEntry& e : Operations()) known.emplace_back(e.name);
      const std::string what =
          absl::StrCat(subject, ": no operation, expected one of ", absl::StrJoin(known, ", "));
      return Located(from, i, absl::InvalidArgumentError(what), subject);
    }
    absl::StatusOr<Selector> select = Selector::Make(edit.select(), absl::StrCat(subject, ", select"));
    if (!select.ok()) return Located(from, i, select.status(), subject);
    absl::StatusOr<AnyOperation> made = entry->make(edit, subject);
    if (!made.ok()) return Located(from, i, made.status(), subject);
    if (made->on_set != nullptr && edit.select().ByteSizeLong() > 0) {
      const absl::Status bad =
          BadField(subject, "select",
                   "given, but this operation edits the set of ranks and selects no nodes; expected none");
      return Located(from, i, bad, subject);
    }
    const int line = static_cast<size_t>(i) < lines.size() ? lines[static_cast<size_t>(i)] : 0;
    const std::string where =
        absl::StrCat(from.source, line > 0 ? absl::StrCat(":", line) : "", ": ", subject);
    steps_.push_back(
        {where, subject, entry->name, edit, *std::move(select), *std::move(made), scripts_.size(), i});
  }
  scripts_.push_back(from);
  return absl::OkStatus();
}

absl::StatusOr<EditPlan> EditPlan::Make(const std::vector<Script>& scripts) {
  EditPlan plan;
  for (const Script& script : scripts) {
    RETURN_IF_ERROR(plan.Add(script));
  }
  return plan;
}

bool EditPlan::reshapes() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.apply.on_set != nullptr; });
}

bool EditPlan::needs_shape() const {
  return reshapes() || std::any_of(steps_.begin(), steps_.end(), [](const Step& s) {
           return s.apply.on_rank != nullptr && s.apply.on_rank->needs_shape();
         });
}

EditRun::EditRun(const EditPlan* plan, bool keep_lanes)
    : plan_(*plan), keep_lanes_(keep_lanes), counts_(plan->steps_.size()) {}

absl::Status EditRun::Begin(const SetShape& shape) {
  const size_t steps = plan_.steps_.size();
  shapes_ = {std::make_shared<const SetShape>(shape)};
  std::vector<std::vector<int>> source(steps);
  for (size_t k = 0; k < steps; ++k) {
    const EditPlan::Step& step = plan_.steps_[k];
    std::shared_ptr<const SetShape> before = shapes_.back();
    if (step.apply.on_set == nullptr) {
      if (absl::Status s = step.apply.on_rank->Check(*before, step.subject); !s.ok())
        return Located(plan_.scripts_[step.script], step.index, s, step.subject);
      shapes_.push_back(std::move(before));
      continue;
    }
    SetShape after = *before;
    const absl::Status s = step.apply.on_set->Reshape(*before, &after, &source[k], &counts_[k].tally.notes);
    if (!s.ok()) return absl::Status(s.code(), absl::StrCat(step.where, ": ", s.message()));
    shapes_.push_back(std::make_shared<const SetShape>(std::move(after)));
  }
  const int ranks = shapes_.back()->ranks;
  std::vector<int> at(static_cast<size_t>(ranks));
  std::iota(at.begin(), at.end(), 0);
  rank_at_.assign(steps + 1, std::make_shared<const std::vector<int>>(at));
  for (size_t k = steps; k-- > 0;) {
    if (!source[k].empty()) {
      for (int& rank : at) rank = source[k][static_cast<size_t>(rank)];
    }
    rank_at_[k] = source[k].empty() ? rank_at_[k + 1] : std::make_shared<const std::vector<int>>(at);
  }
  becomes_.assign(static_cast<size_t>(shape.ranks), {});
  for (int f = 0; f < ranks; ++f) becomes_[static_cast<size_t>(RankBefore(0, f))].push_back(f);
  return absl::OkStatus();
}

int EditRun::RankBefore(size_t step, int final_rank) const {
  return rank_at_.empty() ? final_rank : (*rank_at_[step])[static_cast<size_t>(final_rank)];
}

absl::Status EditRun::RunStep(size_t k, int final_rank, Draft* draft, std::vector<std::string>* record) {
  const EditPlan::Step& step = plan_.steps_[k];
  const int rank = RankBefore(k, final_rank);
  draft->set_rank(rank);
  draft->set_shape(shapes_.empty() ? nullptr : shapes_[k].get());
  const uint64_t changed = draft->changed();
  Tally tally;
  absl::Status status;
  if (step.apply.on_set != nullptr) {
    const int next = RankBefore(k + 1, final_rank);
    status = step.apply.on_set->Apply(draft, next, *shapes_[k], *shapes_[k + 1], &tally);
    // If an operation on the set leaves a rank unchanged, it matched nothing on this rank.
    const bool same =
        next == rank && draft->changed() == changed && shapes_[k]->groups == shapes_[k + 1]->groups;
    tally.matched = same ? 0 : draft->live();
    draft->set_rank(next);
  } else {
    absl::StatusOr<std::vector<uint32_t>> matches = step.select.Match(draft);
    status = matches.status();
    if (status.ok()) {
      tally.matched = matches->size();
      if (!matches->empty()) status = step.apply.on_rank->Apply(draft, *matches, &tally);
    }
  }
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(step.where, ": ", status.message()));
  if (tally.matched > 0) {
    record->push_back(absl::StrCat(step.edit.ShortDebugString(), " # matched ", tally.matched, ", added ",
                                   tally.added, ", removed ", tally.removed));
  }
  // Count a rank that becomes several ranks once.
  bool first = true;
  if (!rank_at_.empty()) {
    const std::vector<int>& at = *rank_at_[k];
    first = std::find(at.begin(), at.end(), rank) - at.begin() == final_rank || step.apply.on_set != nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  Count& count = counts_[k];
  count.tally.Add(tally, !first);
  if (first) {
    count.ranks += tally.matched > 0 ? 1 : 0;
    const uint64_t now = draft->changed();
    count.changed += now > changed ? now - changed : 0;
  }
  return absl::OkStatus();
}

// Keeps names for the hint in the error about an edit that matches nothing.
void EditRun::KeepNames(const RankTrace& trace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::none_of(counts_.begin(), counts_.end(), [](const Count& c) { return c.tally.matched == 0; }))
    return;
  for (uint32_t i = 0; i < trace.graph->size() && names_.size() < kSomeNames; ++i)
    names_.emplace(trace.graph->name_of(i));
}

// Counts faults that the reader repairs in memory and that remain in the output.
void EditRun::CountFaults(const RankTrace& trace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Repair& repair : trace.repairs) {
    if (!absl::StrContains(repair.kind, "dep")) continue;
    proto::InputFault& fault = faults_[repair.kind];
    if (fault.count() == 0 || trace.rank < fault.first_rank()) {
      fault.set_first_rank(trace.rank);
      fault.set_first_node(repair.first_node);
    }
    fault.set_kind(repair.kind);
    fault.set_count(fault.count() + repair.count);
  }
}

absl::Status EditRun::EditOne(const RankTrace& trace, int final_rank, std::string* frames) {
  Draft draft(trace);
  draft.set_keeps_lanes(keep_lanes_);
  std::vector<std::string> record;
  for (size_t k = 0; k < plan_.steps_.size(); ++k) {
    RETURN_IF_ERROR(RunStep(k, final_rank, &draft, &record));
  }
  KeepNames(trace);
  if (after() != nullptr) {
    for (uint32_t r = 0; r < draft.size(); ++r) {
      const Row& row = draft.row(r);
      if (!row.removed && row.type == NodeType::kMetadata &&
          absl::StrContains(row.name, "process_group:init"))
        draft.SetInputValues(r, GroupNodeText(after()->groups));
    }
  }
  std::string metadata = draft.metadata();
  RETURN_IF_ERROR(KeepSteps(&draft, &metadata));
  if (!record.empty()) {
    std::vector<std::string> all = ReadStrings(metadata, "edits");
    all.insert(all.end(), record.begin(), record.end());
    metadata = WithStrings(metadata, kMetadataAttr, "edits", all);
  }
  draft.SetMetadata(std::move(metadata));
  RETURN_IF_ERROR(draft.Write(frames));
  const std::lock_guard<std::mutex> lock(mutex_);
  nodes_out_ += draft.live();
  ++ranks_out_;
  return absl::OkStatus();
}

absl::Status EditRun::Rewrite(RankTrace trace, std::vector<Rewritten>* out) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++ranks_in_;
    nodes_in_ += trace.graph->size();
  }
  CountFaults(trace);
  std::vector<int> finals = {trace.rank};
  if (!becomes_.empty()) finals = becomes_[static_cast<size_t>(trace.rank)];
  for (const int f : finals) {
    Rewritten& one = out->emplace_back();
    one.rank = f;
    RETURN_IF_ERROR(EditOne(trace, f, &one.frames));
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::EditReport> EditRun::Finish() {
  proto::EditReport report;
  report.set_script(plan_.name());
  report.set_ranks_in(ranks_in_);
  report.set_ranks_out(ranks_out_);
  report.set_nodes_in(nodes_in_);
  report.set_nodes_out(nodes_out_);
  for (size_t k = 0; k < counts_.size(); ++k) {
    const EditPlan::Step& step = plan_.steps_[k];
    const Count& count = counts_[k];
    if (count.tally.matched == 0 && !step.edit.allow_no_match()) {
      const std::string& name = step.edit.select().name();
      std::string hint = NearestName(name, {names_.begin(), names_.end()});
      if (!hint.empty()) hint = absl::StrCat("; a node is called \"", hint, "\"");
      return absl::InvalidArgumentError(
          absl::StrCat(step.where, ": select { ", step.edit.select().ShortDebugString(),
                       " } matches nothing in ", ranks_in_, ranks_in_ == 1 ? " rank" : " ranks", hint,
                       "; expected a match, or allow_no_match: true"));
    }
    proto::EditOutcome* o = report.add_outcome();
    o->set_edit(step.subject);
    o->set_operation(step.operation);
    o->set_matched(count.tally.matched);
    o->set_ranks(count.ranks);
    o->set_changed(count.changed);
    o->set_added(count.tally.added);
    o->set_removed(count.tally.removed);
    for (const std::string& note : count.tally.notes) o->add_note(note);
    AddCounts(step.edit, count.tally, o);
  }
  for (const auto& [kind, fault] : faults_) *report.add_fault() = fault;
  return report;
}

absl::StatusOr<TraceSet> ReadEdited(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    const EditPlan& plan, EditRun* run, RankRewriter* through) {
  if (plan.needs_shape()) {
    ASSIGN_OR_RETURN(TraceSet before, ReadTraceSet(inputs, options));
    RETURN_IF_ERROR(run->Begin({static_cast<int>(before.ranks.size()), before.groups}));
  }
  ReadOptions edited = options;
  edited.rewriter = through == nullptr ? run : through;
  absl::StatusOr<TraceSet> set = ReadTraceSet(inputs, edited);
  if (set.ok() && run->after() != nullptr) set->groups = run->after()->groups;
  return set;
}

}  // namespace chakra::edit
