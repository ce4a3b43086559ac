#include "trace/import/host/host_trace.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"
#include "trace/import/host/host_node.h"
#include "trace/import/host/json_scan.h"
#include "trace/import/host/process_groups.h"

namespace chakra::pytorch {
namespace {

constexpr size_t kEnd = absl::string_view::npos;

constexpr absl::string_view kSchemas[] = {
    "1.0.1",
    "1.0.2-chakra.0.0.4",
    "1.0.3-chakra.0.0.4",
    "1.0.4-chakra.0.0.4",
    "1.1.0-chakra.0.0.4",
    "1.1.1-chakra.0.0.4",
    "1.1.1-chakra.1.0.0",
};

// Walks through the file's outer object and passes each node on.
class Walk {
 public:
  Walk(absl::string_view content, HostTrace* out, HostNodeReader* nodes)
      : text_(content), out_(out), nodes_(nodes) {}

  absl::Status Run();

  // Position of each node of the trace in the file.
  const std::vector<uint64_t>& offsets() const { return offsets_; }

 private:
  enum class Next { kMore, kEnd, kCut };

  absl::Status Expected(absl::string_view what) const;
  // Reads what follows a value in a container that ends with `close`: a comma, the end of the container, or
  // the end of the file.
  absl::StatusOr<Next> AfterValue(char close);
  absl::Status ReadField(bool* cut);
  absl::Status ReadNodes(bool* cut);
  // Whether the rest of the file is what a killed writer leaves: nothing, or zero bytes.
  bool NothingLeft() const;

