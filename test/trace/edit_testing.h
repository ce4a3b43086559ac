// Small traces as text, for tests of edits: a line is a node, before the edit and after it.
//
//   ID KIND NAME [KEY=VALUE ...] [host] [<- DEPENDENCY ...]
//
// KIND is comp, load, store, send, recv, metadata or a collective ("all_reduce"). Keys: start and us
// (recorded, in microseconds), bytes, ops, stream, tid, group, peer, tag, transfer (ns); any other is an
// attribute, a number or a text. A dependency is an id; "c" before it: control; "@N" after it: it releases
// after N thousandths of its duration; "+NS" after that: its delay; "~NS" after that: the part of the delay
// that nothing explains; ":KIND" at its end: of dep_kinds. Data dependencies come before control
// dependencies. Lists of nodes keep this order of keys, so that texts can be compared.
#pragma once

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/edit.pb.h"
#include "proto/et_def.pb.h"
#include "trace/edit/plan.h"
#include "trace/edit/selector.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/io/proto_io.h"

namespace chakra::edit {

namespace et = ChakraProtoMsg;

inline const std::map<std::string, et::NodeType>& NodeKinds() {
  static const auto* kinds = new std::map<std::string, et::NodeType>{
      {"comp", et::COMP_NODE},      {"load", et::MEM_LOAD_NODE},  {"store", et::MEM_STORE_NODE},
      {"send", et::COMM_SEND_NODE}, {"recv", et::COMM_RECV_NODE}, {"metadata", et::METADATA_NODE}};
  return *kinds;
}

// ---- From text ----

inline et::AttributeProto* SetAttr(et::Node* node, const std::string& name) {
  et::AttributeProto* a = node->add_attr();
  a->set_name(name);
  return a;
}

// Texts of a node's dependencies, data dependencies first.
struct DepTexts {
  std::vector<int64_t> delays, unexplained, releases;
  std::vector<std::string> kinds;
};

inline void ParseDep(absl::string_view text, et::Node* node, DepTexts* out) {
  const bool control = absl::ConsumePrefix(&text, "c");
  const std::vector<std::string> kind = absl::StrSplit(text, ':');
  const std::vector<std::string> delay = absl::StrSplit(kind[0], absl::ByAnyChar("+~"));
  const std::vector<std::string> from = absl::StrSplit(delay[0], '@');
  uint64_t id = 0;
  int64_t ns = 0, unknown = 0, release = 1000;
  ASSERT_TRUE(absl::SimpleAtoi(from[0], &id)) << text;
  if (from.size() > 1) {
    ASSERT_TRUE(absl::SimpleAtoi(from[1], &release)) << text;
  }
  if (delay.size() > 1) {
    ASSERT_TRUE(absl::SimpleAtoi(delay[1], &ns)) << text;
  }
  if (delay.size() > 2) {
    ASSERT_TRUE(absl::SimpleAtoi(delay[2], &unknown)) << text;
  }
  (control ? node->mutable_ctrl_deps() : node->mutable_data_deps())->Add(id);
  out->delays.push_back(ns);
  out->unexplained.push_back(unknown);
  out->releases.push_back(kReleaseAtEnd / 1000 * release);
  if (!control) out->kinds.push_back(kind.size() > 1 ? kind[1] : "");
}

inline void ParseKey(const std::string& key, const std::string& value, et::Node* node) {
  const bool comm = node->type() >= et::COMM_SEND_NODE;
  int64_t number = 0;
  double us = 0;
  if (key == "us" || key == "start") {
    ASSERT_TRUE(absl::SimpleAtod(value, &us)) << key << "=" << value;
    const auto ns = static_cast<int64_t>(us * 1000 + 0.5);
    const auto micros = static_cast<uint64_t>(ns / 1000);
    key == "us" ? node->set_duration_micros(micros) : node->set_start_time_micros(micros);
    if (ns % 1000 != 0) SetAttr(node, key == "us" ? "duration_ns" : "start_ns")->set_int64_val(ns);
    return;
  }
  std::string name = key == "bytes"      ? (comm ? "comm_size" : "tensor_size")
                     : key == "ops"      ? "num_ops"
                     : key == "group"    ? "pg_name"
                     : key == "transfer" ? "transfer_ns"
                     : key == "peer"     ? (node->type() == et::COMM_SEND_NODE ? "comm_dst" : "comm_src")
                     : key == "tag"      ? "comm_tag"
                                         : key;
  if (key != "group" && absl::SimpleAtoi(value, &number)) {
    SetAttr(node, name)->set_int64_val(number);
  } else {
    SetAttr(node, name)->set_string_val(value);
  }
}

inline et::Node ParseNode(const std::string& line) {
  et::Node node;
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipWhitespace());
  uint64_t id = 0;
  if (words.size() < 3 || !absl::SimpleAtoi(words[0], &id)) {
    ADD_FAILURE() << "expected ID KIND NAME: " << line;
    return node;
  }
  node.set_id(id);
  node.set_name(words[2]);
  if (const auto kind = NodeKinds().find(words[1]); kind != NodeKinds().end()) {
    node.set_type(kind->second);
  } else {
    node.set_type(et::COMM_COLL_NODE);
    const absl::StatusOr<CollectiveType> type = ParseCollective(words[1]);
    EXPECT_TRUE(type.ok()) << type.status();
    SetAttr(&node, "comm_type")
        ->set_int64_val(static_cast<int64_t>(type.value_or(CollectiveType::kAllReduce)));
  }
  bool deps = false;
  DepTexts texts;
  for (size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "<-") {
      deps = true;
    } else if (deps) {
      ParseDep(words[i], &node, &texts);
    } else if (words[i] == "host") {
      SetAttr(&node, "is_cpu_op")->set_bool_val(true);
    } else {
      const std::pair<std::string, std::string> key = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      ParseKey(key.first, key.second, &node);
    }
  }
  const auto put = [&](const char* name, const std::vector<int64_t>& values, int64_t usual) {
    if (values == std::vector<int64_t>(values.size(), usual)) return;
    et::AttributeProto* list = SetAttr(&node, name);
    for (const int64_t v : values) list->mutable_int64_list()->add_values(v);
  };
  put("dep_delay_ns", texts.delays, 0);
  put("dep_unexplained_ns", texts.unexplained, 0);
  put("dep_release", texts.releases, kReleaseAtEnd);
  const std::string kinds = absl::StrJoin(texts.kinds, "");
  if (!kinds.empty()) SetAttr(&node, "dep_kinds")->set_string_val(absl::StrJoin(texts.kinds, ","));
  return node;
}

