// The decoder against protobuf's generated parser, which fills the same columns.
#include <benchmark/benchmark.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "bench/measure.h"
#include "proto/et_def.pb.h"
#include "test/folders.h"
#include "trace/et/decode.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/io/byte_source.h"
#include "trace/model/graph_builder.h"

namespace chakra {
namespace {

using ProtoNode = ChakraProtoMsg::Node;
using google::protobuf::io::CodedInputStream;

constexpr int kSyntheticNodes = 300000;

void AddTexts(const char* name, const std::vector<std::string>& texts, ProtoNode* node) {
  ChakraProtoMsg::AttributeProto* attr = node->add_attr();
  attr->set_name(name);
  for (const std::string& t : texts) attr->mutable_string_list()->add_values(t);
}

// A training step as STAGE writes it: names of about 40 characters, one or two
// dependencies, work and tensors as attributes; a collective every 16 nodes.
std::string SyntheticTrace() {
  std::string bytes;
  EtWriter writer(&bytes, Compression::kNone);
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  if (!writer.AddMetadata(metadata).ok()) return "";
  ProtoNode node;
  for (int i = 0; i < kSyntheticNodes; ++i) {
    node.Clear();
    const bool collective = i % 16 == 15;
    const std::string block = absl::StrCat("mb", i / 2000, ".transformer.", i / 60 % 32, ".ffn.op", i % 60);
    node.set_id(static_cast<uint64_t>(i) + 1);
    node.set_name(absl::StrCat(block, ".dx@0_", collective ? "COMM_ALL_REDUCE" : "COMP"));
    node.set_type(collective ? ChakraProtoMsg::COMM_COLL_NODE : ChakraProtoMsg::COMP_NODE);
    if (i > 0) node.add_data_deps(static_cast<uint64_t>(i));
    if (i > 20 && i % 2 == 0) node.add_data_deps(static_cast<uint64_t>(i - 20));
    const std::string in = absl::StrCat(block, ".y@0MicroBatch/dp,Seq/(cp*tp),Dmodel");
    const std::string out = absl::StrCat(block, ".dx@0MicroBatch/dp,Seq/(cp*tp),Dmodel");
    const auto number = [&node](const char* name, int64_t value) {
      ChakraProtoMsg::AttributeProto* attr = node.add_attr();
      attr->set_name(name);
      attr->set_int64_val(value);
    };
    if (collective) {
      number("comm_type", 0);
      number("comm_size", 4194304);
    } else {
      AddTexts("inputs", {in, "4194304.0", in, "0"}, &node);
      AddTexts("outputs", {out, "4194304.0"}, &node);
      number("num_ops", 20971520 + i % 7);
      number("tensor_size", 4194304);
      ChakraProtoMsg::AttributeProto* attr = node.add_attr();
      attr->set_name("op_type");
      attr->set_string_val("E");
    }
    if (!writer.AddNode(node).ok()) return "";
  }
  return writer.Finish().ok() ? bytes : "";
}

// Rank 0 of llama8b_fsdp_16, decompressed; empty if the data is missing.
std::string RealTrace() {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/stage/llama8b_fsdp_16/workload.0.et.zst";
  if (!std::filesystem::exists(path)) return "";
  auto file = FileSource::Open(path);
  if (!file.ok()) return "";
  auto content = OpenContent(file->get(), path);
  Buffer buffer;
  if (!content.ok() || !ReadAll(content->get(), path, &buffer).ok()) return "";
  return std::string(buffer.view());
}

// Calls use(message) for each node frame; false if a frame does not parse.
template <typename Use>
bool ForEachNode(const std::string& bytes, Use use) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  ProtoNode node;
  uint32_t length = 0;
  for (bool metadata = true; in.ReadVarint32(&length); metadata = false) {
    const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(length));
    if (metadata) {
      in.Skip(static_cast<int>(length));
    } else {
      node.Clear();
      if (!node.MergeFromCodedStream(&in) || !in.ConsumedEntireMessage()) return false;
      use(node);
    }
    in.PopLimit(limit);
  }
  return true;
}

// The table of a rank that ByProtobuf() fills. As in the decoder, its memory
// is used again for the next file.
struct Table {
  void Clear() {
    for (auto* v : {&g.name, &g.payload, &g.shapes, &g.types, &g.dep_begin, &g.dep}) v->clear();
    g.id.clear();
    g.type.clear();
    g.flags.clear();
    g.start.clear();
    g.duration.clear();
    g.lane.clear();
    g.comm.clear();
    g.work.clear();
    g.strings.Clear();
    peers.clear();
    deps.clear();
    groups.assign(1, "");
    group_index.clear();
  }
  GraphDraft g;
  std::vector<Peer> peers;
  std::vector<uint64_t> deps;
  std::vector<uint32_t> rows;  // by id
  std::vector<std::string> groups = {""};
  absl::flat_hash_map<std::string, uint32_t> group_index;
};