  absl::string_view text_;
  HostTrace* out_;
  HostNodeReader* nodes_;
  size_t at_ = 0;
  bool has_nodes_ = false;
  bool has_schema_ = false;
  int64_t start_ms_ = kNone;  // time of the steady clock
  std::string time_;          // local time, "2026-11-23 05:30:16"
  std::vector<uint64_t> offsets_;
};

absl::Status Walk::Expected(absl::string_view what) const {
  const absl::string_view found = text_.substr(std::min(at_, text_.size()), 32);
  return absl::InvalidArgumentError(absl::StrCat(out_->file, ": byte ", at_,
                                                 ": not a host execution trace: expected ", what, ", found ",
                                                 found.empty() ? "the end of the file" : ToUtf8(found)));
}

bool Walk::NothingLeft() const {
  const size_t at = SkipSpace(text_, at_);
  return text_.find_first_not_of('\0', at) == kEnd;
}

absl::StatusOr<Walk::Next> Walk::AfterValue(char close) {
  at_ = SkipSpace(text_, at_);
  if (NothingLeft()) return Next::kCut;
  const char c = text_[at_];
  if (c != ',' && c != close) return Expected(close == ']' ? "',' or ']' after a node" : "',' or '}'");
  at_ = SkipSpace(text_, at_ + 1);
  if (c == close) return Next::kEnd;
  return NothingLeft() ? Next::kCut : Next::kMore;
}

absl::Status Walk::ReadNodes(bool* cut) {
  has_nodes_ = true;
  at_ = SkipSpace(text_, at_ + 1);
  if (at_ < text_.size() && text_[at_] == ']') {
    ++at_;
    return absl::OkStatus();
  }
  for (;;) {
    *cut = NothingLeft();
    if (*cut) return absl::OkStatus();
    if (text_[at_] != '{') return Expected("a node, '{'");
    const size_t end = SkipValue(text_, at_);
    *cut = end == kEnd;
    if (*cut) return absl::OkStatus();
    RETURN_IF_ERROR(nodes_->Read(text_.substr(at_, end - at_), at_));
    offsets_.push_back(at_);
    at_ = end;
    ASSIGN_OR_RETURN(Next next, AfterValue(']'));
    *cut = next == Next::kCut;
    if (next != Next::kMore) return absl::OkStatus();
  }
}

absl::Status Walk::ReadField(bool* cut) {
  if (text_[at_] != '"') return Expected("a field's name");
  const size_t key_end = SkipValue(text_, at_);
  *cut = key_end == kEnd;
  if (*cut) return absl::OkStatus();
  const absl::string_view key = text_.substr(at_ + 1, key_end - at_ - 2);
  at_ = SkipSpace(text_, key_end);
  *cut = NothingLeft();
  if (*cut) return absl::OkStatus();
  if (text_[at_] != ':') return Expected("':'");
  at_ = SkipSpace(text_, at_ + 1);
  *cut = NothingLeft();
  if (*cut) return absl::OkStatus();
  if (key == "nodes") {
    if (has_nodes_) return Expected("one list of nodes only");
    return text_[at_] == '[' ? ReadNodes(cut) : Expected("nodes, a list");
  }
  const size_t end = SkipValue(text_, at_);
  *cut = end == kEnd;
  if (*cut) return absl::OkStatus();
  if (end == at_) return Expected("a value");
  if (key == "schema") {
    if (text_[at_] != '"') return Expected("schema, a text");
    has_schema_ = true;
    out_->schema = ToUtf8(text_.substr(at_ + 1, end - at_ - 2));
  }
  int64_t number = 0;
  if (key == "pid" && absl::SimpleAtoi(text_.substr(at_, end - at_), &number)) out_->pid = number;
  if (key == "start_ts" && absl::SimpleAtoi(text_.substr(at_, end - at_), &number)) start_ms_ = number;
  if (key == "time" && text_[at_] == '"') time_ = std::string(text_.substr(at_ + 1, end - at_ - 2));
  at_ = end;
  return absl::OkStatus();
}

absl::Status Walk::Run() {
  if (absl::StartsWith(text_, "\xef\xbb\xbf")) at_ = 3;  // a byte order mark
  at_ = SkipSpace(text_, at_);
  if (at_ >= text_.size() || text_[at_] != '{') return Expected("a JSON object");
  at_ = SkipSpace(text_, at_ + 1);
  bool cut = NothingLeft();
  while (!cut) {
    RETURN_IF_ERROR(ReadField(&cut));
    if (cut) break;
    ASSIGN_OR_RETURN(Next next, AfterValue('}'));
    if (next == Next::kEnd) {
      if (!NothingLeft()) return Expected("nothing after the object");
      break;
    }
    cut = next == Next::kCut;
  }
  if (!has_nodes_) return Expected("the field nodes, a list");
  absl::Time wall;
  if (start_ms_ >= 0 && absl::ParseTime("%Y-%m-%d %H:%M:%S", time_, &wall, nullptr))
    out_->boot_ms = absl::ToUnixMillis(wall) - start_ms_;
  if (cut) {
    nodes_->repairs().Add(
        "truncated_host_trace", out_->nodes.empty() ? 0 : out_->nodes.back().id,
        absl::StrCat("the file ends at byte ", text_.size(), ", before the end of its JSON; ",
                     out_->nodes.size(), " whole nodes were read"));
  }
  if (!has_schema_ ||
      std::find(std::begin(kSchemas), std::end(kSchemas), out_->schema) == std::end(kSchemas)) {
    nodes_->repairs().Add(
        "unknown_schema", 0,
        absl::StrCat("schema \"", out_->schema, "\" is unknown; the fields that exist are read"));
  }
  return absl::OkStatus();
}

// Sorts the nodes by id. Error: two nodes with one id.
absl::Status SortNodes(const std::vector<uint64_t>& offsets, HostTrace* out) {
  const std::vector<HostNode>& nodes = out->nodes;
  std::vector<uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return nodes[a].id < nodes[b].id; });
  for (size_t i = 1; i < order.size(); ++i) {
    const uint32_t a = order[i - 1], b = order[i];
    if (nodes[a].id != nodes[b].id) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        out->file, ": byte ", offsets[b], ": node ", nodes[b].id, " \"", ToUtf8(out->name_of(nodes[b])),
        "\": field id: expected each id once, found the id before at byte ", offsets[a], " \"",
        ToUtf8(out->name_of(nodes[a])), "\""));
  }
  std::vector<HostNode> sorted;
  sorted.reserve(nodes.size());
  for (const uint32_t i : order) sorted.push_back(nodes[i]);
  out->nodes = std::move(sorted);
  return absl::OkStatus();
}