// The frames of a trace, with metadata of version 0.0.4.
inline std::string Frames(const std::string& nodes) {
  std::string out;
  EtWriter writer(&out, Compression::kNone);
  et::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  EXPECT_TRUE(writer.AddMetadata(metadata).ok());
  for (const absl::string_view line : absl::StrSplit(nodes, '\n', absl::SkipWhitespace()))
    EXPECT_TRUE(writer.AddNode(ParseNode(std::string(line))).ok());
  EXPECT_TRUE(writer.Finish().ok());
  return out;
}

// ---- To text ----

inline std::string AttrText(const et::AttributeProto& a) {
  switch (a.value_case()) {
    case et::AttributeProto::kInt32Val:
      return absl::StrCat(a.int32_val());
    case et::AttributeProto::kInt64Val:
      return absl::StrCat(a.int64_val());
    case et::AttributeProto::kUint64Val:
      return absl::StrCat(a.uint64_val());
    case et::AttributeProto::kDoubleVal:
      return absl::StrCat(a.double_val());
    case et::AttributeProto::kBoolVal:
      return a.bool_val() ? "true" : "false";
    case et::AttributeProto::kStringVal:
      return a.string_val();
    default:
      return a.ShortDebugString();
  }
}

inline std::string NodeText(const et::Node& node) {
  std::map<std::string, std::string> attrs;
  std::vector<int64_t> delays, unexplained, releases;
  std::vector<std::string> kinds;
  bool host = false;
  for (const et::AttributeProto& a : node.attr()) {
    if (a.name() == "is_cpu_op") {
      host = a.bool_val();
    } else if (a.name() == "dep_delay_ns") {
      delays.assign(a.int64_list().values().begin(), a.int64_list().values().end());
    } else if (a.name() == "dep_unexplained_ns") {
      unexplained.assign(a.int64_list().values().begin(), a.int64_list().values().end());
    } else if (a.name() == "dep_release") {
      releases.assign(a.int64_list().values().begin(), a.int64_list().values().end());
    } else if (a.name() == "dep_kinds") {
      kinds = absl::StrSplit(a.string_val(), ',');
    } else {
      EXPECT_TRUE(attrs.emplace(a.name(), AttrText(a)).second) << node.id() << ": twice " << a.name();
    }
  }
  const auto take = [&](const std::string& name) {
    const auto it = attrs.find(name);
    if (it == attrs.end()) return std::string();
    std::string value = it->second;
    attrs.erase(it);
    return value;
  };
  std::string kind = "?";
  for (const auto& [name, type] : NodeKinds()) {
    if (type == node.type()) kind = name;
  }
  int type = 0;
  if (node.type() == et::COMM_COLL_NODE && absl::SimpleAtoi(take("comm_type"), &type))
    kind = std::string(Name(static_cast<CollectiveType>(type)));
  std::string out = absl::StrCat(node.id(), " ", kind, " ", node.name());
  const auto print = [&](const char* key, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&out, " ", key, "=", value);
  };
  const auto time = [&](const char* key, const char* exact, uint64_t micros) {
    const std::string ns = take(exact);
    int64_t n = 0;
    if (!ns.empty() && absl::SimpleAtoi(ns, &n))
      return print(key, absl::StrCat(static_cast<double>(n) / 1000));
    if (micros > 0) print(key, absl::StrCat(micros));
  };
  time("start", "start_ns", node.start_time_micros());
  time("us", "duration_ns", node.duration_micros());
  print("bytes", node.type() >= et::COMM_SEND_NODE ? take("comm_size") : take("tensor_size"));
  for (const auto& [key, attr] : std::vector<std::pair<const char*, const char*>>{
           {"ops", "num_ops"},
           {"stream", "stream"},
           {"tid", "tid"},
           {"group", "pg_name"},
           {"peer", node.type() == et::COMM_SEND_NODE ? "comm_dst" : "comm_src"},
           {"tag", "comm_tag"},
           {"transfer", "transfer_ns"}})
    print(key, take(attr));
  for (const auto& [name, value] : attrs) absl::StrAppend(&out, " ", name, "=", value);
  if (host) absl::StrAppend(&out, " host");
  if (node.data_deps_size() + node.ctrl_deps_size() > 0) absl::StrAppend(&out, " <-");
  for (int i = 0; i < node.data_deps_size() + node.ctrl_deps_size(); ++i) {
    const bool data = i < node.data_deps_size();
    const auto k = static_cast<size_t>(i);
    absl::StrAppend(&out, data ? " " : " c",
                    data ? node.data_deps(i) : node.ctrl_deps(i - node.data_deps_size()));
    if (k < releases.size() && releases[k] != kReleaseAtEnd)
      absl::StrAppend(&out, "@", releases[k] / (kReleaseAtEnd / 1000));
    if (k < delays.size() && delays[k] != 0) absl::StrAppend(&out, "+", delays[k]);
    if (k < unexplained.size() && unexplained[k] != 0) absl::StrAppend(&out, "~", unexplained[k]);
    if (data && k < kinds.size() && !kinds[k].empty()) absl::StrAppend(&out, ":", kinds[k]);
  }
  return out;
}

