// Small captures for tests: JSON of Kineto and of the observer, and helpers that check the timeline made of
// them.
#pragma once

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "proto/et_def.pb.h"
#include "trace/et/read_options.h"
#include "trace/import/host/host_trace.h"
#include "trace/import/host/pair.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/pytorch/read_capture.h"
#include "trace/import/timeline/build_timeline.h"
#include "trace/io/byte_source.h"

namespace chakra::pytorch {

// A Kineto trace. Times are ns since the trace's base; `args` is JSON without
// braces, begun with a comma.
class KinetoBuilder {
 public:
  static constexpr int64_t kBase = 1700000000000000000;  // ns of the epoch

  // `groups`: the entries of pg_config, JSON.
  KinetoBuilder& Rank(int rank, int world, const std::string& groups = "") {
    members_ =
        absl::StrCat("\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":", rank, ",\"world_size\":", world,
                     groups.empty() ? "" : absl::StrCat(",\"pg_config\":[", groups, "]"), "},");
    return *this;
  }
  // Writes nothing from now on, for runs whose profile nothing reads.
  KinetoBuilder& Mute() {
    muted_ = true;
    return *this;
  }
  KinetoBuilder& Base(int64_t ns) {
    base_ = ns;
    return *this;
  }
  KinetoBuilder& Event(const std::string& cat, const std::string& name, int64_t pid, const std::string& tid,
                       int64_t ts, int64_t dur, const std::string& args) {
    if (muted_) return *this;
    return Raw(absl::StrCat("{\"ph\":\"X\",\"cat\":\"", cat, "\",\"name\":\"", name, "\",\"pid\":", pid,
                            ",\"tid\":", tid, ",\"ts\":", Micros(ts), ",\"dur\":", Micros(dur),
                            ",\"args\":{\"Ev Idx\":", events_, args, "}}"));
  }
  KinetoBuilder& Raw(const std::string& event) {
    absl::StrAppend(&text_, events_++ > 0 ? ",\n" : "\n", event);
    return *this;
  }
  KinetoBuilder& Op(int thread, const std::string& name, int64_t ts, int64_t dur,
                    const std::string& args = "") {
    return Event("cpu_op", name, 1, std::to_string(thread), ts, dur, args);
  }
  KinetoBuilder& Annotation(int thread, const std::string& name, int64_t ts, int64_t dur) {
    return Event("user_annotation", name, 1, std::to_string(thread), ts, dur, "");
  }
  KinetoBuilder& Call(int thread, const std::string& name, int64_t ts, int64_t dur, int correlation) {
    return Event("cuda_runtime", name, 1, std::to_string(thread), ts, dur,
                 absl::StrCat(",\"correlation\":", correlation));
  }
  KinetoBuilder& Kernel(int stream, const std::string& name, int64_t ts, int64_t dur, int correlation,
                        const std::string& args = "") {
    return OnDevice("kernel", stream, name, ts, dur, correlation, args);
  }
  KinetoBuilder& OnDevice(const std::string& cat, int stream, const std::string& name, int64_t ts,
                          int64_t dur, int correlation, const std::string& args = "") {
    return Event(cat, name, 0, std::to_string(stream), ts, dur,
                 absl::StrCat(",\"device\":0,\"stream\":", stream,
                              correlation < 0 ? "" : absl::StrCat(",\"correlation\":", correlation), args));
  }
  // A call and its kernel.
  KinetoBuilder& Launch(int thread, int64_t ts, int64_t dur, int stream, const std::string& kernel,
                        int64_t begin, int64_t length, const std::string& args = "") {
    const int correlation = ++last_correlation_;
    Call(thread, "cudaLaunchKernel", ts, dur, correlation);
    return Kernel(stream, kernel, begin, length, correlation, args);
  }
  // Row of cuda_sync: `kind` "Stream Wait Event", "Event Sync", "Stream Sync", "Context Sync".
  KinetoBuilder& SyncRow(int stream, const std::string& kind, int64_t ts, int64_t dur, int correlation,
                         int wait_on_stream = -1, int record_correlation = -1) {
    return OnDevice("cuda_sync", stream, kind, ts, dur, correlation,
                    absl::StrCat(",\"cuda_sync_kind\":\"", kind, "\",\"wait_on_stream\":", wait_on_stream,
                                 ",\"wait_on_cuda_event_record_corr_id\":", record_correlation));
  }

