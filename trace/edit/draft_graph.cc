// Implements dependencies, order and lanes of Draft.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/edit/draft.h"
#include "trace/model/graph_builder.h"

namespace chakra::edit {
namespace {

// Appends the ids of a field, packed or not.
void ReadIds(const wire::Field& f, std::vector<uint64_t>* out) {
  if (f.type == wire::kVarint) {
    out->push_back(f.bits);
    return;
  }
  wire::Cursor c = f.message();
  uint64_t id = 0;
  while (!c.done() && wire::ReadVarint(&c, &id)) out->push_back(id);
}

template <typename List>
void Erase(List* list, uint32_t value) {
  const auto at = std::find(list->begin(), list->end(), value);
  if (at != list->end()) list->erase(at);
}

}  // namespace

uint32_t Draft::Find(uint64_t id) {
  OpenGraph();
  const auto it = row_of_.find(id);
  return it == row_of_.end() || rows_[it->second].removed ? kNoRow : it->second;
}

Draft& Draft::OpenGraph() {
  if (open_) return *this;
  open_ = true;
  row_of_.reserve(rows_.size());
  for (uint32_t r = 0; r < rows_.size(); ++r) row_of_.emplace(rows_[r].id, r);
  deps_.resize(rows_.size());
  children_.resize(rows_.size());
  for (uint32_t r = 0; r < rows_.size(); ++r) ReadDeps(r);
  return *this;
}

void Draft::ReadDeps(uint32_t r) {
  std::vector<uint64_t> data, ctrl;
  std::vector<int64_t> delays, unexplained, releases;
  absl::string_view kinds;
  wire::Cursor c = wire::CursorOf(rows_[r].body);
  wire::Field f;
  while (!c.done() && wire::ReadField(&c, &f) == nullptr) {
    if (f.number == kNodeCtrlDeps) ReadIds(f, &ctrl);
    if (f.number == kNodeDataDeps) ReadIds(f, &data);
    if (f.number != kNodeAttr || f.type != wire::kBytes) continue;
    Attribute a;
    const uint8_t* at = nullptr;
    if (ReadAttribute(f.message(), &a, &at) != nullptr) continue;
    if (a.name == "dep_delay_ns") ToIntegers(a, &delays);
    if (a.name == "dep_unexplained_ns") ToIntegers(a, &unexplained);
    if (a.name == "dep_release") ToIntegers(a, &releases);
    if (a.name == "dep_kinds" && a.value.type == wire::kBytes) kinds = a.value.text();
  }
  const std::vector<absl::string_view> kind = absl::StrSplit(kinds, ',');
  for (size_t i = 0; i < data.size() + ctrl.size(); ++i) {
    Dep dep;
    dep.data = i < data.size();
    dep.id = dep.data ? data[i] : ctrl[i - data.size()];
    if (i < delays.size()) dep.delay_ns = delays[i];
    if (i < unexplained.size()) dep.unexplained_ns = unexplained[i];
    if (i < releases.size()) dep.release = releases[i];
    if (dep.data && i < kind.size()) dep.kind = kind[i];
    const auto it = row_of_.find(dep.id);
    const bool ignored = it == row_of_.end() || it->second == r || (!dep.data && ignore_ctrl_);
    if (!ignored) dep.row = it->second;
    Link(r, dep);
  }
}

void Draft::Link(uint32_t r, const Dep& dep) {
  deps_[r].push_back(dep);
  if (dep.row == kNoRow) return;
  auto& children = children_[dep.row];
  if (children.empty() || children.back() != r) children.push_back(r);
}

void Draft::AddDep(uint32_t r, uint32_t on, const Dep& like) {
  OpenGraph();
  if (r == on) return;
  for (Dep& d : deps_[r]) {
    if (d.row != on) continue;
    const Dep before = d;
    d.TakeLonger(like, rows_[on].duration);
    if (d.delay_ns != before.delay_ns || d.release != before.release) Touch(r, kDeps);
    return;
  }
  Dep dep = like;
  dep.id = rows_[on].id;
  dep.row = on;
  dep.data = like.data || ignore_ctrl_;  // the reader would ignore a control dependency
  Link(r, dep);
  Touch(r, kDeps);
  Changed();
}

void Draft::AddDeps(uint32_t r, const Deps& more) {
  constexpr size_t kFew = 16;
  if (more.size() < kFew) {
    for (const Dep& d : more) AddDep(r, d.row, d);
    return;
  }
  absl::flat_hash_map<uint32_t, size_t> at;  // for lookups; never iterated
  for (size_t i = 0; i < deps_[r].size(); ++i) at.try_emplace(deps_[r][i].row, i);
  for (const Dep& d : more) {
    if (d.row == r) continue;
    const auto [it, fresh] = at.try_emplace(d.row, deps_[r].size());
    if (!fresh) {
      deps_[r][it->second].TakeLonger(d, rows_[d.row].duration);
    } else {
      Dep dep = d;
      dep.id = rows_[d.row].id;
      dep.data = d.data || ignore_ctrl_;
      Link(r, dep);
    }
  }
  Touch(r, kDeps);
  Changed();
}

bool Draft::Chained(uint32_t a, uint32_t b) const {
  return chains_.knows(a) && chains_.knows(b) && chains_.chain[a] == chains_.chain[b];
}

bool Draft::DropDep(uint32_t r, uint32_t on, bool implied) {
  OpenGraph();
  bool found = false;
  for (size_t i = deps_[r].size(); i-- > 0;) {
    if (deps_[r][i].row != on) continue;
    deps_[r].erase(deps_[r].begin() + static_cast<std::ptrdiff_t>(i));
    found = true;
  }
  if (!found) return false;
  if (!implied && Chained(r, on)) chains_ = {};
  Erase(&children_[on], r);
  Touch(r, kDeps);
  Changed();
  return true;
}

void Draft::SetDelay(uint32_t r, size_t dep, int64_t delay_ns) {
  OpenGraph();
  Dep& d = deps_[r][dep];
  if (d.delay_ns == delay_ns) return;
  if (d.unexplained_ns > 0) {
    const auto whole = static_cast<__int128>(d.unexplained_ns) * delay_ns;
    d.unexplained_ns = static_cast<int64_t>(whole / d.delay_ns);
  }
  d.delay_ns = delay_ns;
  Touch(r, kDeps);
}

Dep Draft::DepOn(uint32_t r, uint32_t on) {
  OpenGraph();
  Dep out = OfEdit({});
  out.id = rows_[on].id;
  out.row = on;
  out.data = false;
  out.release = 0;
  for (const Dep& d : deps_[r]) {
    if (d.row != on) continue;
    out.TakeLonger(d, rows_[on].duration);
    out.data = out.data || d.data;
    if (!d.kind.empty()) out.kind = d.kind;
  }
  return out;
}

void Draft::MoveChildren(uint32_t from, absl::FunctionRef<void(Dep*)> move) {
  OpenGraph();
  const auto children = children_[from];
  for (const uint32_t child : children) {
    bool moved = false, stays = false;
    for (Dep& d : deps_[child]) {
      if (d.row != from) continue;
      const Dep before = d;
      move(&d);
      if (d.row == child) d = before;  // a row cannot wait for itself
      moved = moved || d.row != from || d.release != before.release;
      stays = stays || d.row == from;
      d.id = rows_[d.row].id;
      auto& of_row = children_[d.row];
      if (std::find(of_row.begin(), of_row.end(), child) == of_row.end()) of_row.push_back(child);
    }
    if (!moved) continue;
    if (Chained(child, from)) chains_ = {};
    if (!stays) Erase(&children_[from], child);
    // A row that depended on both rows now depends on the new row once, with the dependency that holds
    // longer.
    Deps kept;
    for (const Dep& d : deps_[child]) {
      const auto same = std::find_if(kept.begin(), kept.end(),
                                     [&](const Dep& k) { return d.row != kNoRow && k.row == d.row; });
      if (same == kept.end()) {
        kept.push_back(d);
      } else {
        same->TakeLonger(d, rows_[d.row].duration);
        same->data = same->data || d.data;
      }
    }
    deps_[child] = kept;
    Touch(child, kDeps);
  }
  Changed();
}

void Draft::MoveChildren(uint32_t from, uint32_t to) {
  MoveChildren(from, [&](Dep* d) {
    if (AtEnd(*d)) *d = Dep{d->id, to, d->data, d->delay_ns, d->kind, d->unexplained_ns};
  });
}

void Draft::MoveBeginChildren(uint32_t from, uint32_t to) {
  MoveChildren(from, [&](Dep* d) {
    if (d->release == 0) d->row = to;
  });
}

void Draft::Remove(uint32_t r, uint32_t instead) {
  OpenGraph();
  if (rows_[r].cpu()) {
    uint64_t caller = kNobody;
    if (instead != kNoRow) {
      caller = rows_[instead].id;
    } else if (!ParentId(r, &caller)) {
      caller = kNobody;
    }
    callers_.emplace(rows_[r].id, caller == rows_[r].id ? kNobody : caller);
  }
  for (const Dep& d : deps_[r]) {
    if (d.row != kNoRow) Erase(&children_[d.row], r);
  }
  deps_[r].clear();
  row_of_.erase(rows_[r].id);
  rows_[r].removed = true;
  ++removed_;
  if (rows_[r].changed) --changed_;
  Changed();
}

void Draft::FlushDeps(uint32_t r) {
  std::vector<uint64_t> data, ctrl;
  std::vector<int64_t> delays, unexplained, releases;
  std::vector<std::string> kinds;
  bool delayed = false, any_unexplained = false, any_early = false, any_kind = false;
  for (const bool of_data : {true, false}) {
    for (const Dep& d : deps_[r]) {
      if (d.data != of_data) continue;
      (of_data ? data : ctrl).push_back(d.id);
      delays.push_back(d.delay_ns);
      delayed = delayed || d.delay_ns > 0;
      unexplained.push_back(d.unexplained_ns);
      any_unexplained = any_unexplained || d.unexplained_ns > 0;
      releases.push_back(d.release);
      any_early = any_early || d.release != kReleaseAtEnd;
      if (of_data) kinds.push_back(std::string(d.kind));
      if (of_data && !d.kind.empty() && d.kind != kEditKind) any_kind = true;
    }
  }
  Attribute a;
  std::string body = WithNumbers(rows_[r].body, kNodeDataDeps, data);
  body = WithNumbers(body, kNodeCtrlDeps, ctrl);
  const bool had_kinds = Attr(r, "dep_kinds", &a);
  const auto put = [&](const char* name, const std::vector<int64_t>& values, bool any) {
    if (any) {
      body = WithIntegers(body, kNodeAttr, name, values);
    } else if (Attr(r, name, &a)) {
      body = WithoutAttribute(body, kNodeAttr, name);
    }
  };
  put("dep_delay_ns", delays, delayed);
  put("dep_unexplained_ns", unexplained, any_unexplained);
  put("dep_release", releases, any_early);
  if (any_kind || had_kinds) body = WithString(body, kNodeAttr, "dep_kinds", absl::StrJoin(kinds, ","));
  rows_[r].body = Keep(body);
}

absl::StatusOr<const std::vector<uint32_t>*> Draft::Order() {
  OpenGraph();
  if (!order_.empty() || live() == 0) return &order_;
  GraphDraft g;
  std::vector<uint32_t> live, place(rows_.size(), kNoRow);
  for (uint32_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].removed) continue;
    place[r] = static_cast<uint32_t>(live.size());
    live.push_back(r);
  }
  g.dep_begin.push_back(0);
  std::vector<uint32_t> list;
  for (const uint32_t r : live) {
    g.id.push_back(rows_[r].id);
    g.name.push_back(0);
    if (has_starts_) g.start.push_back(rows_[r].start);
    list.clear();
    for (const Dep& d : deps_[r]) {
      if (d.row != kNoRow) list.push_back(place[d.row]);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    g.dep.insert(g.dep.end(), list.begin(), list.end());
    g.dep_begin.push_back(static_cast<uint32_t>(g.dep.size()));
  }
  const std::string subject = absl::StrCat(trace_.file, ": rank ", rank_, ", after the edit");
  if (!FinishGraph(&g, subject).ok()) {  // run again with names, for the message
    g.order.clear();
    for (size_t i = 0; i < live.size(); ++i) g.name[i] = g.strings.Intern(rows_[live[i]].name);
    return FinishGraph(&g, subject);
  }
  for (const uint32_t i : g.order) order_.push_back(live[i]);
  return &order_;
}

