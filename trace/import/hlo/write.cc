#include "trace/import/hlo/write.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/et/writer.h"

namespace chakra::hlo {
namespace {

namespace et = ChakraProtoMsg;

// "fusion.12.clone.3" becomes "fusion": kernels that differ only in their number have one name.
std::string WithoutNumber(absl::string_view name) {
  for (;;) {
    const size_t dot = name.rfind('.');
    if (dot == name.npos || dot == 0) break;
    const absl::string_view tail = name.substr(dot + 1);
    const bool number = !tail.empty() && std::all_of(tail.begin(), tail.end(), [](char c) {
      return absl::ascii_isdigit(static_cast<unsigned char>(c));
    });
    if (!number && tail != "clone" && tail != "remat") break;
    name = name.substr(0, dot);
  }
  return std::string(name);
}

// The name by which the kernel model knows the node: for GEMMs, convolutions and attention, which it prices
// by shapes, the operator alone.
std::string NameOf(const Facts& facts, const Instruction& i) {
  const bool by_shapes = facts.op == "xla::dot" || facts.op == "xla::convolution" ||
                         absl::StartsWith(facts.op, "xla::attention");
  return by_shapes ? facts.op : absl::StrCat(facts.op, "/", WithoutNumber(i.name));
}

CollectiveType TypeOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return CollectiveType::kAllGather;
    case CollectiveKind::kReduceScatter:
      return CollectiveType::kReduceScatter;
    case CollectiveKind::kAllToAll:
      return CollectiveType::kAllToAll;
    case CollectiveKind::kBroadcast:
      return CollectiveType::kBroadcast;
    case CollectiveKind::kReduce:
      return CollectiveType::kReduce;
    default:
      return CollectiveType::kAllReduce;
  }
}

// Names of groups by their members: "ranks 0,1", "world", or "64 ranks from 0, #2".
class GroupNames {
 public:
  explicit GroupNames(const Step& step) : of_rank_(static_cast<size_t>(step.mesh.devices())) {
    for (const StepCollective& c : step.collectives) {
      std::vector<uint32_t>& of = of_.emplace_back();
      for (const std::vector<int64_t>& group : c.groups)
        of.push_back(Add(std::vector<int>(group.begin(), group.end()), step.mesh.devices()));
    }
  }
  // Returns the name of a group of a collective. Both are rows in the step.
  const std::string& Of(uint32_t collective, uint32_t group) const {
    return named_[of_[collective][group]]->first;
  }
  const Groups& groups() const { return groups_; }
  // Returns the groups that have the rank as member.
  Groups With(int rank) const {
    Groups out;
    for (const uint32_t group : of_rank_[static_cast<size_t>(rank)]) out.insert(*named_[group]);
    return out;
  }

 private:
  uint32_t Add(const std::vector<int>& ranks, int64_t devices) {
    constexpr size_t kMostListed = 16;
    const auto [it, fresh] = rows_.try_emplace(ranks, static_cast<uint32_t>(named_.size()));
    if (!fresh) return it->second;
    std::string name;
    if (static_cast<int64_t>(ranks.size()) == devices && std::is_sorted(ranks.begin(), ranks.end())) {
      name = "world";
    } else if (ranks.size() > kMostListed) {
      name = absl::StrCat(ranks.size(), " ranks from ", ranks.front(), ", #", rows_.size());
    } else {
      name = absl::StrCat("ranks ", absl::StrJoin(ranks, ","));
    }
    for (const int rank : ranks) of_rank_[static_cast<size_t>(rank)].push_back(it->second);
    named_.push_back(groups_.emplace(name, ranks).first);
    return it->second;
  }
  std::map<std::vector<int>, uint32_t> rows_;        // of named_, by members
  std::vector<Groups::const_iterator> named_;        // distinct groups
  std::vector<std::vector<uint32_t>> of_, of_rank_;  // rows of named_
  Groups groups_;
};

class DeviceWriter {
 public:
  DeviceWriter(const Module& module, const Step& step, const GroupNames& names, int device, EtWriter* writer)
      : m_(module), step_(step), names_(names), device_(device), writer_(writer) {}

  absl::Status Write();