  std::string Json() const {
    return absl::StrCat("{\"schemaVersion\":1,", members_, "\"baseTimeNanoseconds\":", base_,
                        ",\"traceEvents\":[", text_, "\n]}\n");
  }
  DeviceTrace Trace() const {
    const std::string json = Json();
    MemorySource source(json);
    auto trace = ReadKineto(&source, "k.json");
    EXPECT_TRUE(trace.ok()) << trace.status() << "\n" << json;
    return trace.ok() ? *std::move(trace) : DeviceTrace();
  }
  static std::string Micros(int64_t ns) {
    return absl::StrFormat("%s%d.%03d", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
  }

 private:
  int64_t base_ = kBase;
  std::string members_, text_;
  bool muted_ = false;
  int events_ = 0, last_correlation_ = 100000;
};

// The arguments that newer NCCL kernels carry. `more`: JSON begun with a comma.
inline std::string CommArgs(const std::string& collective, int64_t in, int64_t out, const std::string& group,
                            const std::string& ranks, int size, const std::string& dtype = "Float",
                            const std::string& more = "") {
  return absl::StrCat(",\"Collective name\":\"", collective, "\",\"In msg nelems\":", in,
                      ",\"Out msg nelems\":", out, ",\"Group size\":", size, ",\"dtype\":\"", dtype,
                      "\",\"Process Group Name\":\"", group, "\",\"Process Group Ranks\":\"", ranks, "\"",
                      more);
}

// A host trace of schema 1.1.1. Nodes come in any order.
class HostBuilder {
 public:
  explicit HostBuilder(std::string schema = "1.1.1-chakra.0.0.4") : schema_(std::move(schema)) {
    Node(1, "[pytorch|profiler|execution_trace|process]", 1, 0);
    Node(2, "[pytorch|profiler|execution_trace|thread]", 1, 0);
  }
  HostBuilder& Node(uint64_t id, const std::string& name, uint64_t parent, uint64_t rf, int tid = 1,
                    const std::string& values = "[]", const std::string& types = "[]") {
    absl::StrAppend(
        &text_, nodes_++ > 0 ? ",\n" : "\n", "{\"id\":", id, ",\"name\":\"", name,
        "\",\"ctrl_deps\":", parent, ",\"inputs\":{\"values\":", values, ",\"shapes\":[],\"types\":", types,
        "},\"outputs\":{\"values\":[],\"shapes\":[],\"types\":[]},\"attrs\":[", Attr("rf_id", "uint64", rf),
        ",", Attr("fw_parent", "uint64", 0), ",", Attr("seq_id", "int64", -1), ",",
        Attr("scope", "uint64", 0), ",", Attr("tid", "uint64", tid), ",", Attr("fw_tid", "uint64", 0), "]}");
    return *this;
  }
  // record_param_comms on `elements` floats, in the layout of 1.0.3 to 1.1.1.
  // `rank`: the caller, the root or the peer, inside the group.
  HostBuilder& Comm(uint64_t id, uint64_t parent, uint64_t rf, const std::string& collective,
                    int64_t elements, const std::string& group, int rank, int start, int stride, int size,
                    int tid = 1, const std::string& in_splits = "[]", const std::string& out_splits = "[]") {
    return Node(id, "record_param_comms", parent, rf, tid,
                absl::StrCat("[[[900,901,0,", elements, ",4,\"cuda:0\"]],", id, ",[\"", group, "\",\"\"],",
                             rank, ",\"", collective, "\",", in_splits, ",", out_splits, ",", start, ",",
                             stride, ",", size, "]"),
                "[\"GenericList[Tensor(float)]\",\"Int\",\"Tuple[String,String]\",\"Int\",\"String\","
                "\"GenericList[Int]\","
                "\"GenericList[Int]\",\"Int\",\"Int\",\"Int\"]");
  }
  std::string Json() const {
    return absl::StrCat("{\"schema\":\"", schema_,
                        "\",\"pid\":1,\"time\":\"2026-01-01\",\"start_ts\":1,\"nodes\":[", text_,
                        "\n],\"finish_ts\":2}\n");
  }
  HostTrace Trace() const {
    auto trace = ReadHostTrace(Json(), "h.json");
    EXPECT_TRUE(trace.ok()) << trace.status() << "\n" << Json();
    return trace.ok() ? *std::move(trace) : HostTrace();
  }