struct Attributes {
  Comm comm;
  Peer peer;
  Work work;
  uint8_t flags = 0;
  int32_t lane = kNoLane;
};

void ReadAttributes(const ProtoNode& node, Table* t, Attributes* out) {
  for (const ChakraProtoMsg::AttributeProto& a : node.attr()) {
    const uint64_t number = a.has_uint64_val()  ? a.uint64_val()
                            : a.has_int64_val() ? static_cast<uint64_t>(a.int64_val())
                                                : static_cast<uint64_t>(a.int32_val());
    if (a.name() == "comm_size") {
      out->comm.bytes = number;
      out->comm.has_bytes = true;
    } else if (a.name() == "comm_type") {
      out->comm.type = static_cast<uint8_t>(number);
    } else if (a.name() == "num_ops") {
      out->work.num_ops = static_cast<int64_t>(number);
      out->work.has_num_ops = true;
    } else if (a.name() == "tensor_size") {
      out->work.tensor_bytes = number;
      out->work.has_tensor_bytes = true;
    } else if (a.name() == "is_cpu_op") {
      out->flags = kHasCpuAttr | ((number != 0 || a.bool_val()) ? kIsCpuOp : 0);
    } else if (a.name() == "stream" || a.name() == "tid") {
      out->lane = static_cast<int32_t>(number);
    } else if (a.name() == "comm_src") {
      out->peer.src = static_cast<int32_t>(number);
    } else if (a.name() == "comm_dst") {
      out->peer.dst = static_cast<int32_t>(number);
    } else if (a.name() == "comm_tag") {
      out->peer.tag = static_cast<int32_t>(number);
    } else if (a.name() == "pg_name") {
      const auto [it, added] = t->group_index.try_emplace(a.string_val(), t->groups.size());
      if (added) t->groups.push_back(a.string_val());
      out->peer.group = it->second;
    }
  }
}

void AddRow(const ProtoNode& node, Table* t) {
  Attributes a;
  ReadAttributes(node, t, &a);
  GraphDraft& g = t->g;
  g.id.push_back(node.id());
  g.name.push_back(g.strings.Intern(node.name()));
  g.type.push_back(static_cast<NodeType>(node.type()));
  g.flags.push_back(a.flags);
  g.start.push_back(Time::Micros(static_cast<int64_t>(node.start_time_micros())));
  g.duration.push_back(Time::Micros(static_cast<int64_t>(node.duration_micros())));
  g.lane.push_back(a.lane);
  g.shapes.push_back(g.strings.Intern(node.inputs().shapes()));
  g.types.push_back(g.strings.Intern(node.inputs().types()));
  g.dep_begin.push_back(static_cast<uint32_t>(t->deps.size()));
  t->deps.insert(t->deps.end(), node.data_deps().begin(), node.data_deps().end());
  t->deps.insert(t->deps.end(), node.ctrl_deps().begin(), node.ctrl_deps().end());
  uint32_t payload = kNoRow;
  if (g.type.back() >= NodeType::kSend) {
    payload = static_cast<uint32_t>(g.comm.size());
    g.comm.push_back(a.comm);
    t->peers.push_back(a.peer);
  } else if (a.work.has_num_ops || a.work.has_tensor_bytes) {
    payload = static_cast<uint32_t>(g.work.size());
    g.work.push_back(a.work);
  }
  g.payload.push_back(payload);
}

// The reference: one message object, filled again for each frame, then the same
// columns and the same finishing. It has protobuf's checks only and no repairs.
// It assumes dense ids and no starts, lanes, shapes or types, as in these
// traces.
absl::StatusOr<std::shared_ptr<const Graph>> ByProtobuf(const std::string& bytes, Table* table) {
  Table& t = *table;
  t.Clear();
  GraphDraft& g = t.g;
  if (!ForEachNode(bytes, [&](const ProtoNode& node) { AddRow(node, &t); })) {
    return absl::InvalidArgumentError("does not parse");
  }
  g.dep_begin.push_back(static_cast<uint32_t>(t.deps.size()));
  g.start.clear();
  g.lane.clear();
  g.shapes.clear();
  g.types.clear();
  const uint64_t max = *std::max_element(g.id.begin(), g.id.end());
  std::vector<uint32_t>& rows = t.rows;
  rows.assign(max + 1, kNoRow);
  for (uint32_t i = 0; i < g.size(); ++i) rows[g.id[i]] = i;
  for (const uint64_t id : t.deps) g.dep.push_back(rows[id]);
  for (uint32_t i = 0; i < g.size(); ++i) {
    std::sort(g.dep.begin() + g.dep_begin[i], g.dep.begin() + g.dep_begin[i + 1]);
  }
  GraphPool pool;
  return pool.Intern(&g, "reference");
}