 private:
  // Each node of the step has two ids. Most nodes use only the first; a permute receives with the first and
  // sends with the second.
  static uint64_t Id(uint32_t node) { return 2 * uint64_t{node} + 1; }
  // Whether this device receives, sends, or takes part as member of a group.
  bool Receives(const StepNode& n) const;
  bool Sends(const StepNode& n) const;
  bool Takes(const StepNode& n) const;
  void Deps(const StepNode& n, et::Node* node) const;
  void Common(const StepNode& n, et::Node* node) const;
  absl::Status Computation(const StepNode& n, uint32_t index);
  absl::Status Message(const StepNode& n, uint32_t index, bool send);
  absl::Status WholeCollective(const StepNode& n, uint32_t index);

  const Module& m_;
  const Step& step_;
  const GroupNames& names_;
  const int device_;
  EtWriter* writer_;
};

bool DeviceWriter::Receives(const StepNode& n) const {
  const StepCollective& c = step_.collectives[n.collective];
  return !c.source_of.empty() && c.what.kind != CollectiveKind::kSend &&
         c.source_of[static_cast<size_t>(device_)] >= 0;
}

bool DeviceWriter::Sends(const StepNode& n) const {
  const StepCollective& c = step_.collectives[n.collective];
  return !c.target_of.empty() && c.what.kind != CollectiveKind::kRecv &&
         c.target_of[static_cast<size_t>(device_)] >= 0;
}

bool DeviceWriter::Takes(const StepNode& n) const {
  const StepCollective& c = step_.collectives[n.collective];
  if (c.group_of.empty()) return false;
  const uint32_t group = c.group_of[static_cast<size_t>(device_)];
  return group != kNoRow && c.groups[group].size() > 1;
}

// Adds data dependencies. Dependencies on collectives in which this device takes no part are left out.
void DeviceWriter::Deps(const StepNode& n, et::Node* node) const {
  for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) {
    const uint32_t on = step_.deps[d];
    const StepNode& before = step_.nodes[on];
    if (before.collective == kNoRow) {
      node->add_data_deps(Id(on));
      continue;
    }
    if (Takes(before) || Receives(before)) node->add_data_deps(Id(on));
    if (Sends(before)) node->add_data_deps(Id(on) + 1);
  }
}

void DeviceWriter::Common(const StepNode& n, et::Node* node) const {
  const Instruction& i = m_.computations[n.computation].instructions[n.instruction];
  AddAttribute("is_cpu_op", node)->set_bool_val(false);
  AddAttribute("hlo", node)->set_string_val(i.name);
  if (!i.op_name.empty()) AddAttribute("module", node)->set_string_val(i.op_name);
}