absl::StatusOr<const Chains*> Draft::chains() {
  if (!chains_.chain.empty()) return &chains_;
  ASSIGN_OR_RETURN(const auto order, Order());
  Chains found;
  found.place.assign(rows_.size(), 0);
  for (uint32_t r = 0; r < rows_.size(); ++r) found.chain.push_back(r);
  absl::flat_hash_map<uint64_t, uint32_t> lanes;  // last row of each lane
  for (const uint32_t r : *order) {
    if (!rows_[r].works()) continue;
    const auto [entry, fresh] = lanes.try_emplace(LaneKey(r), r);
    const uint32_t last = fresh ? kNoRow : entry->second;
    entry->second = r;
    if (last != kNoRow && std::any_of(deps_[r].begin(), deps_[r].end(), [last](const Dep& d) {
          return d.row == last && d.release == kReleaseAtEnd;
        })) {
      found.chain[r] = found.chain[last];
      found.place[r] = found.place[last] + 1;
    }
  }
  chains_ = std::move(found);
  return &chains_;
}

uint64_t Draft::LaneKey(uint32_t r) const {
  const Row& row = rows_[r];
  const auto key = [](uint64_t kind, uint64_t value) { return kind << 56 | (value & 0xffffffffffffff); };
  if (row.lane != kNoLane) return key(row.cpu() ? 1 : 2, static_cast<uint32_t>(row.lane));
  switch (row.type) {
    case NodeType::kComp:
      if (row.kept_comm()) return key(8, r);
      return key(row.cpu() ? 3 : 4, 0);
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      return key(5, 0);
    case NodeType::kCollective: {
      uint64_t h = 1469598103934665603u;  // FNV-1a
      for (const char c : row.group) h = (h ^ static_cast<uint8_t>(c)) * 1099511628211u;
      return key(6, h);
    }
    case NodeType::kSend:
      return key(7, static_cast<uint32_t>(row.peer.dst));
    default:
      return key(8, r);  // a receive occupies no lane
  }
}