// Reads the frames with protobuf's parser.
inline std::vector<et::Node> ParseFrames(const std::string& frames, et::GlobalMetadata* metadata = nullptr) {
  google::protobuf::io::ArrayInputStream in(frames.data(), static_cast<int>(frames.size()));
  et::GlobalMetadata unused;
  std::vector<et::Node> out;
  bool end = false;
  namespace util = google::protobuf::util;
  EXPECT_TRUE(util::ParseDelimitedFromZeroCopyStream(metadata != nullptr ? metadata : &unused, &in, &end));
  while (true) {
    et::Node node;
    end = false;
    if (!util::ParseDelimitedFromZeroCopyStream(&node, &in, &end)) break;
    out.push_back(node);
  }
  EXPECT_TRUE(end) << "a frame that is no node";
  return out;
}

// Nodes as lines, in the order of the file.
inline std::string List(const std::vector<et::Node>& nodes) {
  std::string out;
  for (const et::Node& node : nodes) absl::StrAppend(&out, NodeText(node), "\n");
  return out;
}

// The lines of a test in the form of List(): without blanks around them.
inline std::string Lines(const std::string& text) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace()))
    absl::StrAppend(&out, absl::StripAsciiWhitespace(line), "\n");
  return out;
}

// ---- Edits ----

