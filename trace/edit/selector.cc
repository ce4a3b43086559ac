#include "trace/edit/selector.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "re2/re2.h"
#include "trace/base/status_macros.h"

namespace chakra::edit {
namespace {

re2::StringPiece Piece(absl::string_view s) { return {s.data(), s.size()}; }

using Pattern = std::unique_ptr<re2::RE2>;

absl::StatusOr<Pattern> Compile(const std::string& text, absl::string_view where, absl::string_view field) {
  if (text.empty()) return Pattern();
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // names are bytes
  auto pattern = std::make_unique<re2::RE2>(text, options);
  if (pattern->ok()) return pattern;
  return absl::InvalidArgumentError(absl::StrCat(where, ", ", field, ": \"", text,
                                                 "\" is not a regular expression (", pattern->error(),
                                                 "), expected the syntax of RE2"));
}

struct Bounds {
  std::optional<double> min, max;
  bool has(double v) const { return (!min || v >= *min) && (!max || v <= *max); }
};

absl::StatusOr<std::optional<Bounds>> MakeBounds(bool given, const proto::Range& range,
                                                 absl::string_view where, absl::string_view field) {
  if (!given) return std::optional<Bounds>();
  Bounds b;
  if (range.has_min()) b.min = range.min();
  if (range.has_max()) b.max = range.max();
  if ((!b.min && !b.max) || (b.min && b.max && !(*b.min <= *b.max)) || (b.min && *b.min != *b.min) ||
      (b.max && *b.max != *b.max)) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ", ", field, ": min ", b.min ? absl::StrCat(*b.min) : "absent", ", max ",
                     b.max ? absl::StrCat(*b.max) : "absent", "; expected at least one, and min <= max"));
  }
  return std::optional<Bounds>(b);
}

// Kinds of nodes that selectors know in addition to the schema's types.
struct Kind {
  const char* name;
  bool (*is)(const Row&);
};
constexpr Kind kKinds[] = {
    {"host", [](const Row& r) { return r.works() && r.cpu(); }},
    {"device",
     [](const Row& r) { return r.works() && !r.cpu() && !r.is_comm() && !r.kept_comm() && !r.copies(); }},
    {"compute",
     [](const Row& r) { return r.type == NodeType::kComp && !r.cpu() && !r.kept_comm() && !r.copies(); }},
    {"comm", [](const Row& r) { return r.is_comm() || r.kept_comm(); }},
    {"collective", [](const Row& r) { return r.type == NodeType::kCollective; }},
    {"send", [](const Row& r) { return r.type == NodeType::kSend; }},
    {"recv", [](const Row& r) { return r.type == NodeType::kRecv; }},
    {"memory", [](const Row& r) { return r.copies(); }},
    {"load", [](const Row& r) { return r.type == NodeType::kMemLoad; }},
    {"store", [](const Row& r) { return r.type == NodeType::kMemStore; }},
};

struct AttributeTest {
  std::string name;
  Pattern value;
  std::optional<Bounds> range;
  bool absent = false;
};

}  // namespace

struct Selector::Node {
  Pattern name, ancestor, shapes, dtype;
  std::vector<NodeType> types;
  std::vector<const Kind*> kinds;
  std::vector<Interval> ranks, ids;
  std::vector<LaneSpec> lanes;
  std::vector<std::string> groups;
  std::vector<CollectiveType> collectives;
  std::optional<Bounds> bytes, duration, operations;
  std::vector<AttributeTest> attributes;
  std::string iteration;
  std::vector<Node> any_of, all_of, none_of;
  bool names_others() const {
    return !types.empty() || !ids.empty();
  }  // true: METADATA and INVALID nodes may match

  absl::Status Fill(const proto::Selector& spec, const std::string& where);
  absl::Status FillLists(const proto::Selector& spec, const std::string& where);
  absl::Status FillAttributes(const proto::Selector& spec, const std::string& where);
};