void CheckParents(const HostTrace& trace, RepairLog* repairs) {
  for (const HostNode& n : trace.nodes) {
    if (n.parent == n.id || trace.Find(n.parent) != nullptr) continue;
    repairs->Add("missing_parent", n.id,
                 absl::StrCat("node ", n.id, " \"", ToUtf8(trace.name_of(n)), "\": its parent ", n.parent,
                              " is not in the file"));
  }
}

// The rank on which all calls of known groups agree; kNoRank: none. A group is known by its start and stride,
// or by its list of ranks. Early files do not list groups: if the calls of such a file use only one group,
// that group is taken for all ranks.
int FindRank(const HostTrace& trace) {
  std::set<int64_t> known, alone;
  std::set<std::string> groups;
  for (const CommCall& c : trace.comms) {
    if (c.rank < 0) continue;
    if (!c.group.empty()) {
      const auto group = trace.groups.find(c.group);
      if (group == trace.groups.end()) {
        groups.insert(c.group);
        alone.insert(c.rank);
      } else if (c.rank < static_cast<int64_t>(group->second.size())) {
        known.insert(group->second[static_cast<size_t>(c.rank)]);
      }
    }
  }
  if (known.size() == 1) return static_cast<int>(*known.begin());
  if (known.empty() && groups.size() == 1 && alone.size() == 1 && *alone.begin() <= INT32_MAX) {
    return static_cast<int>(*alone.begin());
  }
  return kNoRank;
}

}  // namespace

const HostNode* HostTrace::Find(uint64_t id) const {
  const auto it = std::lower_bound(nodes.begin(), nodes.end(), id,
                                   [](const HostNode& n, uint64_t i) { return n.id < i; });
  return it != nodes.end() && it->id == id ? &*it : nullptr;
}

absl::StatusOr<HostTrace> ReadHostTrace(absl::string_view content, absl::string_view file) {
  HostTrace trace;
  trace.file = std::string(file);
  HostNodeReader nodes(&trace);
  Walk walk(content, &trace, &nodes);
  RETURN_IF_ERROR(walk.Run());
  RETURN_IF_ERROR(SortNodes(walk.offsets(), &trace));
  nodes.ResolveGroups();
  CheckParents(trace, &nodes.repairs());
  trace.rank = FindRank(trace);
  nodes.repairs().Take(trace.file, trace.rank, &trace.repairs);
  trace.strings.Shrink();
  return trace;
}

bool LooksLikeHostTrace(absl::string_view head) {
  if (absl::StartsWith(head, "\xef\xbb\xbf")) head.remove_prefix(3);
  size_t at = SkipSpace(head, 0);
  if (at >= head.size() || head[at] != '{') return false;
  bool schema = false;
  for (;;) {
    at = SkipSpace(head, at + 1);  // past '{' or ','
    if (at >= head.size() || head[at] != '"') return false;
    const size_t key_end = SkipValue(head, at);
    if (key_end == kEnd) return false;
    const absl::string_view key = head.substr(at + 1, key_end - at - 2);
    at = SkipSpace(head, key_end);
    if (at >= head.size() || head[at] != ':') return false;
    at = SkipSpace(head, at + 1);
    if (at >= head.size()) return false;
    schema |= key == "schema" && head[at] == '"';
    // Other writers may put the nodes before the schema.
    if (key == "nodes" && head[at] == '[') {
      return schema || absl::StrContains(head.substr(at), "\"schema\"") ||
             absl::StrContains(head, "\"rf_id\"");
    }
    const size_t end = SkipValue(head, at);
    if (end == kEnd) return false;
    at = SkipSpace(head, end);
    if (at >= head.size() || head[at] != ',') return false;
  }
}

}  // namespace chakra::pytorch
