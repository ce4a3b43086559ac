// The graph of one pipeline stage: the work of each of its ranks in a step. Ranks of a stage differ only in
// peers and groups, so a node names the kinds of these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "trace/generate/layout.h"
#include "trace/generate/sizes.h"
#include "trace/model/trace.h"

namespace chakra::generate {

// CUDA streams. On each, nodes run in the order of the graph. Frameworks give each kind of communication its
// own.
enum class Stream : uint8_t {
  kCompute,
  kTensor,          // collectives of tp
  kContext,         // collectives of cp
  kExpert,          // exchanges of experts
  kExpertRail,      // exchanges of experts between nodes
  kGather,          // all-gathers of weights
  kReduce,          // reductions of gradients
  kSendForward,     // activations to the next stage
  kSendBackward,    // gradients to the previous stage
  kReceiveForward,  // activations from the previous stage
  kReceiveBackward,
  kSendRing,  // keys and values to the next rank of cp
  kReceiveRing,
  kHost,     // not a stream: the thread of the host
  kTables,   // exchanges of vectors and indices of tables
  kOffload,  // copies to the host
  kReload,   // copies from the host
  kCopies,   // reductions of gradients over copies of the weights
};
inline constexpr int kStreams = 18;

// A kind of computation. Equal ones share one entry of StageGraph::operators.
struct Operator {
  std::string name;    // as PyTorch or the library names it: "aten::mm"
  std::string shapes;  // inputs.shapes
  std::string types;   // inputs.types
  int64_t operations = 0;
  int64_t bytes = 0;        // bytes read and written, if they do not follow from the shapes
  int64_t duration_ns = 0;  // duration of a node of the host
  int launches = 1;         // kernels that it represents
  bool eager = false;       // Python launches it even where CUDA graphs launch the rest

  bool operator==(const Operator&) const = default;
};

// The host's time to launch the operator.
inline int64_t LaunchNs(const HostCosts& host, const Operator& op) {
  if (!op.eager) return host.launch_ns * op.launches;
  return host.eager_launch_ns + host.eager_kernel_ns * (op.launches - 1);
}

// The position of a node in the model, as text for users: "mb3/layer5/forward/mlp.up".
struct Spot {
  int32_t micro_batch = -1;  // -1: no micro-batch
  int32_t layer = -1;        // from 0; -1: no layer
  const char* phase = "";    // "forward", "backward", "recompute", "step"
  const char* part = "";     // has static storage
};
std::string Print(const Spot& spot);
void AppendSpot(const Spot& spot, std::string* out);

struct StepNode {
  NodeType type = NodeType::kComp;
  Stream stream = Stream::kCompute;
  CollectiveType collective = CollectiveType::kAllReduce;
  GroupKind group = GroupKind::kWorld;  // of a collective
  PeerKind peer = PeerKind::kStage;     // of a message
  uint32_t op = 0;                      // of a computation: index into operators
  int64_t bytes = 0;                    // of communication: this rank's input; of a copy
  int64_t stage = 0;                    // of a message, PeerKind::kStage: the peer's
  int32_t tag = 0;                      // of a message
  Spot spot;
  // range in StageGraph::deps; each dependency is less than the node's own index
  uint32_t dep_begin = 0, dep_end = 0;
};

// Whether the node copies between the memories of device and host.
inline bool IsCopy(const StepNode& n) {
  return n.type == NodeType::kMemStore || n.type == NodeType::kMemLoad;
}

using NodeList = absl::InlinedVector<uint32_t, 4>;

// The nodes of both lists.
inline NodeList Join(NodeList a, const NodeList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class StageGraph {
 public:
  std::vector<StepNode> nodes;
  std::vector<uint32_t> deps;
  std::vector<Operator> operators;
  // Elements of the weights that a rank of the stage trains, before dp shares any: those outside of experts,
  // and those of its experts.
  int64_t weights = 0, expert_weights = 0;
  // Times of the host; if all are 0, the graph has no nodes of the host.
  HostCosts host;

  // Adds a node that waits for `after`, and returns its index.
  uint32_t Compute(const Operator& op, const Spot& spot, const NodeList& after);
  // A copy to the host's memory (a MEM_STORE) or from it (a MEM_LOAD), on the stream of its direction.
  uint32_t Copy(bool to_host, int64_t bytes, const Spot& spot, const NodeList& after);
  uint32_t Collective(CollectiveType type, GroupKind group, Stream stream, int64_t bytes, const Spot& spot,
                      const NodeList& after);
  uint32_t Message(NodeType type, PeerKind peer, int64_t stage, Stream stream, int32_t tag, int64_t bytes,
                   const Spot& spot, const NodeList& after);

  // The host works for `ns` before it launches the next node.
  void HostWorks(int64_t ns, const Spot& spot);
  // Puts all pending work of the host into nodes, so that HostBegins() may follow.
  void HostEnds();
  // The following nodes wait for a new node of the host, and for no earlier one, so that they may change
  // places with earlier nodes.
  void HostBegins(const Spot& spot);
  // The host waits for nodes of the device before it launches the next node.
  void HostWaits(const NodeList& nodes);
  // Adds a node of the host that waits for `after` and takes `ns`, whether the host's launches count or not.
  uint32_t HostComputes(int64_t ns, const Spot& spot, const NodeList& after);

 private:
  // Launches of the host are joined into nodes of at least this length. With a node for each launch, a graph
  // would be twice as large, and the first waits of a device for the host would differ.
  static constexpr int64_t kHostGrainNs = 200'000;

  uint32_t Add(StepNode node, int64_t host_ns, const NodeList& after);
  void AddHost(const Spot& spot);
  uint32_t IndexOf(const Operator& op);
  // By hash: the indices of the operators that have it.
  absl::flat_hash_map<size_t, absl::InlinedVector<uint32_t, 1>> operator_index_;
  int64_t pending_ns_ = 0;    // time of the host that is in no node yet
  NodeList waits_;            // nodes for which the next node of the host waits
  int64_t host_node_ = -1;    // the last node of the host
  bool host_is_new_ = false;  // no node of the device waits for host_node_ yet
};

// The kinds of groups that a stage's nodes name, in the order in which a reader of a rank's file finds the
// groups.
std::vector<GroupKind> KindsInOrder(const StageGraph& stage);

}  // namespace chakra::generate