absl::Status Selector::Node::FillAttributes(const proto::Selector& spec, const std::string& where) {
  for (const proto::AttributeMatch& a : spec.attribute()) {
    AttributeTest& test = attributes.emplace_back();
    const std::string field = absl::StrCat("attribute \"", a.name(), "\"");
    if (a.name().empty())
      return absl::InvalidArgumentError(
          absl::StrCat(where, ", attribute: name is empty, expected an attribute's"));
    if (a.absent() && (!a.value().empty() || a.has_range()))
      return absl::InvalidArgumentError(
          absl::StrCat(where, ", ", field, ": absent with a value, expected one of the two"));
    test.name = a.name();
    test.absent = a.absent();
    ASSIGN_OR_RETURN(test.value,
                     Compile(a.value().empty() ? "" : absl::StrCat("^(?:", a.value(), ")$"), where, field));
    ASSIGN_OR_RETURN(test.range, MakeBounds(a.has_range(), a.range(), where, field));
  }
  return absl::OkStatus();
}

absl::Status Selector::Node::FillLists(const proto::Selector& spec, const std::string& where) {
  const auto bad = [&](absl::string_view field, const absl::Status& s) {
    return absl::InvalidArgumentError(absl::StrCat(where, ", ", field, ": ", s.message()));
  };
  for (const std::string& t : spec.type()) {
    const auto* kind =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return t == k.name; });
    if (kind != std::end(kKinds)) {
      kinds.push_back(kind);
      continue;
    }
    std::vector<std::string> names;
    for (const Kind& k : kKinds) names.emplace_back(k.name);
    absl::StatusOr<NodeType> type = ParseNodeType(t, std::move(names));
    if (!type.ok()) return bad("type", type.status());
    types.push_back(*type);
  }
  for (const auto& [list, out, field] :
       {std::make_tuple(&spec.ranks(), &ranks, "ranks"), std::make_tuple(&spec.id(), &ids, "id")}) {
    for (const std::string& text : *list) {
      absl::StatusOr<Interval> interval = ParseInterval(text);
      if (!interval.ok()) return bad(field, interval.status());
      out->push_back(*interval);
    }
  }
  for (const std::string& l : spec.lane()) {
    absl::StatusOr<LaneSpec> lane = ParseLane(l);
    if (!lane.ok()) return bad("lane", lane.status());
    lanes.push_back(*lane);
  }
  groups.assign(spec.group().begin(), spec.group().end());
  for (const std::string& c : spec.collective()) {
    absl::StatusOr<CollectiveType> type = ParseCollective(c);
    if (!type.ok()) return bad("collective", type.status());
    collectives.push_back(*type);
  }
  return absl::OkStatus();
}

absl::Status Selector::Node::Fill(const proto::Selector& spec, const std::string& where) {
  for (const auto& [text, out, field] : {std::make_tuple(&spec.name(), &name, "name"),
                                         std::make_tuple(&spec.ancestor(), &ancestor, "ancestor"),
                                         std::make_tuple(&spec.shapes(), &shapes, "shapes"),
                                         std::make_tuple(&spec.dtype(), &dtype, "dtype")}) {
    ASSIGN_OR_RETURN(*out, Compile(*text, where, field));
  }
  for (const auto& [given, range, out, field] :
       {std::make_tuple(spec.has_bytes(), &spec.bytes(), &bytes, "bytes"),
        std::make_tuple(spec.has_duration_us(), &spec.duration_us(), &duration, "duration_us"),
        std::make_tuple(spec.has_operations(), &spec.operations(), &operations, "operations")}) {
    ASSIGN_OR_RETURN(*out, MakeBounds(given, *range, where, field));
  }
  RETURN_IF_ERROR(FillLists(spec, where));
  RETURN_IF_ERROR(FillAttributes(spec, where));
  iteration = spec.iteration();
  if (spec.has_iteration()) {  // checks only the syntax; the number of iterations depends on the trace
    const auto parsed = ParseIteration(iteration, SIZE_MAX);
    if (!parsed.ok())
      return absl::InvalidArgumentError(absl::StrCat(where, ", iteration: ", parsed.status().message()));
  }
  for (const auto& [list, out, field] : {std::make_tuple(&spec.any_of(), &any_of, "any_of"),
                                         std::make_tuple(&spec.all_of(), &all_of, "all_of"),
                                         std::make_tuple(&spec.none_of(), &none_of, "none_of")}) {
    for (int i = 0; i < list->size(); ++i) {
      RETURN_IF_ERROR(out->emplace_back().Fill(list->Get(i), absl::StrCat(where, ", ", field, " ", i)));
    }
  }
  return absl::OkStatus();
}