absl::Status DeviceWriter::Computation(const StepNode& n, uint32_t index) {
  const Instruction& i = m_.computations[n.computation].instructions[n.instruction];
  const Facts& facts = step_.facts[n.facts];
  et::Node node;
  node.set_id(Id(index));
  node.set_type(et::COMP_NODE);
  node.set_name(NameOf(facts, i));
  if (facts.host != HostCopy::kNone) {
    const bool to_host = facts.host == HostCopy::kToHost;
    node.set_type(to_host ? et::MEM_STORE_NODE : et::MEM_LOAD_NODE);
    node.set_name(to_host ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy HtoD (Pinned -> Device)");
  }
  Deps(n, &node);
  Common(n, &node);
  AddAttribute("stream", &node)->set_int64_val(static_cast<int64_t>(n.stream));
  AddAttribute("op", &node)->set_string_val(facts.op);
  AddAttribute("num_ops", &node)->set_int64_val(facts.operations);
  AddAttribute("tensor_size", &node)->set_uint64_val(static_cast<uint64_t>(facts.bytes));
  node.mutable_inputs()->set_shapes(facts.shapes);
  node.mutable_inputs()->set_types(facts.types);
  return writer_->AddNode(node);
}

absl::Status DeviceWriter::Message(const StepNode& n, uint32_t index, bool send) {
  const StepCollective& c = step_.collectives[n.collective];
  const auto self = static_cast<size_t>(device_);
  const int64_t other = send ? c.target_of[self] : c.source_of[self];
  et::Node node;
  node.set_id(Id(index) + (send ? 1 : 0));
  const int64_t bytes = c.what.in_bytes;
  Deps(n, &node);
  Common(n, &node);
  const StepStream stream =
      n.stream == StepStream::kCompute      ? (send ? StepStream::kSend : StepStream::kReceive)
      : n.stream == StepStream::kCollective ? (send ? StepStream::kSend : StepStream::kReceive)
                                            : n.stream;
  AddAttribute("stream", &node)->set_int64_val(static_cast<int64_t>(stream));
  if (other == device_) {  // a copy on the device itself
    if (!send) return absl::OkStatus();
    node.set_type(et::COMP_NODE);
    node.set_name("xla::copy/collective-permute");
    AddAttribute("tensor_size", &node)->set_uint64_val(static_cast<uint64_t>(2 * bytes));
    return writer_->AddNode(node);
  }
  node.set_name(m_.computations[n.computation].instructions[n.instruction].name);
  node.set_type(send ? et::COMM_SEND_NODE : et::COMM_RECV_NODE);
  AddAttribute("comm_size", &node)->set_int64_val(bytes);
  AddAttribute("comm_src", &node)->set_int32_val(static_cast<int32_t>(send ? device_ : other));
  AddAttribute("comm_dst", &node)->set_int32_val(static_cast<int32_t>(send ? other : device_));
  AddAttribute("comm_tag", &node)->set_int32_val(static_cast<int32_t>(c.tag));
  return writer_->AddNode(node);
}

absl::Status DeviceWriter::WholeCollective(const StepNode& n, uint32_t index) {
  const StepCollective& c = step_.collectives[n.collective];
  et::Node node;
  node.set_id(Id(index));
  node.set_type(et::COMM_COLL_NODE);
  node.set_name(m_.computations[n.computation].instructions[n.instruction].name);
  Deps(n, &node);
  Common(n, &node);
  const uint32_t group = c.group_of[static_cast<size_t>(device_)];
  AddAttribute("stream", &node)->set_int64_val(static_cast<int64_t>(n.stream));
  AddAttribute("comm_type", &node)->set_int64_val(static_cast<int64_t>(TypeOf(c.what.kind)));
  AddAttribute("comm_size", &node)->set_int64_val(c.what.in_bytes);
  AddAttribute("comm_out_size", &node)->set_int64_val(c.what.out_bytes);
  AddAttribute("pg_name", &node)->set_string_val(names_.Of(n.collective, group));
  if (c.what.kind == CollectiveKind::kBroadcast || c.what.kind == CollectiveKind::kReduce)
    AddAttribute("root", &node)->set_int32_val(static_cast<int32_t>(c.groups[group].front()));
  return writer_->AddNode(node);
}

absl::Status DeviceWriter::Write() {
  et::GlobalMetadata metadata = MetadataWith("schema", "hlo");
  AddAttribute("hlo_module", &metadata)->set_string_val(m_.name);
  RETURN_IF_ERROR(writer_->AddMetadata(metadata));
  if (const Groups own = names_.With(device_); !own.empty()) {
    RETURN_IF_ERROR(writer_->AddNode(NodeOfGroups(own)));
  }
  for (uint32_t index = 0; index < step_.nodes.size(); ++index) {
    const StepNode& n = step_.nodes[index];
    absl::Status s = absl::OkStatus();
    if (n.collective == kNoRow) {
      s = Computation(n, index);
    } else if (Takes(n)) {
      s = WholeCollective(n, index);
    } else {
      if (Receives(n)) s = Message(n, index, false);
      if (s.ok() && Sends(n)) s = Message(n, index, true);
    }
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TraceSet> TracesOf(const Module& module, const Step& step, const std::string& file,
                                  const ReadOptions& options) {
  const GroupNames names(step);
  TraceSet set;
  const auto write = [&](size_t i, EtWriter* writer) {
    return DeviceWriter(module, step, names, static_cast<int>(i), writer).Write();
  };
  ASSIGN_OR_RETURN(set.ranks, LoadWritten(static_cast<size_t>(step.mesh.devices()), options, file, write));
  set.groups = names.groups();
  if (!set.groups.empty()) set.group_source = "the HLO module";
  set.warnings = step.warnings;
  return set;
}

}  // namespace chakra::hlo
