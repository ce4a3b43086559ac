#include "trace/generate/step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace chakra::generate {

std::string Print(const Spot& s) {
  std::string out;
  if (s.micro_batch >= 0) absl::StrAppend(&out, "mb", s.micro_batch, "/");
  if (s.layer >= 0) absl::StrAppend(&out, "layer", s.layer, "/");
  absl::StrAppend(&out, s.phase, "/", s.part);
  return out;
}

uint32_t StageGraph::IndexOf(const Operator& op) {
  const std::string key =
      absl::StrCat(op.name, "|", op.shapes, "|", op.types, "|", op.operations, "|", op.bytes);
  const auto [at, fresh] = operator_index_.try_emplace(key, static_cast<uint32_t>(operators.size()));
  if (fresh) operators.push_back(op);
  return at->second;
}

uint32_t StageGraph::Add(StepNode node, const NodeList& after) {
  if (launch_ns > 0) {
    StepNode launch;
    launch.stream = Stream::kHost;
    launch.op = IndexOf({"launch", "", "", 0, 0});
    launch.spot = node.spot;
    launch.dep_begin = launch.dep_end = static_cast<uint32_t>(deps.size());
    nodes.push_back(launch);
  }
  node.dep_begin = static_cast<uint32_t>(deps.size());
  deps.insert(deps.end(), after.begin(), after.end());
  if (launch_ns > 0) deps.push_back(static_cast<uint32_t>(nodes.size() - 1));
  std::sort(deps.begin() + node.dep_begin, deps.end());
  deps.erase(std::unique(deps.begin() + node.dep_begin, deps.end()), deps.end());
  node.dep_end = static_cast<uint32_t>(deps.size());
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t StageGraph::Compute(const Operator& op, const Spot& spot, const NodeList& after) {
  StepNode node;
  node.op = IndexOf(op);
  node.spot = spot;
  return Add(node, after);
}

uint32_t StageGraph::Collective(CollectiveType type, GroupKind group, Stream stream, int64_t bytes,
                                const Spot& spot, const NodeList& after) {
  StepNode node;
  node.type = NodeType::kCollective;
  node.stream = stream;
  node.collective = type;
  node.group = group;
  node.bytes = bytes;
  node.spot = spot;
  return Add(node, after);
}

uint32_t StageGraph::Message(NodeType type, PeerKind peer, int64_t stage, Stream stream, int32_t tag,
                             int64_t bytes, const Spot& spot, const NodeList& after) {
  StepNode node;
  node.type = type;
  node.stream = stream;
  node.peer = peer;
  node.stage = stage;
  node.tag = tag;
  node.bytes = bytes;
  node.spot = spot;
  return Add(node, after);
}

}  // namespace chakra::generate
