#include "trace/import/host/host_node.h"

#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"
#include "trace/import/host/json_scan.h"
#include "trace/import/host/process_groups.h"
#include "trace/import/host/record_param_comms.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

using kineto::ToNanos;

constexpr size_t kMostMembers = size_t{1} << 24;

std::string Short(absl::string_view s) { return ToUtf8(s.substr(0, 60)); }

// Reads an integer, given as a number or as decimal text.
bool ToUint64(element e, uint64_t* out) {
  std::string_view text;
  if (e.get(*out) == simdjson::SUCCESS) return true;
  return e.get(text) == simdjson::SUCCESS && absl::SimpleAtoi(View(text), out);
}

bool ToInt64(element e, int64_t* out) {
  std::string_view text;
  if (e.get(*out) == simdjson::SUCCESS) return true;
  return e.get(text) == simdjson::SUCCESS && absl::SimpleAtoi(View(text), out);
}

}  // namespace

HostNodeReader::HostNodeReader(HostTrace* out) : out_(out) {
  empty_ = empty_parser_.parse("[]", 2).get_array().value_unsafe();
}

void RepairLog::Add(absl::string_view kind, uint64_t node, absl::string_view detail) {
  const auto [it, added] = kinds_.try_emplace(std::string(kind));
  Repair& r = it->second;
  if (added) {
    r.kind = std::string(kind);
    r.first_node = node;
    r.detail = std::string(detail);
  }
  ++r.count;
}

void RepairLog::Take(const std::string& file, int rank, std::vector<Repair>* repairs) const {
  for (const auto& [kind, repair] : kinds_) {
    repairs->push_back(repair);
    repairs->back().file = file;
    repairs->back().rank = rank;
  }
}

absl::Status HostNodeReader::Error(absl::string_view field, absl::string_view expected, element found) const {
  return absl::InvalidArgumentError(absl::StrCat(out_->file, ": byte ", offset_, ": node ", node_.id, " \"",
                                                 Short(name_), "\": field ", field, ": expected ", expected,
                                                 ", found ", Short(simdjson::minify(found))));
}

// Parses a whole node. If that fails, puts the bare nan and inf of old writers in quotes and parses again.
absl::Status HostNodeReader::Parse(absl::string_view text, object* object) {
  const auto parse = [&](absl::string_view json) {
    padded_.assign(json.data(), json.size());
    padded_.append(simdjson::SIMDJSON_PADDING, ' ');
    parsed_ = absl::string_view(padded_.data(), json.size());
    return parser_.parse(padded_.data(), json.size(), false).get(*object);
  };
  const simdjson::error_code error = parse(text);
  if (error == simdjson::SUCCESS) return absl::OkStatus();
  const std::string quoted = QuoteNonNumbers(text);
  if (!quoted.empty() && parse(quoted) == simdjson::SUCCESS) {
    repairs_.Add("bare_nan", 0,
                 absl::StrCat("nan or inf outside of quotes, first in the node at byte ", offset_));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(out_->file, ": byte ", offset_,
                                                 ": expected a node as a JSON object, found ", Short(text),
                                                 ": ", simdjson::error_message(error)));
}

uint32_t HostNodeReader::Keep(absl::string_view raw) {
  if (raw.size() <= kKeptText) return out_->strings.Intern(raw);
  repairs_.Add("cut_arguments", node_.id,
               absl::StrCat("argument lists with more than ", kKeptText, " bytes of text were cut"));
  return out_->strings.Intern(CutValue(raw, kKeptText));
}

absl::Status HostNodeReader::ReadScalar(absl::string_view key, element value) {
  uint64_t number = 0;
  if (key == "op_schema") {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return Error(key, "a text", value);
    node_.op_schema = out_->strings.Intern(View(text));
    return absl::OkStatus();
  }
  if (key == "seq_id") {
    if (!ToInt64(value, &node_.seq_id)) return Error(key, "an integer", value);
    return absl::OkStatus();
  }
  const struct {
    absl::string_view key;
    uint64_t* wide;
    uint32_t* narrow;
  } kFields[] = {{"ctrl_deps", &node_.parent, nullptr}, {"parent", &node_.parent, nullptr},
                 {"rf_id", &node_.rf_id, nullptr},      {"fw_parent", &node_.fw_parent, nullptr},
                 {"scope", nullptr, &node_.scope},      {"tid", nullptr, &node_.tid},
                 {"fw_tid", nullptr, &node_.fw_tid}};
  for (const auto& f : kFields) {
    if (f.key != key) continue;
    const uint64_t most = f.wide != nullptr ? std::numeric_limits<uint64_t>::max() : kNoRow;
    if (!ToUint64(value, &number) || number > most) {
      return Error(key, absl::StrCat("an integer from 0 to ", most), value);
    }
    if (f.wide != nullptr) {
      *f.wide = number;
    } else {
      *f.narrow = static_cast<uint32_t>(number);
    }
  }
  return absl::OkStatus();
}