// The evaluation of a selector on a draft.
class Selector::Evaluation {
 public:
  Evaluation(Draft* draft) : draft_(*draft) {}

  absl::Status Prepare(const Node& n) {
    if (!n.iteration.empty()) {
      RETURN_IF_ERROR(FindSteps(n));
    }
    for (const auto* list : {&n.any_of, &n.all_of, &n.none_of}) {
      for (const Node& child : *list) {
        RETURN_IF_ERROR(Prepare(child));
      }
    }
    return absl::OkStatus();
  }

  bool Has(const Node& n, uint32_t r) {
    const Row& row = draft_.row(r);
    const auto any = [](const auto& list, const auto& test) {
      return list.empty() || std::any_of(list.begin(), list.end(), test);
    };
    if (!any(n.ranks, [&](const Interval& i) { return i.has(draft_.rank()); })) return false;
    if (!n.types.empty() || !n.kinds.empty()) {
      const bool of_type = std::find(n.types.begin(), n.types.end(), row.type) != n.types.end();
      if (!of_type && std::none_of(n.kinds.begin(), n.kinds.end(), [&](const Kind* k) { return k->is(row); }))
        return false;
    }
    if (!any(n.ids,
             [&](const Interval& i) { return row.id <= INT64_MAX && i.has(static_cast<int64_t>(row.id)); }))
      return false;
    return HasComm(n, row) && HasNumbers(n, row) && HasTexts(n, r) && HasAttributes(n, r) && HasPlace(n, r) &&
           HasChildren(n, r);
  }

 private:
  static bool HasComm(const Node& n, const Row& row) {
    if (!n.groups.empty() &&
        (!row.is_comm() || std::find(n.groups.begin(), n.groups.end(), row.group) == n.groups.end()))
      return false;
    return n.collectives.empty() ||
           (row.type == NodeType::kCollective &&
            std::find(n.collectives.begin(), n.collectives.end(),
                      static_cast<CollectiveType>(row.comm.type)) != n.collectives.end());
  }

  static bool HasNumbers(const Node& n, const Row& row) {
    return (!n.bytes || n.bytes->has(static_cast<double>(row.bytes()))) &&
           (!n.duration || n.duration->has(static_cast<double>(row.duration.picos()) * 1e-6)) &&
           (!n.operations || (!row.is_comm() && n.operations->has(static_cast<double>(row.work.num_ops))));
  }

  bool HasTexts(const Node& n, uint32_t r) {
    const Row& row = draft_.row(r);
    if (n.name && !re2::RE2::PartialMatch(Piece(row.name), *n.name)) return false;
    if (n.shapes && !re2::RE2::PartialMatch(Piece(row.shapes), *n.shapes)) return false;
    if (!n.dtype || re2::RE2::PartialMatch(Piece(row.types), *n.dtype)) return true;
    Attribute a;
    return draft_.Attr(r, "comm_dtype", &a) && re2::RE2::PartialMatch(AttributeText(a), *n.dtype);
  }

  bool HasAttributes(const Node& n, uint32_t r) const {
    for (const AttributeTest& test : n.attributes) {
      Attribute a;
      const bool there = draft_.Attr(r, test.name, &a);
      if (there == test.absent) return false;
      if (test.value && !re2::RE2::PartialMatch(AttributeText(a), *test.value)) return false;
      double number = 0;
      if (test.range && (!AttributeNumber(a, &number) || !test.range->has(number))) return false;
    }
    return true;
  }

  bool HasPlace(const Node& n, uint32_t r) {
    const Row& row = draft_.row(r);
    const bool on_lane =
        n.lanes.empty() || std::any_of(n.lanes.begin(), n.lanes.end(), [&](const LaneSpec& l) {
          if (l.none) return row.lane == kNoLane;
          return row.lane != kNoLane && l.cpu == row.cpu() && (l.any || l.lane == row.lane);
        });
    if (!on_lane) return false;
    if (!n.iteration.empty() && !steps_.at(&n)[r]) return false;
    return !n.ancestor || HasAncestor(n, r);
  }

