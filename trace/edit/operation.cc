#include "trace/edit/operation.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::edit {

void Tally::Leave(absl::string_view reason, uint64_t nodes) {
  const auto it = left.find(reason);
  if (it != left.end())
    it->second += nodes;
  else
    left.emplace(reason, nodes);
}

void Tally::Add(const Tally& other, bool notes_only) {
  notes.insert(other.notes.begin(), other.notes.end());
  if (notes_only) return;
  matched += other.matched;
  added += other.added;
  removed += other.removed;
  for (const auto& [reason, nodes] : other.left) Leave(reason, nodes);
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] += other.scaled[i];
}

namespace {

// Attributes that have their own operation, or that encode dependencies.
constexpr absl::string_view kReserved[] = {"comm_size",   "comm_type",   "tensor_size",  "num_ops",
                                           "duration_ns", "start_ns",    "comm_src",     "comm_dst",
                                           "comm_tag",    "transfer_ns", "stream",       "tid",
                                           "is_cpu_op",   "dep_kinds",   "dep_delay_ns", "dep_unexplained_ns",
                                           "dep_release", "pg_name",     "comm_group",   "parent",
                                           "time_factor"};

}  // namespace

absl::Status BadField(absl::string_view where, absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ", ", field, ": ", what));
}

Time FromMicros(double us) { return Time::Picos(std::llround(std::clamp(us, 0.0, kMaxMicros) * 1e6)); }

absl::Status CheckAdjustment(const proto::Adjustment& change, const std::string& where) {
  for (const auto& [given, value, field] : {std::make_tuple(change.has_factor(), change.factor(), "factor"),
                                            std::make_tuple(change.has_add(), change.add(), "add"),
                                            std::make_tuple(change.has_set(), change.set(), "set")}) {
    if (given && !std::isfinite(value))
      return BadField(where, field, absl::StrCat(value, ", expected a number"));
  }
  if (change.has_set() && (change.has_factor() || change.has_add()))
    return BadField(where, "set", "given with factor or add, expected one of the two");
  if (!change.has_set() && !change.has_factor() && !change.has_add())
    return BadField(where, "factor", "absent, expected factor, add or set");
  if (change.factor() < 0)
    return BadField(where, "factor", absl::StrCat(change.factor(), ", expected 0 or more"));
  if (change.set() < 0) return BadField(where, "set", absl::StrCat(change.set(), ", expected 0 or more"));
  return absl::OkStatus();
}

double Changed(const proto::Adjustment& change, double old) {
  if (change.has_set()) return change.set();
  return std::max(0.0, old * (change.has_factor() ? change.factor() : 1) + change.add());
}

absl::Status CheckAttribute(const proto::SetAttribute& spec, const std::string& where) {
  if (spec.name().empty()) return BadField(where, "attribute.name", "empty, expected an attribute's name");
  if (std::find(std::begin(kReserved), std::end(kReserved), spec.name()) != std::end(kReserved)) {
    return BadField(where, "attribute.name",
                    absl::StrCat("\"", spec.name(),
                                 "\" is set by duration, bytes, operations, move, change_collective "
                                 "and the dependencies; expected another name"));
  }
  const bool given = spec.value_case() != proto::SetAttribute::VALUE_NOT_SET;
  if (given == spec.drop()) return BadField(where, "attribute", "expected one value, or drop");
  return absl::OkStatus();
}

void ApplyAttribute(Draft* draft, uint32_t r, const proto::SetAttribute& spec) {
  const absl::string_view body = draft->row(r).body;
  switch (spec.value_case()) {
    case proto::SetAttribute::kIntValue:
      return draft->SetBody(r,
                            WithInteger(body, kNodeAttr, spec.name(), ValueField::kInt64, spec.int_value()));
    case proto::SetAttribute::kDoubleValue:
      return draft->SetBody(r, WithReal(body, kNodeAttr, spec.name(), spec.double_value()));
    case proto::SetAttribute::kTextValue:
      return draft->SetBody(r, WithString(body, kNodeAttr, spec.name(), spec.text_value()));
    case proto::SetAttribute::kBoolValue:
      return draft->SetBody(r,
                            WithInteger(body, kNodeAttr, spec.name(), ValueField::kBool, spec.bool_value()));
    case proto::SetAttribute::VALUE_NOT_SET:
      return draft->SetBody(r, WithoutAttribute(body, kNodeAttr, spec.name()));
  }
}