// Reads {"values": [...], "shapes": [...], "types": [...]}.
absl::Status HostNodeReader::ReadArguments(element value, absl::string_view raw, bool inputs) {
  object lists;
  if (value.get(lists) != simdjson::SUCCESS) {
    return Error(inputs ? "inputs" : "outputs", "a list, or an object of lists", value);
  }
  FieldScan scan(raw);
  for (const auto& [key, list] : lists) {
    const absl::string_view text = scan.Next();
    array a;
    if (key != "values" && key != "shapes" && key != "types") continue;
    if (list.get(a) != simdjson::SUCCESS) {
      return Error(absl::StrCat(inputs ? "inputs." : "outputs.", View(key)), "a list", list);
    }
    if (key == "shapes") {
      (inputs ? node_.in_shapes : node_.out_shapes) = Keep(text);
    } else if (key == "types") {
      (inputs ? node_.in_types : node_.out_types) = Keep(text);
      if (inputs) types_ = a;
    } else if (inputs) {
      node_.in_values = Keep(text);
      values_ = a;
    }
  }
  return absl::OkStatus();
}

absl::Status HostNodeReader::ReadAttributes(element value) {
  if (value.get(attrs_) != simdjson::SUCCESS) return Error("attrs", "a list", value);
  for (const element a : attrs_) {
    std::string_view name;
    element v;
    if (a["name"].get(name) != simdjson::SUCCESS || a["value"].get(v) != simdjson::SUCCESS) {
      return Error("attrs", "objects with name and value", a);
    }
    RETURN_IF_ERROR(ReadScalar(View(name), v));
  }
  return absl::OkStatus();
}

bool HostNodeReader::ReadLinked(absl::string_view key, element value, absl::string_view raw) {
  const auto time = [&](int64_t* ns) {
    constexpr int64_t kMost = int64_t{1} << 62;  // differences of two times do not overflow
    if (!ToNanos(raw, ns) || *ns <= -kMost || *ns >= kMost) *ns = kNone;
    return true;
  };
  if (key == "ts") return time(&linked_.ts_ns);
  if (key == "inclusive_dur") return time(&linked_.dur_ns);
  if (key == "stream") return ToInt64(value, &linked_.stream), true;
  if (key != "cat") return false;
  const kineto::Category category = kineto::ParseCategory(raw);
  linked_.device = category.use == kineto::Category::kEvent && OnDevice(category.kind);
  linked_.kind = static_cast<uint8_t>(category.kind);
  return true;
}

absl::Status HostNodeReader::ReadField(absl::string_view key, element value, absl::string_view raw) {
  if (key == "attrs") return ReadAttributes(value);
  if (ReadLinked(key, value, raw)) return absl::OkStatus();
  const bool inputs = key == "inputs";
  if (inputs || key == "outputs") {
    if (!value.is_array()) return ReadArguments(value, raw, inputs);
    if (inputs) {
      values_ = value.get_array().value_unsafe();
      node_.in_values = Keep(raw);
    }
    return absl::OkStatus();
  }
  const struct {
    absl::string_view key;
    uint32_t* to;
  } kLists[] = {{"input_shapes", &node_.in_shapes},
                {"input_types", &node_.in_types},
                {"output_shapes", &node_.out_shapes},
                {"output_types", &node_.out_types}};
  for (const auto& l : kLists) {
    if (l.key != key) continue;
    array a;
    if (value.get(a) != simdjson::SUCCESS) return Error(key, "a list", value);
    if (key == "input_types") types_ = a;
    *l.to = Keep(raw);
    return absl::OkStatus();
  }
  return ReadScalar(key, value);
}

