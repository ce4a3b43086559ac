#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "replay/collectives/assembly.h"
#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// A reduce-scatter or all-gather of one part of the data, by rings over the level at `position` in the part's
// order.
struct Phase {
  int part;
  int position;
  bool gathers;
};

class Hierarchy {
 public:
  // `order[p]` is the order of levels in which part p is scattered.
  Hierarchy(const PlanRequest& request, std::vector<std::vector<int>> order, Plan* plan)
      : size_(request.blocks), order_(std::move(order)), plan_(plan), n_(plan->members) {
    int stride = 1;
    for (const int size : size_) {
      stride_.push_back(stride);
      stride *= size;
    }
    bandwidth_ = request.bandwidth.empty() ? std::vector<double>(size_.size(), 1.0) : request.bandwidth;
    by_member_ = plan->type != CollectiveType::kAllReduce;
  }

  absl::Status Build() {
    plan_->chunks = static_cast<int>(order_.size()) * n_;
    plan_->chunk_is_whole = plan_->type == CollectiveType::kAllGather;
    plan_->synchronizing = true;
    Assembly assembly(plan_);
    // A single part goes level by level in one stream; several parts share one stream for each level.
    const size_t ports = order_.size() == 1 ? 1 : size_.size();
    for (size_t l = 0; l < ports; ++l) port_.push_back(assembly.OpenEach(0, n_));
    std::vector<std::pair<int, int>> done(order_.size(), {-1, 0});  // by part: the last level, and the steps
                                                                    // of its stream
    for (const Phase& phase : Schedule()) {
      const int level = order_[static_cast<size_t>(phase.part)][static_cast<size_t>(phase.position)];
      if (size_[static_cast<size_t>(level)] == 1) continue;
      auto& [last, steps] = done[static_cast<size_t>(phase.part)];
      if (last >= 0 && Port(last, 0) != Port(level, 0)) {
        for (int m = 0; m < n_; ++m) assembly.Await(Port(level, m), Port(last, m), steps);
      }
      Rings(phase, level, &assembly);
      last = level;
      steps = assembly.size(Port(level, 0));  // the same for every member
    }
    return assembly.Finish();
  }

 private:
  int Port(int level, int m) const {
    return port_[port_.size() == 1 ? 0 : static_cast<size_t>(level)][static_cast<size_t>(m)];
  }
  int Coordinate(int m, int level) const {
    return m / stride_[static_cast<size_t>(level)] % size_[static_cast<size_t>(level)];
  }

  // The order in which phases use their levels: the phase that can begin first comes first, where a phase
  // takes (bytes / bandwidth). All members have the same order, so there is no cycle of waits.
  std::vector<Phase> Schedule() const {
    const int levels = static_cast<int>(size_.size());
    const bool scatters = plan_->type != CollectiveType::kAllGather;
    const int phases = levels * (plan_->type == CollectiveType::kAllReduce ? 2 : 1);
    std::vector<double> level_free(size_.size(), 0), part_ready(order_.size(), 0);
    std::vector<int> next(order_.size(), 0);
    std::vector<Phase> schedule;
    for (size_t left = order_.size() * static_cast<size_t>(phases); left > 0; --left) {
      size_t best = 0;
      Phase chosen{-1, 0, false};
      double begin = 0;
      for (size_t p = 0; p < order_.size(); ++p) {
        if (next[p] == phases) continue;
        const bool gathers = !scatters || next[p] >= levels;
        const int position = gathers ? phases - 1 - next[p] : next[p];
        const auto level = static_cast<size_t>(order_[p][static_cast<size_t>(position)]);
        const double at = std::max(level_free[level], part_ready[p]);
        if (chosen.part >= 0 && at >= begin) continue;
        best = p;
        begin = at;
        chosen = {static_cast<int>(p), position, gathers};
      }
      const auto level = static_cast<size_t>(order_[best][static_cast<size_t>(chosen.position)]);
      const double took = (size_[level] - 1.0) * Width(best, chosen.position) / bandwidth_[level];
      level_free[level] = part_ready[best] = begin + took;
      ++next[best];
      schedule.push_back(chosen);
    }
    return schedule;
  }

  // The chunks in a slice of a part at `position` in its order.
  int Width(size_t part, int position) const {
    int width = n_;
    for (int j = 0; j <= position; ++j)
      width /= size_[static_cast<size_t>(order_[part][static_cast<size_t>(j)])];
    return width;
  }

