#include "replay/engine/symmetry/call_images.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>

#include "replay/engine/symmetry/call_paths.h"
#include "replay/engine/symmetry/images.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

constexpr uint32_t kNone = Images::kNone;

// The steps of a stream; if the stream is a loop, those of one round.
struct Round {
  const Step* steps = nullptr;     // null if the stream is a loop
  const LoopStep* loop = nullptr;  // null if the stream is no loop
  uint32_t count = 0;
  uint32_t total = 0;  // number of steps in all rounds

  const Step& At(uint32_t i) const { return loop != nullptr ? loop[i].step : steps[i]; }
  int32_t MoveAt(uint32_t i) const { return loop != nullptr ? loop[i].move : 0; }
};

// Whether the links of each rail are symmetric to those of the first rail, and carry nothing else.
bool RailsAlike(Machine& machine, const PlannedCall& planned, CallPaths* paths) {
  const auto& levels = planned.costs.levels;
  if (std::none_of(levels.begin(), levels.end(), [](const auto& l) { return l.cards > 1; })) return false;
  const int rails = paths->lanes().Of(0, planned.costs).PerNode();
  if (rails < 2) return false;
  Images links(machine.topology().links(), static_cast<size_t>(rails));
  std::vector<Hop> first, there;
  return CallPaths::ForEachPair(*planned.plan, [&](int from, int to) {
    const CallPath path = paths->Of(0, planned, from, to);
    first.clear();
    if (path.lanes == nullptr) {
      return machine.LinksBetween(path.src, path.dst, &first) &&
             std::all_of(first.begin(), first.end(), [&](const Hop& hop) { return links.Keep(hop.link); });
    }
    const auto [one, other] = path.OnRail(0);
    if (path.cards != rails || one == other || !machine.LinksBetween(one, other, &first)) return false;
    for (int rail = 0; rail < rails; ++rail) {
      const auto [a, b] = path.OnRail(rail);
      there.clear();
      if (!machine.LinksBetween(a, b, &there) || !SameClasses(first, there)) return false;
      for (size_t h = 0; h < first.size(); ++h) {
        if (!links.Map(static_cast<size_t>(rail), first[h].link, there[h].link)) return false;
      }
    }
    return true;
  });
}

class SymmetryFinder {
 public:
  SymmetryFinder(Machine& machine, const PlannedCall& planned, bool one_rail, CallPaths* paths)
      : machine_(machine),
        planned_(planned),
        plan_(*planned.plan),
        one_rail_(one_rail),
        paths_(paths),
        part_(plan_.stream_base.back() + plan_.connection_base.back()),
        connections_(plan_.connection_base.back()),
        links_(machine.topology().links()) {}

  // Returns false if the plan is not symmetric to itself in reverse order of members.
  bool Find(CallImages* out) {
    const auto n = static_cast<uint32_t>(plan_.members);
    if (plan_.stream_base.back() == 0) return false;
    FindParts();
    std::vector<std::vector<uint32_t>> first(n), second(n);  // streams of each member
    for (uint32_t m = 0; m < n; ++m) {
      for (uint32_t s = plan_.stream_base[m]; s < plan_.stream_base[m + 1]; ++s) {
        if (Part(s) != Part(0) && second_part_ == kNone) second_part_ = Part(s);
        if (Part(s) != Part(0) && Part(s) != second_part_) return false;
        (Part(s) == Part(0) ? first : second)[m].push_back(s);
      }
    }
    for (uint32_t m = 0; m < n; ++m) {
      if (!AreImages(m, first[m], second[n - 1 - m])) return false;
    }
    out->left_out.resize(plan_.stream_base.back());
    for (const std::vector<uint32_t>& streams : second) {
      for (const uint32_t s : streams) out->left_out[s] = true;
    }
    out->links = std::move(joined_);
    return true;
  }

 private:
  Round RoundOf(uint32_t member, uint32_t stream) const {
    const Program& program = plan_.program(static_cast<int>(member));
    const Stream& s = program.streams[stream - plan_.stream_base[member]];
    Round round;
    round.count = round.total = s.end - s.begin;
    round.steps = program.steps.data() + s.begin;
    if (plan_.loops.empty() || plan_.loops[stream].period == 0) return round;
    round.count = plan_.loops[stream].period;
    round.loop = plan_.loop_steps.data() + plan_.loops[stream].begin;
    return round;
  }

  uint32_t ConnectionOf(uint32_t member, const Step& step) const {
    return plan_.connection_base[IsSend(step.op) ? static_cast<uint32_t>(step.peer) : member] +
           step.connection;
  }

