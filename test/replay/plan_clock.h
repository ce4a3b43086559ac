// The time of a plan on links that never delay each other, without events. Streams run one after another, as
// far as they can. Every message takes `alpha` plus `beta` for each byte, and blocks its sender for the
// latter if the plan waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/collectives/plan.h"

namespace chakra {

class PlanClock {
 public:
  PlanClock(const Plan& plan, int64_t bytes, int64_t alpha, int64_t beta)
      : plan_(plan), bytes_(static_cast<uint64_t>(bytes)), alpha_(alpha), beta_(beta) {}

  // The end of the last stream, in the unit of alpha and beta; -1 for a deadlock.
  int64_t Run() {
    done_.resize(plan_.stream_base.back());
    arrived_.resize(plan_.connection_base.back());
    taken_.resize(arrived_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (int node = 0; node < plan_.nodes(); ++node) {
        for (size_t s = 0; s < plan_.program(node).streams.size(); ++s) moved = Go(node, s) || moved;
      }
    }
    int64_t end = 0;
    for (int node = 0; node < plan_.nodes(); ++node) {
      for (size_t s = 0; s < plan_.program(node).streams.size(); ++s) {
        const Stream& stream = plan_.program(node).streams[s];
        const std::vector<int64_t>& done = done_[plan_.stream_base[node] + s];
        if (done.size() != stream.end - stream.begin) return -1;
        if (!done.empty()) end = std::max(end, done.back());
      }
    }
    return end;
  }

 private:
  bool Go(int node, size_t s) {
    const Program& program = plan_.program(node);
    const Stream& stream = program.streams[s];
    std::vector<int64_t>& done = done_[plan_.stream_base[node] + s];
    const size_t before = done.size();
    for (; stream.begin + done.size() < stream.end;) {
      const Step& step = program.steps[stream.begin + done.size()];
      int64_t now = done.empty() ? 0 : done.back();
      if (IsSend(step.op)) {
        const int to = plan_.rotational ? (node + step.peer) % plan_.members : step.peer;
        const uint64_t bytes = StepBytesOf(plan_, bytes_, node, step);
        const int64_t sent = now + static_cast<int64_t>(bytes) * beta_;
        arrived_[plan_.connection_base[to] + step.connection].push_back(sent + alpha_);
        if (step.op == StepOp::kSendWait) now = sent;
      } else if (IsReceive(step.op)) {
        const uint32_t connection = plan_.connection_base[node] + step.connection;
        if (taken_[connection] == arrived_[connection].size()) break;
        now = std::max(now, arrived_[connection][taken_[connection]++]);
      } else if (step.op == StepOp::kAwait) {
        const auto& other = done_[plan_.stream_base[node] + static_cast<uint32_t>(step.peer)];
        const Stream& of = program.streams[static_cast<size_t>(step.peer)];
        const size_t goal = std::min<size_t>(static_cast<size_t>(step.chunk), of.end - of.begin);
        if (other.size() < goal) break;
        now = std::max(now, other[goal - 1]);
      }
      done.push_back(now);
    }
    return done.size() != before;
  }

  const Plan& plan_;
  uint64_t bytes_;
  int64_t alpha_, beta_;
  std::vector<std::vector<int64_t>> done_;     // by stream: ends of its steps
  std::vector<std::vector<int64_t>> arrived_;  // by connection
  std::vector<size_t> taken_;
};

}  // namespace chakra