absl::StatusOr<NodeSpec> ReadNodeSpec(const proto::NewNode& spec, const std::string& where) {
  NodeSpec out;
  if (spec.name().empty()) return BadField(where, "node.name", "empty, expected a name");
  out.row.name = spec.name();
  if (!spec.type().empty()) {
    absl::StatusOr<NodeType> type = ParseNodeType(spec.type());
    if (!type.ok()) return BadField(where, "node.type", type.status().message());
    if (*type == NodeType::kInvalid || *type == NodeType::kMetadata)
      return BadField(where, "node.type",
                      absl::StrCat(spec.type(), " does no work, expected COMP_NODE, MEM_* or COMM_*"));
    out.row.type = *type;
  }
  const bool comm = out.row.type >= NodeType::kSend;
  if (!(spec.duration_us() >= 0) || spec.duration_us() > kMaxMicros)
    return BadField(where, "node.duration_us",
                    absl::StrCat(spec.duration_us(), ", expected 0 to ", kMaxMicros));
  if (spec.operations() < 0)
    return BadField(where, "node.operations", absl::StrCat(spec.operations(), ", expected >= 0"));
  if (spec.bytes() > INT64_MAX) return BadField(where, "node.bytes", "expected less than 2^63");
  out.row.duration = FromMicros(spec.duration_us());
  out.row.operations = spec.operations();
  out.row.bytes = spec.bytes();
  out.row.cpu = spec.host();
  if (!spec.lane().empty()) {
    absl::StatusOr<LaneSpec> lane = ParseLaneToPutOn(spec.lane());
    if (!lane.ok()) return BadField(where, "node.lane", lane.status().message());
    if (lane->any)
      return BadField(where, "node.lane", absl::StrCat("\"", spec.lane(), "\", expected one lane"));
    out.own_lane = true;
    if (!lane->none) {
      out.row.cpu = lane->cpu;
      out.row.lane = lane->lane;
    }
  }
  if ((out.row.type == NodeType::kCollective) == spec.collective().empty())
    return BadField(where, "node.collective", "expected only and always for COMM_COLL_NODE");
  if (!spec.collective().empty()) {
    absl::StatusOr<CollectiveType> kind = ParseCollective(spec.collective());
    if (!kind.ok()) return BadField(where, "node.collective", kind.status().message());
    out.row.collective = *kind;
  }
  if (!comm && !spec.group().empty()) return BadField(where, "node.group", "expected for communication only");
  out.own_group = !spec.group().empty();
  out.row.group = spec.group();
  out.row.peer = spec.peer();
  out.row.tag = spec.tag();
  if (spec.peer() < 0) return BadField(where, "node.peer", absl::StrCat(spec.peer(), ", expected a rank"));
  for (const proto::SetAttribute& a : spec.attribute()) {
    RETURN_IF_ERROR(CheckAttribute(a, where));
    out.attributes.push_back(a);
  }
  return out;
}

uint32_t AddNode(Draft* draft, const NodeSpec& spec, uint32_t anchor, Time start) {
  const Row like = draft->row(anchor);
  NewRow row = spec.row;
  row.name = absl::StrReplaceAll(row.name, {{"{name}", like.name}});
  const bool comm = row.type >= NodeType::kSend;
  if (comm && !spec.own_group && like.is_comm()) row.group = std::string(like.group);
  // Communication and storage without a lane have their own queues.
  const bool shares = like.lane != kNoLane || (row.type == NodeType::kComp && like.type == NodeType::kComp);
  if (!spec.own_lane && shares) {
    row.cpu = like.cpu();
    row.lane = like.lane;
  }
  const uint32_t r = draft->Add(row, start);
  // Copy thread ids of more than 31 bits as they are written.
  if (!spec.own_lane && row.lane < 0 && row.lane != kNoLane) draft->CopyLane(r, anchor);
  for (const proto::SetAttribute& a : spec.attributes) ApplyAttribute(draft, r, a);
  return r;
}

namespace {

absl::Status CheckRank(int64_t rank, const SetShape& shape, const std::string& where,
                       absl::string_view field) {
  if (shape.ranks < 2 || (rank >= 0 && rank < shape.ranks)) return absl::OkStatus();
  return BadField(where, field, absl::StrCat(rank, ", expected a rank of the set, 0 to ", shape.ranks - 1));
}

}  // namespace

bool NamesOthers(const proto::SetAttribute& spec) {
  return spec.value_case() == proto::SetAttribute::kIntValue &&
         (spec.name() == "root" || spec.name() == "comm_root" || spec.name() == "root_rank");
}

bool NamesOthers(const NodeSpec& spec) {
  return spec.own_group || spec.row.type == NodeType::kSend || spec.row.type == NodeType::kRecv ||
         std::any_of(spec.attributes.begin(), spec.attributes.end(),
                     [](const proto::SetAttribute& a) { return NamesOthers(a); });
}

absl::Status CheckInSet(const proto::SetAttribute& spec, const SetShape& shape, const std::string& where) {
  return NamesOthers(spec) ? CheckRank(spec.int_value(), shape, where, "int_value") : absl::OkStatus();
}