 private:
  template <typename T>
  static std::string Attr(const char* name, const char* type, T value) {
    return absl::StrCat("{\"name\":\"", name, "\",\"type\":\"", type, "\",\"value\":", value, "}");
  }
  std::string schema_, text_;
  int nodes_ = 0;
};

// A timeline and its trace.
struct Linked {
  DeviceTrace device;
  HostTrace host;
  Pairing pairing;
  Timeline t;

  // "launch" or "launch.1", the parts of a call counted from 0.
  std::string NameOf(uint32_t node) const {
    const TimelineNode& n = t.nodes[node];
    if (n.event == kNoRow) return n.IsOwnWork() ? "between" : "window";
    std::string name(device.name_of(device.events[n.event]));
    return n.part > 0 ? absl::StrCat(name, ".", n.part) : name;
  }
  // One line for each node: "name start+duration: kind from+delay, ...", times
  // in ns since the base, in the order of the nodes.
  std::string Show() const {
    std::string out = "\n";
    for (uint32_t i = 1; i < t.nodes.size(); ++i) {
      absl::StrAppend(&out, NameOf(i), " ", t.nodes[i].start, "+", t.nodes[i].dur, ":");
      for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
        const TimelineEdge& edge = t.edges[e];
        absl::StrAppend(&out, e > t.edge_begin[i] ? ", " : " ", std::string(Name(edge.kind)), " ",
                        NameOf(edge.from), "+", t.DelayOf(edge));
      }
      out += "\n";
    }
    return out;
  }
  // The only node of this name; with parts, "name.1" and so on.
  uint32_t Find(const std::string& name) const {
    uint32_t found = kNoRow;
    for (uint32_t i = 0; i < t.nodes.size(); ++i) {
      if (NameOf(i) != name) continue;
      EXPECT_EQ(found, kNoRow) << "two nodes " << name;
      found = i;
    }
    EXPECT_NE(found, kNoRow) << "no node " << name << " in" << Show();
    return found == kNoRow ? 0 : found;
  }
  // The edge between two nodes, as "kind+delay"; "none".
  std::string Edge(const std::string& from, const std::string& to) const {
    const uint32_t a = Find(from), b = Find(to);
    for (uint64_t e = t.edge_begin[b]; e < t.edge_begin[b + 1]; ++e) {
      if (t.edges[e].from == a)
        return absl::StrCat(std::string(Name(t.edges[e].kind)), "+", t.DelayOf(t.edges[e]));
    }
    return "none";
  }
  uint64_t Repairs(const std::string& kind) const {
    uint64_t count = 0;
    for (const Repair& r : t.repairs) count += r.kind == kind ? r.count : 0;
    return count;
  }
  // The call that the only node of this name carries.
  const CommCall& Comm(const std::string& name) const {
    static const CommCall none;
    const uint32_t comm = t.nodes[Find(name)].comm;
    EXPECT_NE(comm, kNoRow) << name << " does not communicate";
    return comm == kNoRow ? none : t.comms[comm];
  }
};

inline Linked Link(DeviceTrace device, const TimelineOptions& options = {}) {
  Linked l;
  l.device = std::move(device);
  auto t = BuildTimeline(l.device, nullptr, nullptr, options);
  EXPECT_TRUE(t.ok()) << t.status();
  if (t.ok()) l.t = *std::move(t);
  return l;
}
inline Linked Link(const KinetoBuilder& k, const TimelineOptions& options = {}) {
  return Link(k.Trace(), options);
}
inline Linked Link(const KinetoBuilder& k, const HostBuilder& h, const TimelineOptions& options = {}) {
  Linked l;
  l.device = k.Trace();
  l.host = h.Trace();
  auto pairing = Pair(l.host, l.device);
  EXPECT_TRUE(pairing.ok()) << pairing.status();
  if (!pairing.ok()) return l;
  l.pairing = *std::move(pairing);
  auto t = BuildTimeline(l.device, &l.host, &l.pairing, options);
  EXPECT_TRUE(t.ok()) << t.status();
  if (t.ok()) l.t = *std::move(t);
  return l;
}

// `t` without edges of these kinds; everything else, delays too, is as before.
inline Timeline Dropped(Timeline t, const std::set<EdgeKind>& kinds) {
  std::vector<TimelineEdge> edges;
  uint64_t at = 0;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    for (; at < t.edge_begin[i + 1]; ++at) {
      if (!kinds.contains(t.edges[at].kind)) edges.push_back(t.edges[at]);
    }
    at = t.edge_begin[i + 1];
    t.edge_begin[i + 1] = edges.size();
  }
  t.edges = std::move(edges);
  return t;
}