  // The chunks [c, c + count) for c = first, first + step, ... below end.
  struct Slice {
    int first, count, step, end;
  };

  // Slice 0 of the chunks that member m holds of a part before the part is scattered over `level`, and the
  // distance between slices: slice q begins q times this distance further on. If by_member_, chunk c belongs
  // to member c, so slice q has the chunks of all members whose coordinates equal m's below this level, and q
  // on it.
  std::pair<Slice, int> FirstSlice(const Phase& phase, int level, int m) const {
    const auto part = static_cast<size_t>(phase.part);
    const int stride = stride_[static_cast<size_t>(level)];
    if (by_member_) return {{m % stride, 1, stride * size_[static_cast<size_t>(level)], n_}, stride};
    int first = phase.part * n_;
    for (int j = 0; j < phase.position; ++j)
      first += Coordinate(m, order_[part][static_cast<size_t>(j)]) * Width(part, j);
    const int width = Width(part, phase.position);
    return {{first, width, width, first + 1}, width};
  }

  void Rings(const Phase& phase, int level, Assembly* assembly) const {
    const int k = size_[static_cast<size_t>(level)];
    const int stride = stride_[static_cast<size_t>(level)];
    const int first = phase.gathers ? 0 : k - 1;
    const StepOp op = phase.gathers ? StepOp::kRecv : StepOp::kRecvReduce;
    for (int m = 0; m < n_; ++m) {
      const int c = Coordinate(m, level);
      const int own = Port(level, m);
      const int right = Port(level, m + ((c + 1) % k - c) * stride);
      const int left = Port(level, m + ((c + k - 1) % k - c) * stride);
      const auto [zero, apart] = FirstSlice(phase, level, m);
      for (int s = 0; s < k - 1; ++s) {
        const int sent = (c + first - s + k) % k * apart, taken = (c + first - 1 - s + k) % k * apart;
        for (int at = zero.first; at < zero.end; at += zero.step)
          assembly->Send(own, right, at + sent, zero.count);
        for (int at = zero.first; at < zero.end; at += zero.step)
          assembly->Receive(op, left, own, at + taken, zero.count);
      }
    }
  }

  const std::vector<int> size_;  // by level, like stride_
  std::vector<int> stride_;      // distance of member numbers
  std::vector<double> bandwidth_;
  std::vector<std::vector<int>> order_;
  Plan* plan_;
  int n_;
  bool by_member_;                      // the collective prescribes which member holds which chunk
  std::vector<std::vector<int>> port_;  // [level][member]: streams
};

// Each part takes the levels by load, the least loaded first, since the first level of a part carries the
// most.
std::vector<std::vector<int>> Balanced(const PlanRequest& request) {
  std::vector<double> load(request.blocks.size(), 0);
  std::vector<std::vector<int>> orders;
  for (int p = 0; p < request.pieces; ++p) {
    std::vector<int> order(request.blocks.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return load[static_cast<size_t>(a)] < load[static_cast<size_t>(b)];
    });
    double data = 1;
    for (const int level : order) {
      const auto l = static_cast<size_t>(level);
      const double kept = data / request.blocks[l];
      load[l] += 2 * (data - kept) / (request.bandwidth.empty() ? 1.0 : request.bandwidth[l]);
      data = kept;
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

// The number of steps of all members for one part.
int64_t StepsOfPart(const PlanRequest& request) {
  const int64_t n = request.members;
  int64_t each = 0;
  for (const int size : request.blocks) each += 2 * (size - 1);
  return request.type == CollectiveType::kAllReduce ? 2 * n * each : 2 * n * n;
}

}  // namespace

absl::Status BuildHierarchical(const PlanRequest& request, Plan* plan) {
  if (absl::Status s = NeedBlocks(request); !s.ok()) return s;
  if (absl::Status s = CheckSteps(request, StepsOfPart(request)); !s.ok()) return s;
  std::vector<int> order(request.blocks.size());
  std::iota(order.begin(), order.end(), 0);
  return Hierarchy(request, {order}, plan).Build();
}

absl::Status BuildThemis(const PlanRequest& request, Plan* plan) {
  if (absl::Status s = NeedBlocks(request); !s.ok()) return s;
  if (absl::Status s = CheckSteps(request, request.pieces * StepsOfPart(request)); !s.ok()) return s;
  return Hierarchy(request, Balanced(request), plan).Build();
}

}  // namespace chakra