bool Draft::StrictLane(uint32_t r) const {
  const uint64_t kind = LaneKey(r) >> 56;
  return kind <= 2 || kind == 6 || kind == 7;
}

bool Draft::Reaches(uint32_t r, uint32_t on) {
  OpenGraph();
  std::vector<uint32_t> todo = {r};
  std::vector<bool> seen(rows_.size());
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    if (at == on) return true;
    if (seen[at]) continue;
    seen[at] = true;
    for (const Dep& d : deps_[at]) {
      if (d.row != kNoRow && !seen[d.row]) todo.push_back(d.row);
    }
  }
  return false;
}

bool Draft::ParentId(uint32_t r, uint64_t* id) const {
  Attribute a;
  __int128 written = 0;
  if (!Attr(r, "parent", &a) || !ToInteger(a, &written)) return false;
  *id = static_cast<uint64_t>(written);
  for (auto at = callers_.find(*id); at != callers_.end(); at = callers_.find(*id)) *id = at->second;
  return *id != kNobody;
}

void Draft::KeepCaller(uint32_t r, uint32_t copy, const absl::flat_hash_map<uint32_t, uint32_t>& copy_of) {
  uint64_t id = 0;
  if (!ParentId(r, &id)) return;
  const auto it = copy_of.find(Find(id));
  if (it == copy_of.end()) return;
  SetBody(copy, WithInteger(rows_[copy].body, kNodeAttr, "parent", ValueField::kInt64, rows_[it->second].id));
}

