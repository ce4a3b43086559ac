// What builders of plans with several streams share: streams that grow side by
// side, and checks of what a request asks for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

// A plan under construction. Streams are named by the numbers that Open()
// returns; each pair of streams that exchanges messages gets a connection.
class Assembly {
 public:
  // `plan`, whose members and switches are set, must outlive the assembly.
  explicit Assembly(Plan* plan) : plan_(plan), of_node_(static_cast<size_t>(plan->nodes())) {}

  // Opens a stream of member or switch `node`.
  int Open(int node);
  // Opens a stream of each of `count` nodes from `first` on.
  std::vector<int> OpenEach(int first, int count);
  // Steps that `stream` has so far.
  int size(int stream) const { return static_cast<int>(streams_[static_cast<size_t>(stream)].steps.size()); }

  // Appends to `from` a send to `to`, which waits until the message has left.
  void Send(int from, int to, int chunk, int count);
  // Appends to `to` the receive (`op`) of a message of `from`.
  void Receive(StepOp op, int from, int to, int chunk, int count);
  // Both at once, for streams that only send or only receive in this phase.
  void Move(StepOp receive, int from, int to, int chunk, int count) {
    Send(from, to, chunk, count);
    Receive(receive, from, to, chunk, count);
  }
  // Appends a copy of `count` chunks at `source` to those at `chunk`.
  void Copy(int stream, int source, int chunk, int count);
  // Appends to `stream` a wait for the first `steps` steps of `other`, a stream of the same node.
  void Await(int stream, int other, int steps);

  // Fills the plan's programs. The assembly is empty then. InvalidArgument if a
  // node has more incoming connections than a step can name.
  absl::Status Finish();

 private:
  struct Grown {
    int node;
    int index;  // among the streams of its node
    std::vector<Step> steps;
  };
  uint16_t Connection(int from, int to);

  Plan* plan_;
  std::vector<Grown> streams_;
  std::vector<std::vector<int>> of_node_;
  std::vector<uint32_t> connections_ = std::vector<uint32_t>(of_node_.size(), 0);
  absl::flat_hash_map<std::pair<int, int>, uint32_t> connection_;  // by streams: from, to
};

// FailedPrecondition if `request` names fewer than two levels of blocks.
absl::Status NeedBlocks(const PlanRequest& request);

// InvalidArgument if a plan of `steps` steps is more than is built at once (2^26).
absl::Status CheckSteps(const PlanRequest& request, int64_t steps);

}  // namespace chakra