// `t` with a host that takes no time, neither in calls nor between them.
inline Timeline WithoutHostTime(Timeline t) {
  for (TimelineNode& n : t.nodes) n.dur = n.host ? 0 : n.dur;
  for (TimelineEdge& e : t.edges) e.delay = e.kind == EdgeKind::kThread ? 0 : e.delay;
  return t;
}

// The begin and end of each node by its dependencies alone: a separate interpreter, which knows neither lanes
// nor recorded starts.
struct Played {
  std::vector<int64_t> begin, end;
  int64_t last = 0;  // the end of all
};
inline Played Play(const Timeline& t, uint32_t changed = kNoRow, int64_t more = 0) {
  Played p;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    int64_t at = t.window_begin;
    for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
      EXPECT_LT(t.edges[e].from, i);
      EXPECT_GE(t.DelayOf(t.edges[e]), 0);
      const uint32_t from = t.edges[e].from;
      at = std::max(at, p.begin[from] + ReleasedAfter(p.end[from] - p.begin[from], t.ShareOf(t.edges[e])) +
                            t.DelayOf(t.edges[e]));
    }
    p.begin.push_back(at);
    p.end.push_back(at + t.nodes[i].dur + (i == changed ? more : 0));
    p.last = i == 0 ? p.end[0] : std::max(p.last, p.end.back());
  }
  return p;
}

// Expects that each node starts as it was measured, by its edges alone.
inline void ExpectReplaysItself(const Linked& l) {
  const Played p = Play(l.t);
  for (uint32_t i = 0; i < l.t.nodes.size(); ++i) {
    ASSERT_EQ(p.begin[i], l.t.nodes[i].start)
        << l.NameOf(i) << " in" << (l.t.nodes.size() < 60 ? l.Show() : " a long timeline");
  }
}

// `node` and the nodes that depend on it.
inline std::set<uint32_t> Descendants(const Timeline& t, uint32_t node) {
  std::set<uint32_t> reached = {node};
  for (uint32_t i = node + 1; i < t.nodes.size(); ++i) {
    for (uint64_t e = t.edge_begin[i]; e < t.edge_begin[i + 1]; ++e) {
      if (reached.contains(t.edges[e].from)) reached.insert(i);
    }
  }
  return reached;
}

// A temporary folder with a capture.
class CaptureFolder {
 public:
  CaptureFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "capture.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~CaptureFolder() { std::filesystem::remove_all(path_); }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  std::string At(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return At(name);
  }
  // kineto.RANK.json and, where given, host.RANK.json.
  void Rank(int rank, const KinetoBuilder& k, const HostBuilder* h = nullptr) const {
    Write(absl::StrCat("kineto.", rank, ".json"), k.Json());
    if (h != nullptr) Write(absl::StrCat("host.", rank, ".json"), h->Json());
  }
  Capture Read(const ReadOptions& options = {}) const {
    auto capture = ReadCapture({path()}, options);
    EXPECT_TRUE(capture.ok()) << capture.status();
    return capture.ok() ? *std::move(capture) : Capture();
  }
  std::string Error(const ReadOptions& options = {}) const {
    auto capture = ReadCapture({path()}, options);
    EXPECT_FALSE(capture.ok()) << "it was read";
    return std::string(capture.status().message());
  }

 private:
  std::filesystem::path path_;
};

