#include <algorithm>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// Member v of the tree, numbered from the root. The parent's number is v without its lowest set bit; a
// child's number has one more bit, below that one.
struct Place {
  int parent = -1;
  std::vector<int> children;  // the child with the largest subtree first
};

Place PlaceOf(int v, int n) {
  Place place;
  int64_t limit = 1;
  while (limit < n) limit *= 2;
  if (v != 0) {
    limit = v & -v;
    place.parent = v - static_cast<int>(limit);
  }
  for (int64_t bit = limit / 2; bit >= 1; bit /= 2) {
    if (v + bit < n) place.children.push_back(v + static_cast<int>(bit));
  }
  return place;
}

}  // namespace

absl::Status BuildBinomial(const PlanRequest& request, Plan* plan) {
  const int root = request.root;
  const int n = plan->members;
  const bool reduce = plan->type == CollectiveType::kReduce;
  plan->chunks = 1;
  plan->programs.resize(n);
  const auto member = [&](int v) { return static_cast<int32_t>((int64_t{v} + root) % n); };
  for (int v = 0; v < n; ++v) {
    Program& program = plan->programs[member(v)];
    Place place = PlaceOf(v, n);
    if (reduce) {
      // Leaves first: the smallest subtree is ready first.
      std::reverse(place.children.begin(), place.children.end());
      for (size_t i = 0; i < place.children.size(); ++i) {
        program.steps.push_back(
            {StepOp::kRecvReduce, static_cast<uint16_t>(i), member(place.children[i]), 0, 1});
      }
      program.connections = static_cast<uint32_t>(place.children.size());
      if (place.parent >= 0) {
        // The connection at the parent: this member's place among the parent's children, in this order.
        std::vector<int> siblings = PlaceOf(place.parent, n).children;
        std::reverse(siblings.begin(), siblings.end());
        const auto at = std::find(siblings.begin(), siblings.end(), v) - siblings.begin();
        program.steps.push_back({StepOp::kSendWait, static_cast<uint16_t>(at), member(place.parent), 0, 1});
      }
    } else {
      if (place.parent >= 0) {
        program.steps.push_back({StepOp::kRecv, 0, member(place.parent), 0, 1});
        program.connections = 1;
      }
      for (int child : place.children) {
        program.steps.push_back({StepOp::kSendWait, 0, member(child), 0, 1});
      }
    }
    program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  }
  return absl::OkStatus();
}

}  // namespace chakra