  // Caches answers, because many rows share callers.
  bool HasAncestor(const Node& n, uint32_t r) {
    std::vector<int8_t>& known = ancestors_[&n];
    known.resize(draft_.size(), -1);
    std::vector<uint32_t> path;
    int8_t answer = 0;
    for (uint32_t at = r; at != kNoRow && path.size() <= draft_.size();) {
      if (known[at] >= 0) {
        answer = known[at];
        break;
      }
      path.push_back(at);
      at = draft_.Parent(at);
      if (at != kNoRow && re2::RE2::PartialMatch(Piece(draft_.row(at).name), *n.ancestor)) {
        answer = 1;
        break;
      }
    }
    for (const uint32_t p : path) known[p] = answer;
    return answer == 1;
  }

  bool HasChildren(const Node& n, uint32_t r) {
    const auto has = [&](const Node& child) { return Has(child, r); };
    return (n.any_of.empty() || std::any_of(n.any_of.begin(), n.any_of.end(), has)) &&
           std::all_of(n.all_of.begin(), n.all_of.end(), has) &&
           std::none_of(n.none_of.begin(), n.none_of.end(), has);
  }

  absl::Status FindSteps(const Node& n) {
    ASSIGN_OR_RETURN(Iterations found, FindIterations(&draft_));
    absl::StatusOr<Interval> wanted = ParseIteration(n.iteration, found.rows.size());
    if (!wanted.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(draft_.file(), ": rank ", draft_.rank(), ", iteration: ", wanted.status().message()));
    }
    std::vector<bool>& in = steps_[&n];
    in.resize(draft_.size());
    for (size_t i = 0; i < found.rows.size(); ++i) {
      if (!wanted->has(static_cast<int64_t>(i))) continue;
      for (const uint32_t r : found.rows[i]) in[r] = true;
    }
    return absl::OkStatus();
  }

  Draft& draft_;
  absl::flat_hash_map<const Node*, std::vector<bool>> steps_;
  absl::flat_hash_map<const Node*, std::vector<int8_t>> ancestors_;
};

Selector::Selector(std::unique_ptr<Node> root) : root_(std::move(root)) {}
Selector::Selector(Selector&&) noexcept = default;
Selector& Selector::operator=(Selector&&) noexcept = default;
Selector::~Selector() = default;

absl::StatusOr<Selector> Selector::Make(const proto::Selector& spec, absl::string_view where) {
  auto root = std::make_unique<Node>();
  RETURN_IF_ERROR(root->Fill(spec, std::string(where)));
  return Selector(std::move(root));
}

bool Selector::MayMatch(int rank) const {
  return root_->ranks.empty() || std::any_of(root_->ranks.begin(), root_->ranks.end(),
                                             [&](const Interval& i) { return i.has(rank); });
}

absl::StatusOr<std::vector<uint32_t>> Selector::Match(Draft* draft) const {
  std::vector<uint32_t> out;
  if (!MayMatch(draft->rank())) return out;
  Evaluation evaluation(draft);
  RETURN_IF_ERROR(evaluation.Prepare(*root_));
  const bool all = root_->names_others();
  const auto& ids = root_->ids;
  std::vector<uint32_t> rows;
  if (!ids.empty() &&
      std::all_of(ids.begin(), ids.end(), [](const Interval& i) { return i.first == i.last; })) {
    for (const Interval& i : ids) rows.push_back(draft->Find(static_cast<uint64_t>(i.first)));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.back() == kNoRow) rows.pop_back();
  } else {
    rows.resize(draft->size());
    std::iota(rows.begin(), rows.end(), 0u);
  }
  for (const uint32_t r : rows) {
    const Row& row = draft->row(r);
    if (row.removed || (!all && !row.works())) continue;
    if (evaluation.Has(*root_, r)) out.push_back(r);
  }
  return out;
}

}  // namespace chakra::edit
