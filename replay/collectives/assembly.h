// Helpers for builders of plans with several streams: streams that grow in parallel, and checks of requests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

// A plan under construction. Open() returns the number of a stream. Each pair of streams that exchanges
// messages gets a connection.
class Assembly {
 public:
  // `plan` must have its members and switches set, and must outlive the assembly.
  explicit Assembly(Plan* plan) : plan_(plan), of_node_(static_cast<size_t>(plan->nodes())) {}

  // Opens a stream of member or switch `node`.
  int Open(int node);
  // Opens a stream for each of `count` nodes from `first` on.
  std::vector<int> OpenEach(int first, int count);
  // The number of steps that `stream` has so far.
  int size(int stream) const { return static_cast<int>(streams_[static_cast<size_t>(stream)].steps.size()); }

  // Appends to `from` a send to `to` that waits until the message has left.
  void Send(int from, int to, int chunk, int count) { Send(StepOp::kSendWait, from, to, chunk, count); }
  // Appends to `from` a send (`op`) to `to`, of chunks that are arranged as `pattern` says (Step::pattern).
  void Send(StepOp op, int from, int to, int chunk, int count, uint8_t pattern = 0);
  // Appends to `to` the receive (`op`) of a message from `from`.
  void Receive(StepOp op, int from, int to, int chunk, int count, uint8_t pattern = 0);
  // Send() and Receive(), for streams that only send or only receive in this phase.
  void Move(StepOp receive, int from, int to, int chunk, int count) {
    Send(from, to, chunk, count);
    Receive(receive, from, to, chunk, count);
  }
  // Appends a copy of the `count` chunks at `source` to `chunk`.
  void Copy(int stream, int source, int chunk, int count);
  // Appends to `stream` a wait for the first `steps` steps of `other`, a stream of the same node. `steps` of
  // one more than `other` has: waits for its end.
  void Await(int stream, int other, int steps);

  // Moves the streams to the plan's programs; the assembly is then empty. Returns InvalidArgument if a node
  // has more incoming connections than a step can number.
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
  absl::flat_hash_map<std::pair<int, int>, uint32_t> connection_;  // by (from, to), both streams
};

// Returns FailedPrecondition if `request` names fewer than two levels of blocks.
absl::Status NeedBlocks(const PlanRequest& request);

// Returns InvalidArgument if a plan has more than 2^26 steps.
absl::Status CheckSteps(const PlanRequest& request, int64_t steps);

}  // namespace chakra