void HostNodeReader::AddGroup(const std::string& name, std::vector<int> ranks) {
  const auto known = out_->groups.find(name);
  if (known != out_->groups.end()) {
    if (known->second == ranks) return;
    repairs_.Add(
        "changed_process_group", node_.id,
        absl::StrCat("group \"", Short(name), "\": its ranks differ from those before; the first are kept"));
  } else if (ranks.size() > kMostMembers - members_) {
    repairs_.Add(
        "too_many_group_members", node_.id,
        absl::StrCat("group \"", Short(name), "\": left out, because all groups together have more than ",
                     kMostMembers, " members"));
  } else {
    members_ += ranks.size();
    out_->groups.emplace(name, std::move(ranks));
  }
}

// Reads the groups of a "## process_group:init ##" node.
void HostNodeReader::ReadGroups() {
  const std::string subject = absl::StrCat("node ", node_.id, " \"", name_, "\"");
  std::string_view text;
  if (values_.at(0).get(text) != simdjson::SUCCESS) {
    repairs_.Add("bad_process_groups", node_.id, absl::StrCat(subject, ": expected JSON text in inputs"));
    return;
  }
  absl::StatusOr<GroupNote> note = ReadGroupNote(View(text), subject);
  if (!note.ok()) {
    repairs_.Add("bad_process_groups", node_.id, note.status().message());
    return;
  }
  for (auto& [name, ranks] : note->groups) AddGroup(name, std::move(ranks));
  alias_.insert(note->alias.begin(), note->alias.end());
  if (note->cut) {
    repairs_.Add("truncated_process_groups", node_.id,
                 absl::StrCat(subject, ": cut short, ", note->groups.size(), " groups are whole"));
  }
}

absl::Status HostNodeReader::ReadIdentity(object fields) {
  std::string_view name;
  element value;
  const bool has_name = fields["name"].get(name) == simdjson::SUCCESS;
  if (has_name) name_ = std::string(name);
  if (fields["id"].get(value) != simdjson::SUCCESS || !ToUint64(value, &node_.id)) {
    return absl::InvalidArgumentError(absl::StrCat(out_->file, ": byte ", offset_, ": node \"", Short(name_),
                                                   "\": field id: expected an integer, 0 or more"));
  }
  if (!has_name) {
    return absl::InvalidArgumentError(
        absl::StrCat(out_->file, ": byte ", offset_, ": node ", node_.id, ": field name: expected a text"));
  }
  node_.name = out_->strings.Intern(name_);
  return absl::OkStatus();
}

void HostNodeReader::ReadCall() {
  CommOddities odd;
  node_.comm = static_cast<uint32_t>(out_->comms.size());
  out_->comms.push_back(ReadCommCall(values_, types_, attrs_, &odd));
  const CommCall& call = out_->comms.back();
  if (odd.no_name) {
    repairs_.Add(
        "unknown_collective", node_.id,
        absl::StrCat("record_param_comms of \"", Short(call.name), "\", which is not a known collective"));
  }
  if (odd.splits_differ) {
    repairs_.Add("bad_splits", node_.id,
                 "split sizes whose sum is not the buffer's size; equal splits are used");
  }
}

absl::Status HostNodeReader::Read(absl::string_view text, uint64_t offset) {
  object fields;
  node_ = HostNode();
  linked_ = LinkedNode();
  name_.clear();
  offset_ = offset;
  values_ = types_ = attrs_ = empty_;
  RETURN_IF_ERROR(Parse(text, &fields));
  RETURN_IF_ERROR(ReadIdentity(fields));
  FieldScan scan(parsed_);
  for (const auto& [key, value] : fields) {
    RETURN_IF_ERROR(ReadField(View(key), value, scan.Next()));
  }
  if (name_ == "record_param_comms") ReadCall();
  if (absl::StrContains(name_, "process_group:init")) ReadGroups();
  out_->nodes.push_back(node_);
  if (linked_.ts_ns != kNone && linked_.dur_ns >= 0) out_->linked.emplace(node_.id, linked_);
  return absl::OkStatus();
}

void HostNodeReader::ResolveGroups() {
  for (CommCall& call : out_->comms) {
    const auto named = alias_.find(call.group);
    if (named != alias_.end() && out_->groups.count(call.group) == 0) call.group = named->second;
    if (call.group.empty() || out_->groups.count(call.group) > 0) continue;
    std::vector<int> ranks = StridedGroup(call.start, call.stride, call.group_size);
    if (!ranks.empty()) AddGroup(call.group, std::move(ranks));
  }
}

}  // namespace chakra::pytorch