absl::Status CheckInSet(const NodeSpec& spec, const SetShape& shape, const std::string& where) {
  if (spec.row.type == NodeType::kSend || spec.row.type == NodeType::kRecv) {
    RETURN_IF_ERROR(CheckRank(spec.row.peer, shape, where, "node.peer"));
  }
  const std::string& group = spec.row.group;
  if (spec.own_group && group != "0" && !shape.groups.empty() && shape.groups.count(group) == 0) {
    std::vector<std::string> known;
    for (const auto& [name, members] : shape.groups) known.push_back(name);
    return BadField(where, "node.group",
                    absl::StrCat("\"", group, "\" is not a group of the traces", SuggestName(group, known)));
  }
  for (const proto::SetAttribute& a : spec.attributes) {
    if (!NamesOthers(a)) continue;
    RETURN_IF_ERROR(CheckRank(a.int_value(), shape, where, "node.attribute.int_value"));
  }
  return absl::OkStatus();
}

absl::Status SortRecorded(Draft* draft, std::vector<uint32_t>* rows) {
  ASSIGN_OR_RETURN(const auto order, draft->Order());
  std::vector<uint32_t> place(draft->size(), kNoRow);
  for (uint32_t i = 0; i < order->size(); ++i) place[(*order)[i]] = i;
  std::sort(rows->begin(), rows->end(), [&](uint32_t a, uint32_t b) { return place[a] < place[b]; });
  return absl::OkStatus();
}

namespace {

// A dependency that a row has already or would get.
struct Link {
  uint32_t chain, place;  // of the row that it depends on
  int64_t release, delay_ns;
  size_t added;  // index in the list of dependencies to add; SIZE_MAX: the row has it already
};

// Removes dependencies from `more` that another dependency, of r or in `more`, implies: a dependency on a
// later row of the chain, or on the same row with a release that is not earlier, with at least the same
// delay.
void DropImplied(Draft* draft, const Chains& chains, uint32_t r, Deps* more) {
  std::vector<Link> links;
  const auto add = [&](const Dep& d, size_t number) {
    if (d.row != kNoRow && chains.knows(d.row))
      links.push_back({chains.chain[d.row], chains.place[d.row], d.release, d.delay_ns, number});
  };
  for (const Dep& d : draft->deps(r)) add(d, SIZE_MAX);
  for (size_t i = 0; i < more->size(); ++i) add((*more)[i], i);
  if (links.size() < 2) return;
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::make_tuple(a.chain, b.place, b.release, b.delay_ns, b.added) <
           std::make_tuple(b.chain, a.place, a.release, a.delay_ns, a.added);
  });
  std::vector<bool> implied(more->size());
  int64_t longest = links[0].delay_ns;
  for (size_t i = 1; i < links.size(); ++i) {
    if (links[i].chain != links[i - 1].chain) {
      longest = links[i].delay_ns;
      continue;
    }
    if (links[i].added != SIZE_MAX && links[i].delay_ns <= longest) implied[links[i].added] = true;
    longest = std::max(longest, links[i].delay_ns);
  }
  size_t kept = 0;
  for (size_t i = 0; i < more->size(); ++i) {
    if (!implied[i]) (*more)[kept++] = (*more)[i];
  }
  more->resize(kept);
}

// Whether row `to` waited for row `from` of its own lane by way of `r` on another lane, and woke up by a
// dependency of this `kind`: a thread that handed work over and waited for it, or streams that took turns.
// The time for handing over and waking up disappears with `r`.
bool WentAround(const Draft& draft, uint32_t from, uint32_t r, uint32_t to, absl::string_view kind) {
  if (kind != "wake_up" && kind != "sync" && kind != "event_wait") return false;
  const auto same = [&](uint32_t a, uint32_t b) {
    const Row &x = draft.row(a), &y = draft.row(b);
    return x.lane != kNoLane && x.lane == y.lane && x.cpu() == y.cpu() && x.is_comm() == y.is_comm();
  };
  return same(from, to) && !same(from, r);
}

}  // namespace

void RemoveRewired(Draft* draft, const Chains& chains, uint32_t r, bool keep_time) {
  const Deps deps = draft->deps(r);
  const auto children = draft->children(r);
  Deps more;
  for (const uint32_t child : children) {
    const Dep on = draft->DepOn(child, r);
    const int64_t own_ns = keep_time ? ReleasedAfter(draft->row(r).duration, on.release).picos() / 1000 : 0;
    draft->DropDep(child, r, true);
    more.clear();
    for (const Dep& d : deps) {
      if (d.row == kNoRow) continue;
      const bool around = WentAround(*draft, d.row, r, child, on.kind);
      more.push_back({d.id, d.row, on.data && d.data, own_ns + (around ? 0 : on.delay_ns + d.delay_ns),
                      on.kind, around ? 0 : on.unexplained_ns + d.unexplained_ns, d.release});
    }
    DropImplied(draft, chains, child, &more);
    draft->AddDeps(child, more);
  }
  draft->Remove(r);
}

}  // namespace chakra::edit
