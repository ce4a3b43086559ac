#include "trace/import/collective_logs/walk.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace chakra::collective_logs {

CallNode::CallNode(const JoinedLogs& joined, const JoinedRank& rank, size_t call)
    : facts(rank.log.calls.facts(call)), group(static_cast<size_t>(rank.groups[facts.comm])) {
  kept = rank.log.calls.lost(call) || facts.op == kLogUnknown;
  collective = IsCollective(facts.op);
  type = kept                   ? NodeType::kComp
         : collective           ? NodeType::kCollective
         : facts.op == kLogSend ? NodeType::kSend
                                : NodeType::kRecv;
  has_bytes = facts.bytes > 0 || facts.op == static_cast<uint8_t>(CollectiveType::kBarrier);
  const std::vector<int>& members = joined.members[group];
  if (facts.peer >= 0 && facts.peer < static_cast<int>(members.size()))
    other = members[static_cast<size_t>(facts.peer)];
}

ChakraProtoMsg::GlobalMetadata MetadataOf(const JoinedLogs& joined, const JoinedRank& rank,
                                          absl::string_view format) {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  const auto add = [&](const char* name) {
    ChakraProtoMsg::AttributeProto* a = metadata.add_attr();
    a->set_name(name);
    return a;
  };
  add("schema")->set_string_val(std::string(format));
  add("capture")->set_string_val("collective_logs");
  add("rank")->set_int64_val(rank.log.rank);
  add("window_end_ns")->set_int64_val(joined.timed ? rank.end_ns : 0);
  return metadata;
}

// A step lasts until the next one begins: what is computed before that belongs to it.
StepNodes StepNodesOf(const std::vector<uint32_t>& steps, const std::vector<uint64_t>& node_of) {
  StepNodes nodes;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    nodes.first.push_back(node_of[steps[i]]);
    nodes.last.push_back(steps[i + 1] < node_of.size() ? node_of[steps[i + 1]] - 1 : node_of.back());
  }
  return nodes;
}

ChakraProtoMsg::GlobalMetadata StepsMetadata(const StepNodes& nodes) {
  ChakraProtoMsg::GlobalMetadata metadata;
  const auto add = [&](const char* name) {
    ChakraProtoMsg::AttributeProto* a = metadata.add_attr();
    a->set_name(name);
    return a;
  };
  ChakraProtoMsg::AttributeProto *names = add("step_names"), *first = add("step_first_nodes"),
                                 *last = add("step_last_nodes");
  names->mutable_string_list();
  first->mutable_uint64_list();
  last->mutable_uint64_list();
  for (size_t i = 0; i < nodes.first.size(); ++i) {
    names->mutable_string_list()->add_values(absl::StrCat("step#", i));
    first->mutable_uint64_list()->add_values(nodes.first[i]);
    last->mutable_uint64_list()->add_values(nodes.last[i]);
  }
  return metadata;
}

}  // namespace chakra::collective_logs