// Gives rows whose caller was removed the replacing caller, or none.
void Draft::KeepParents() {
  Attribute a;
  __int128 written = 0;
  for (uint32_t r = 0; r < rows_.size() && !callers_.empty(); ++r) {
    if (rows_[r].removed || !Attr(r, "parent", &a) || !ToInteger(a, &written)) continue;
    if (!callers_.contains(static_cast<uint64_t>(written))) continue;
    uint64_t id = 0;
    SetBody(r, ParentId(r, &id) ? WithInteger(rows_[r].body, kNodeAttr, "parent", ValueField::kInt64, id)
                                : WithoutAttribute(rows_[r].body, kNodeAttr, "parent"));
  }
}

uint32_t Draft::Parent(uint32_t r) {
  OpenGraph();
  if (uint64_t id = 0; ParentId(r, &id)) return Find(id);
  for (const Dep& d : deps_[r]) {
    if (d.kind == "launch") return d.row;
  }
  if (from_pytorch_ < 0) {
    Attribute schema;
    from_pytorch_ = FindAttribute(trace_.metadata, kMetadataAttr, "schema", &schema) &&
                    absl::StrContains(AttributeText(schema), "chakra.");
  }
  if (from_pytorch_ == 0) return kNoRow;
  uint32_t parent = kNoRow;
  for (const Dep& d : deps_[r]) {
    if (d.data || d.kind == kEditKind) continue;
    if (parent != kNoRow) return kNoRow;  // several control dependencies: none is the caller
    parent = d.id == rows_[r].id ? kNoRow : Find(d.id);
  }
  return parent;
}

}  // namespace chakra::edit