  // Parts of the plan: sets of streams that exchange messages or wait for each other. part_ is a union-find
  // structure over streams, followed by connections.
  uint32_t Part(uint32_t i) {
    while (part_[i] != i) i = part_[i] = part_[part_[i]];
    return i;
  }
  void FindParts() {
    std::iota(part_.begin(), part_.end(), 0);
    for (uint32_t m = 0; m < static_cast<uint32_t>(plan_.members); ++m) {
      for (uint32_t s = plan_.stream_base[m]; s < plan_.stream_base[m + 1]; ++s) {
        const Round round = RoundOf(m, s);
        for (uint32_t i = 0; i < round.count; ++i) {
          const Step& step = round.At(i);
          if (IsSend(step.op) || IsReceive(step.op)) {
            part_[Part(plan_.stream_base.back() + ConnectionOf(m, step))] = Part(s);
          } else if (step.op == StepOp::kAwait) {
            part_[Part(plan_.stream_base[m] + static_cast<uint32_t>(step.peer))] = Part(s);
          }
        }
      }
    }
  }

  // Whether the streams `ours` of `member` are symmetric to the streams `theirs` of its counterpart, in this
  // order.
  bool AreImages(uint32_t member, const std::vector<uint32_t>& ours, const std::vector<uint32_t>& theirs) {
    if (ours.size() != theirs.size()) return false;
    const uint32_t image = static_cast<uint32_t>(plan_.members) - 1 - member;
    std::set<uint32_t> peers;
    for (size_t k = 0; k < ours.size(); ++k) {
      const Round one = RoundOf(member, ours[k]), other = RoundOf(image, theirs[k]);
      if (one.count != other.count || one.total != other.total) return false;
      for (uint32_t i = 0; i < one.count; ++i) {
        const Step &a = one.At(i), &b = other.At(i);
        if (a.op != b.op || a.count != b.count || a.pattern != b.pattern) return false;
        if (a.op == StepOp::kAwait) {
          const auto at = [&](uint32_t m, const std::vector<uint32_t>& streams, int index) {
            const uint32_t s = plan_.stream_base[m] + static_cast<uint32_t>(index);
            return std::find(streams.begin(), streams.end(), s) - streams.begin();
          };
          if (at(member, ours, a.peer) != at(image, theirs, b.peer)) return false;
          if (a.chunk != b.chunk || one.MoveAt(i) != other.MoveAt(i)) return false;
        }
        if (!IsSend(a.op) && !IsReceive(a.op)) continue;
        if (a.peer != plan_.members - 1 - b.peer) return false;
        if (!connections_.Pair(ConnectionOf(member, a), ConnectionOf(image, b))) return false;
        if (IsSend(a.op)) peers.insert(static_cast<uint32_t>(a.peer));
      }
    }
    return std::all_of(peers.begin(), peers.end(),
                       [&](uint32_t peer) { return ArePathsImages(member, peer); });
  }

  // Gets the level of a path, and its links. Returns false if the links are not fixed.
  bool PathOf(uint32_t from, uint32_t to, int* level, std::vector<Hop>* links) {
    const CallPath path = paths_->Of(0, planned_, static_cast<int>(from), static_cast<int>(to));
    *level = path.level;
    links->clear();
    if (path.src == path.dst || (path.lanes != nullptr && !one_rail_)) return false;
    const auto [src, dst] = path.lanes == nullptr ? std::pair(path.src, path.dst) : path.OnRail(0);
    return machine_.LinksBetween(src, dst, links);
  }

  bool ArePathsImages(uint32_t from, uint32_t to) {
    const uint32_t last = static_cast<uint32_t>(plan_.members) - 1;
    int level = 0, image_level = 0;
    if (!PathOf(from, to, &level, &path_) || !PathOf(last - from, last - to, &image_level, &image_path_))
      return false;
    if (level != image_level || !SameClasses(path_, image_path_)) return false;
    for (size_t h = 0; h < path_.size(); ++h) {
      const bool known = links_.Of(path_[h].link) != kNone;
      if (!links_.Pair(path_[h].link, image_path_[h].link)) return false;
      if (!known) joined_.push_back({path_[h], image_path_[h]});
    }
    // A flow that crosses both of two links that are united would have twice its rate there.
    return std::none_of(path_.begin(), path_.end(), [&](const Hop& hop) {
      return std::any_of(path_.begin(), path_.end(),
                         [&](const Hop& other) { return links_.Of(hop.link) == other.link; });
    });
  }

  Machine& machine_;
  const PlannedCall& planned_;
  const Plan& plan_;
  bool one_rail_;
  CallPaths* paths_;
  std::vector<uint32_t> part_;
  uint32_t second_part_ = kNone;
  Images connections_;
  Images links_;
  std::vector<std::pair<Hop, Hop>> joined_;
  std::vector<Hop> path_, image_path_;
};

}  // namespace

CallImages ImagesOf(Machine& machine, const PlannedCall& planned, const Matching& matching) {
  CallImages images;
  const Plan* const plan = planned.plan;
  if (plan == nullptr || machine.contention_free()) return images;
  CallPaths paths(machine, matching);
  images.one_rail = RailsAlike(machine, planned, &paths);
  if (!plan->rotational && plan->switches.empty() &&
      EqualChunk(planned, matching.calls[0].bytes) != kUnevenChunks)
    SymmetryFinder(machine, planned, images.one_rail, &paths).Find(&images);
  return images;
}

}  // namespace chakra
