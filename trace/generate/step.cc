#include "trace/generate/step.h"

#include <algorithm>
#include <tuple>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace chakra::generate {

void AppendSpot(const Spot& s, std::string* out) {
  if (s.micro_batch >= 0) absl::StrAppend(out, "mb", s.micro_batch, "/");
  if (s.layer >= 0) absl::StrAppend(out, "layer", s.layer, "/");
  absl::StrAppend(out, s.phase, "/", s.part);
}

std::string Print(const Spot& s) {
  std::string out;
  AppendSpot(s, &out);
  return out;
}

uint32_t StageGraph::IndexOf(const Operator& op) {
  using Key = std::tuple<const std::string&, const std::string&, const std::string&, int64_t, int64_t,
                         int64_t, int, bool>;
  const size_t hash = absl::Hash<Key>()(
      Key(op.name, op.shapes, op.types, op.operations, op.bytes, op.duration_ns, op.launches, op.eager));
  auto& alike = operator_index_[hash];
  for (const uint32_t i : alike) {
    if (operators[i] == op) return i;
  }
  alike.push_back(static_cast<uint32_t>(operators.size()));
  operators.push_back(op);
  return alike.back();
}

void StageGraph::AddHost(const Spot& spot) {
  Operator op;
  op.name = "host";
  op.duration_ns = pending_ns_;
  StepNode node;
  node.stream = Stream::kHost;
  node.op = IndexOf(op);
  node.spot = spot;
  node.dep_begin = static_cast<uint32_t>(deps.size());
  std::sort(waits_.begin(), waits_.end());
  deps.insert(deps.end(), waits_.begin(), std::unique(waits_.begin(), waits_.end()));
  node.dep_end = static_cast<uint32_t>(deps.size());
  host_node_ = static_cast<int64_t>(nodes.size());
  host_is_new_ = true;
  pending_ns_ = 0;
  waits_.clear();
  nodes.push_back(node);
}

void StageGraph::HostWorks(int64_t ns, const Spot& spot) {
  if (!host.any()) return;
  pending_ns_ += ns;
  if (pending_ns_ >= kHostGrainNs) AddHost(spot);
}

void StageGraph::HostEnds() {
  if (pending_ns_ > 0 || !waits_.empty()) AddHost(nodes.back().spot);
}

void StageGraph::HostBegins(const Spot& spot) {
  if (!host.any()) return;
  pending_ns_ = 1;
  AddHost(spot);
}

void StageGraph::HostWaits(const NodeList& after) {
  if (!host.any() || after.empty()) return;
  if (pending_ns_ > 0) AddHost(nodes.back().spot);
  waits_.insert(waits_.end(), after.begin(), after.end());
}

uint32_t StageGraph::Add(StepNode node, int64_t host_ns, const NodeList& after) {
  if (host.any()) {
    pending_ns_ += host_ns;
    if (pending_ns_ >= kHostGrainNs || !waits_.empty()) AddHost(node.spot);
  }
  node.dep_begin = static_cast<uint32_t>(deps.size());
  deps.insert(deps.end(), after.begin(), after.end());
  // On the stream of computation, an earlier node already waits for the host's node, unless that is new.
  if (host_node_ >= 0 && (host_is_new_ || node.stream != Stream::kCompute))
    deps.push_back(static_cast<uint32_t>(host_node_));
  if (node.stream == Stream::kCompute) host_is_new_ = false;
  std::sort(deps.begin() + node.dep_begin, deps.end());
  deps.erase(std::unique(deps.begin() + node.dep_begin, deps.end()), deps.end());
  node.dep_end = static_cast<uint32_t>(deps.size());
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t StageGraph::HostComputes(int64_t ns, const Spot& spot, const NodeList& after) {
  if (pending_ns_ > 0) AddHost(spot);
  waits_.insert(waits_.end(), after.begin(), after.end());
  pending_ns_ = ns;
  AddHost(spot);
  return static_cast<uint32_t>(host_node_);
}

uint32_t StageGraph::Copy(bool to_host, int64_t bytes, const Spot& spot, const NodeList& after) {
  StepNode node;
  node.type = to_host ? NodeType::kMemStore : NodeType::kMemLoad;
  node.stream = to_host ? Stream::kOffload : Stream::kReload;
  node.bytes = bytes;
  node.spot = spot;
  return Add(node, host.launch_ns, after);
}

uint32_t StageGraph::Compute(const Operator& op, const Spot& spot, const NodeList& after) {
  StepNode node;
  node.op = IndexOf(op);
  node.spot = spot;
  return Add(node, LaunchNs(host, op), after);
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
  return Add(node, host.call_ns, after);
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
  return Add(node, host.call_ns, after);
}

std::vector<GroupKind> KindsInOrder(const StageGraph& stage) {
  std::vector<GroupKind> kinds;
  bool seen[kGroupKinds] = {};
  for (const StepNode& n : stage.nodes) {
    bool& known = seen[static_cast<size_t>(n.group)];
    if (n.type != NodeType::kCollective || known) continue;
    known = true;
    kinds.push_back(n.group);
  }
  return kinds;
}

}  // namespace chakra::generate