template <typename C>
uint64_t Held(const C& v) {
  return v.size() * sizeof(typename C::value_type);
}

uint64_t BytesHeld(const RankTrace& trace) {
  const Graph& g = *trace.graph;
  const absl::string_view last = g.strings.Get(g.strings.size() - 1);
  const auto text = static_cast<uint64_t>(last.data() + last.size() - g.strings.Get(0).data());
  return sizeof(Graph) + Held(g.id) + Held(g.name) + Held(g.type) + Held(g.flags) + Held(g.start) +
         Held(g.duration) + Held(g.lane) + Held(g.payload) + Held(g.shapes) + Held(g.types) + Held(g.comm) +
         Held(g.work) + Held(g.dep_begin) + Held(g.dep) + Held(g.child_begin) + Held(g.child) +
         Held(g.order) + Held(trace.peers) + text + (g.strings.size() + 1) * sizeof(uint64_t);
}

void Decode(benchmark::State& state, std::string (*make)()) {
  const std::string bytes = make();
  if (bytes.empty()) return state.SkipWithError("the trace is not there");
  Table table;
  auto reference = ByProtobuf(bytes, &table);
  auto decoded = DecodeTrace(bytes, "trace", 0, ReadOptions());
  if (!decoded.ok() || !reference.ok()) return state.SkipWithError("a decoder failed");
  if (!SameContent(*decoded->graph, **reference)) return state.SkipWithError("the decoders differ");
  const uint64_t nodes = decoded->graph->size();
  reference = nullptr;

  std::vector<double> ours, theirs;
  const ReadOptions options;
  std::optional<GraphPool> pool;
  Decoder decoder(&pool.emplace());
  for (auto _ : state) {
    theirs.push_back(SecondsOf([&] { benchmark::DoNotOptimize(ByProtobuf(bytes, &table)); }));
    ours.push_back(SecondsOf([&] {
      pool.emplace();  // a new pool, so that the graph is finished and not found
      benchmark::DoNotOptimize(decoder.Decode(bytes, "trace", 0, options));
    }));
    state.SetIterationTime(ours.back());
  }
  state.counters["nodes/s"] = static_cast<double>(nodes) / Median(ours);
  state.counters["MB/s"] = static_cast<double>(bytes.size()) / 1e6 / Median(ours);
  state.counters["x_protobuf"] = Median(theirs) / Median(ours);
}

void Memory(benchmark::State& state, std::string (*make)()) {
  const std::string bytes = make();
  if (bytes.empty()) return state.SkipWithError("the trace is not there");
  auto decoded = DecodeTrace(bytes, "trace", 0, ReadOptions());
  if (!decoded.ok()) return state.SkipWithError("the decoder failed");
  uint64_t objects = 0;
  for (auto _ : state) {
    std::vector<ProtoNode> nodes;
    objects = 0;
    if (!ForEachNode(bytes, [&](const ProtoNode& node) { nodes.push_back(node); })) {
      return state.SkipWithError("does not parse");
    }
    for (const ProtoNode& node : nodes) objects += node.SpaceUsedLong();
  }
  const auto count = static_cast<double>(decoded->graph->size());
  const auto columns = static_cast<double>(BytesHeld(*decoded));
  state.counters["bytes/node"] = columns / count;
  state.counters["protobuf_bytes/node"] = static_cast<double>(objects) / count;
  state.counters["of_protobuf"] = columns / static_cast<double>(objects);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK_CAPTURE(Decode, synthetic, SyntheticTrace)->UseManualTime()->Unit(kMs)->Iterations(7);
BENCHMARK_CAPTURE(Decode, llama8b_fsdp_rank, RealTrace)->UseManualTime()->Unit(kMs)->Iterations(31);
BENCHMARK_CAPTURE(Memory, synthetic, SyntheticTrace)->Unit(kMs)->Iterations(1);
BENCHMARK_CAPTURE(Memory, llama8b_fsdp_rank, RealTrace)->Unit(kMs)->Iterations(1);

}  // namespace
}  // namespace chakra