// Expects what a feeder of Chakra traces needs: unique ids, dependencies that exist, none on the node itself,
// and every node can be issued. Also decodes strictly, so nothing may need a repair.
inline void ExpectValid(const std::string& frames, const std::string& name) {
  const absl::StatusOr<RankTrace> strict = DecodeTrace(frames, name, 0, ReadOptions{.strict = true});
  EXPECT_TRUE(strict.ok()) << strict.status();
  std::map<uint64_t, int> unmet;
  std::map<uint64_t, std::vector<uint64_t>> children;
  const std::vector<et::Node> nodes = ParseFrames(frames);
  for (const et::Node& n : nodes)
    EXPECT_TRUE(unmet.emplace(n.id(), 0).second) << name << ": twice node " << n.id();
  std::vector<uint64_t> free;
  for (const et::Node& n : nodes) {
    std::set<uint64_t> on(n.data_deps().begin(), n.data_deps().end());
    on.insert(n.ctrl_deps().begin(), n.ctrl_deps().end());
    EXPECT_EQ(on.count(n.id()), 0u) << name << ": node " << n.id() << " depends on itself";
    for (const uint64_t d : on) {
      EXPECT_EQ(unmet.count(d), 1u) << name << ": node " << n.id() << " depends on " << d
                                    << ", which is not there";
      children[d].push_back(n.id());
    }
    unmet[n.id()] = static_cast<int>(on.size());
    if (on.empty()) free.push_back(n.id());
  }
  size_t issued = 0;
  for (; !free.empty(); ++issued) {
    const uint64_t id = free.back();
    free.pop_back();
    for (const uint64_t child : children[id]) {
      if (--unmet[child] == 0) free.push_back(child);
    }
  }
  EXPECT_EQ(issued, nodes.size()) << name << ": nodes that never become free";
}

struct Edited {
  std::vector<std::string> frames;           // by rank
  std::vector<std::vector<et::Node>> nodes;  // by rank
  std::vector<et::GlobalMetadata> metadata;  // by rank
  proto::EditReport report;
  std::string list(size_t rank = 0) const { return List(nodes[rank]); }
  // The notes of one edit, joined.
  std::string notes(int edit = 0) const { return absl::StrJoin(report.outcome(edit).note(), "; "); }
};

inline absl::StatusOr<EditPlan> PlanOf(const std::string& script) {
  proto::EditScript message;
  if (absl::Status s = ParseTextMessage(script, "script", &message); !s.ok()) return s;
  return EditPlan::Make({{"script", message, script}});
}

inline absl::Status EditRanks(EditRun* run, const std::vector<RankTrace>& traces, Edited* out) {
  std::map<int, std::string> made;
  for (const RankTrace& trace : traces) {
    std::vector<Rewritten> ranks;
    if (absl::Status s = run->Rewrite(trace, &ranks); !s.ok()) return s;
    for (Rewritten& one : ranks) made[one.rank] = std::move(one.frames);
  }
  for (auto& [rank, frames] : made) {
    ExpectValid(frames, absl::StrCat("test.", rank, ".et"));
    out->nodes.push_back(ParseFrames(frames, &out->metadata.emplace_back()));
    out->frames.push_back(std::move(frames));
  }
  absl::StatusOr<proto::EditReport> report = run->Finish();
  if (!report.ok()) return report.status();
  out->report = *std::move(report);
  return absl::OkStatus();
}

// Runs an edit script (text format) over traces that were read with keep_raw. ExpectValid() has checked the
// result.
inline absl::StatusOr<Edited> EditSet(const TraceSet& set, const std::string& script,
                                      bool tell_groups = true) {
  absl::StatusOr<EditPlan> plan = PlanOf(script);
  if (!plan.ok()) return plan.status();
  EditRun run(&*plan);
  if (tell_groups) {
    if (absl::Status s = run.Begin({static_cast<int>(set.ranks.size()), set.groups}); !s.ok()) return s;
  }
  Edited out;
  if (absl::Status s = EditRanks(&run, set.ranks, &out); !s.ok()) return s;
  return out;
}

// Ranks as text.
inline TraceSet MakeSet(const std::vector<std::string>& ranks, const Groups& groups = {}) {
  TraceSet set;
  set.groups = groups;
  for (size_t r = 0; r < ranks.size(); ++r) {
    absl::StatusOr<RankTrace> trace = DecodeTrace(Frames(ranks[r]), absl::StrCat("test.", r, ".et"),
                                                  static_cast<int>(r), ReadOptions{.keep_raw = true});
    EXPECT_TRUE(trace.ok()) << trace.status();
    if (trace.ok()) set.ranks.push_back(*std::move(trace));
  }
  return set;
}

inline absl::StatusOr<Edited> EditTexts(const std::vector<std::string>& ranks, const std::string& script,
                                        const Groups& groups = {}) {
  return EditSet(MakeSet(ranks, groups), script);
}

// Edits one rank. Returns its nodes afterwards, or the error.
inline std::string EditText(const std::string& nodes, const std::string& script, const Groups& groups = {}) {
  const absl::StatusOr<Edited> out = EditTexts({nodes}, script, groups);
  return out.ok() ? out->list() : std::string(out.status().message());
}

}  // namespace chakra::edit
