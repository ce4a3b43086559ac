// Small traces for tests, written as protobuf messages and read back by the
// real decoder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"

namespace chakra {

namespace et = ChakraProtoMsg;

class TraceBuilder {
 public:
  explicit TraceBuilder(int ranks) : nodes_(ranks), metadata_(ranks) {
    for (et::GlobalMetadata& m : metadata_) m.set_version("0.0.4");
  }

  // Adds a node to `rank`; its id counts up from 0 in each rank.
  et::Node& Add(int rank, et::NodeType type, std::vector<uint64_t> deps = {}) {
    et::Node& node = nodes_[rank].emplace_back();
    node.set_id(nodes_[rank].size() - 1);
    node.set_name(absl::StrCat("n", node.id()));
    node.set_type(type);
    for (uint64_t d : deps) node.add_data_deps(d);
    return node;
  }
  et::Node& Comp(int rank, uint64_t micros, std::vector<uint64_t> deps = {}) {
    et::Node& node = Add(rank, et::COMP_NODE, std::move(deps));
    node.set_duration_micros(micros);
    return node;
  }
  et::Node& Coll(int rank, CollectiveType type, int64_t bytes, std::vector<uint64_t> deps = {},
                 const std::string& group = "") {
    et::Node& node = Add(rank, et::COMM_COLL_NODE, std::move(deps));
    Int(&node, "comm_type", static_cast<int64_t>(type));
    Int(&node, "comm_size", bytes);
    if (!group.empty()) Text(&node, "pg_name", group);
    return node;
  }
  et::Node& Send(int rank, int dst, int64_t bytes, int tag, std::vector<uint64_t> deps = {}) {
    et::Node& node = Add(rank, et::COMM_SEND_NODE, std::move(deps));
    Int(&node, "comm_dst", dst);
    Int(&node, "comm_size", bytes);
    Int(&node, "comm_tag", tag);
    return node;
  }
  et::Node& Recv(int rank, int src, int64_t bytes, int tag, std::vector<uint64_t> deps = {}) {
    et::Node& node = Add(rank, et::COMM_RECV_NODE, std::move(deps));
    Int(&node, "comm_src", src);
    Int(&node, "comm_size", bytes);
    Int(&node, "comm_tag", tag);
    return node;
  }
  static void Int(et::Node* node, const char* name, int64_t value) {
    et::AttributeProto* attr = node->add_attr();
    attr->set_name(name);
    attr->set_int64_val(value);
  }
  static void Text(et::Node* node, const char* name, const std::string& value) {
    et::AttributeProto* attr = node->add_attr();
    attr->set_name(name);
    attr->set_string_val(value);
  }
  // dep_delay_ns, or another list, with one entry for each dependency.
  static void Delays(et::Node* node, const std::vector<int64_t>& nanos, const char* name = "dep_delay_ns") {
    et::AttributeProto* attr = node->add_attr();
    attr->set_name(name);
    attr->mutable_int64_list();
    for (int64_t n : nanos) attr->mutable_int64_list()->add_values(n);
  }
  et::GlobalMetadata& Metadata(int rank) { return metadata_[rank]; }
  std::vector<et::Node>& Nodes(int rank) { return nodes_[rank]; }
  // Id that the next node of `rank` gets.
  uint64_t NextId(int rank) const { return nodes_[rank].size(); }

  Groups groups;

  // `frames`: keeps the raw frames.
  absl::StatusOr<TraceSet> Build(bool frames = false) const {
    TraceSet set;
    ReadOptions options;
    options.keep_raw = frames;
    set.groups = groups;
    for (size_t r = 0; r < nodes_.size(); ++r) {
      std::string bytes;
      EtWriter writer(&bytes, Compression::kNone);
      if (absl::Status s = Encode(r, &writer); !s.ok()) return s;
      absl::StatusOr<RankTrace> trace =
          DecodeTrace(bytes, absl::StrCat("test.", r, ".et"), static_cast<int>(r), options);
      if (!trace.ok()) return trace.status();
      set.ranks.push_back(*std::move(trace));
    }
    return set;
  }
  // One rank's trace as a file; compressed by the ending of its name.
  absl::Status Write(size_t rank, const std::string& path) const {
    EtWriter writer(path);
    return Encode(rank, &writer);
  }

 private:
  absl::Status Encode(size_t rank, EtWriter* writer) const {
    if (absl::Status s = writer->AddMetadata(metadata_[rank]); !s.ok()) return s;
    for (const et::Node& node : nodes_[rank]) {
      if (absl::Status s = writer->AddNode(node); !s.ok()) return s;
    }
    return writer->Finish();
  }

  std::vector<std::vector<et::Node>> nodes_;
  std::vector<et::GlobalMetadata> metadata_;
};

}  // namespace chakra