// Rank `index` of a capture as any Chakra reader finds it: parsed by protobuf.
struct Written {
  ChakraProtoMsg::GlobalMetadata metadata;
  std::vector<ChakraProtoMsg::Node> nodes;

  // The nodes of this name, in the order of the file.
  std::vector<const ChakraProtoMsg::Node*> Named(const std::string& name) const {
    std::vector<const ChakraProtoMsg::Node*> found;
    for (const auto& n : nodes) {
      if (n.name() == name) found.push_back(&n);
    }
    return found;
  }
  const ChakraProtoMsg::Node& Only(const std::string& name) const {
    const auto found = Named(name);
    EXPECT_EQ(found.size(), 1u) << name;
    static const ChakraProtoMsg::Node none;
    return found.empty() ? none : *found[0];
  }
  static const ChakraProtoMsg::AttributeProto* Attr(const ChakraProtoMsg::Node& n, const std::string& name) {
    for (const auto& a : n.attr()) {
      if (a.name() == name) return &a;
    }
    return nullptr;
  }
  // An attribute as text: integers in decimals, lists with commas; "none".
  static std::string Value(const ChakraProtoMsg::Node& n, const std::string& name) {
    const auto* a = Attr(n, name);
    if (a == nullptr) return "none";
    if (a->has_string_val()) return a->string_val();
    if (a->has_int64_list()) return absl::StrJoin(a->int64_list().values(), ",");
    if (a->has_int64_val()) return absl::StrCat(a->int64_val());
    if (a->has_int32_val()) return absl::StrCat(a->int32_val());
    if (a->has_uint64_val()) return absl::StrCat(a->uint64_val());
    return a->has_bool_val() ? (a->bool_val() ? "true" : "false") : "?";
  }
  // The kind of the dependency of `n` on the node `on`: "stream"; "none".
  std::string Dep(const ChakraProtoMsg::Node& n, const ChakraProtoMsg::Node& on) const {
    const std::vector<std::string> kinds = absl::StrSplit(Value(n, "dep_kinds"), ',');
    for (int i = 0; i < n.data_deps_size(); ++i) {
      if (n.data_deps(i) == on.id()) return kinds[static_cast<size_t>(i)];
    }
    return "none";
  }
};

inline Written Parse(const std::string& et) {
  Written w;
  google::protobuf::io::ArrayInputStream raw(et.data(), static_cast<int>(et.size()));
  google::protobuf::io::CodedInputStream in(&raw);
  bool clean = false;
  EXPECT_TRUE(google::protobuf::util::ParseDelimitedFromCodedStream(&w.metadata, &in, &clean));
  for (;;) {
    ChakraProtoMsg::Node node;
    if (!google::protobuf::util::ParseDelimitedFromCodedStream(&node, &in, &clean)) break;
    w.nodes.push_back(node);
  }
  EXPECT_TRUE(clean) << "the file ends within a frame";
  return w;
}

inline Written Emitted(const Capture& capture, uint32_t index = 0) {
  std::string et;
  EtWriter writer(&et, Compression::kNone);
  EXPECT_TRUE(WriteRank(capture, index, &writer).ok());
  EXPECT_TRUE(writer.Finish().ok());
  return Parse(et);
}

inline uint64_t Notes(const Capture& capture, const std::string& kind) {
  uint64_t count = 0;
  for (const auto& n : capture.report.notes()) count += n.kind() == kind ? n.count() : 0;
  return count;
}

// How the only node of this name on rank `index` communicates.
inline CommPlan PlanOf(const Capture& capture, uint32_t index, const std::string& name) {
  const CaptureRank& rank = capture.ranks[index];
  for (const TimelineNode& n : rank.timeline.nodes) {
    if (n.event == kNoRow || n.comm == kNoRow || rank.device->name_of(rank.device->events[n.event]) != name)
      continue;
    return capture.joined.comms[index][n.comm];
  }
  ADD_FAILURE() << "no communication in " << name;
  return {};
}

}  // namespace chakra::pytorch
