#include "replay/engine/symmetry/mirror.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "replay/engine/symmetry/card_lanes.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

constexpr uint32_t kNone = 0xffffffff;

// The steps of a stream; of a loop, those of one round.
struct Round {
  const Step* steps = nullptr;     // or
  const LoopStep* loop = nullptr;  // of a loop
  uint32_t count = 0;
  uint32_t total = 0;  // with all rounds

  const Step& At(uint32_t i) const { return loop != nullptr ? loop[i].step : steps[i]; }
  int32_t MoveAt(uint32_t i) const { return loop != nullptr ? loop[i].move : 0; }
};

// Pairs of numbers that are images of each other.
class Pairs {
 public:
  explicit Pairs(size_t count) : image_(count, kNone) {}
  // False: that contradicts an earlier call, or both are the same.
  bool Join(uint32_t a, uint32_t b) {
    if (a == b) return false;
    if (image_[a] == kNone && image_[b] == kNone) {
      image_[a] = b;
      image_[b] = a;
    }
    return image_[a] == b && image_[b] == a;
  }
  uint32_t image(uint32_t a) const { return image_[a]; }

 private:
  std::vector<uint32_t> image_;
};

class MirrorFinder {
 public:
  MirrorFinder(Machine& machine, const PlannedCall& planned, const Matching& matching, bool one_rail)
      : machine_(machine),
        plan_(*planned.plan),
        costs_(planned.costs),
        members_(matching.groups[0].members),
        one_rail_(one_rail),
        group_lanes_(machine, matching),
        part_(plan_.stream_base.back() + plan_.connection_base.back()),
        connections_(plan_.connection_base.back()),
        links_(machine.topology().links()) {}

  std::optional<Mirror> Find() {
    const auto n = static_cast<uint32_t>(plan_.members);
    if (plan_.stream_base.back() == 0) return std::nullopt;
    FindParts();
    std::vector<std::vector<uint32_t>> first(n), second(n);  // streams of each member
    for (uint32_t m = 0; m < n; ++m) {
      for (uint32_t s = plan_.stream_base[m]; s < plan_.stream_base[m + 1]; ++s) {
        if (Part(s) != Part(0) && second_part_ == kNone) second_part_ = Part(s);
        if (Part(s) != Part(0) && Part(s) != second_part_) return std::nullopt;
        (Part(s) == Part(0) ? first : second)[m].push_back(s);
      }
    }
    for (uint32_t m = 0; m < n; ++m) {
      if (!AreImages(m, first[m], second[n - 1 - m])) return std::nullopt;
    }
    Mirror mirror;
    mirror.left_out.resize(plan_.stream_base.back());
    for (const std::vector<uint32_t>& streams : second) {
      for (const uint32_t s : streams) mirror.left_out[s] = true;
    }
    mirror.links = std::move(joined_);
    return mirror;
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

  // Parts of the plan: streams that exchange messages, or wait for each other. Union-find over streams and
  // then connections.
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

  // Whether the streams `ours` of `member` have `theirs` of its image as images, in this order.
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
        if (!connections_.Join(ConnectionOf(member, a), ConnectionOf(image, b))) return false;
        if (IsSend(a.op)) peers.insert(static_cast<uint32_t>(a.peer));
      }
    }
    return std::all_of(peers.begin(), peers.end(),
                       [&](uint32_t peer) { return ArePathsImages(member, peer); });
  }

  bool PathOf(uint32_t from, uint32_t to, std::vector<Hop>* path) {
    path->clear();
    int src = members_[from], dst = members_[to];
    if (src == dst) return false;
    const bool cut =
        !costs_.levels.empty() && costs_.levels[static_cast<size_t>(machine_.Level(src, dst))].cards > 1;
    if (cut && !one_rail_) return false;
    if (cut) std::tie(src, dst) = group_lanes_.Of(0, costs_).OnRail(from, to, 0);
    return machine_.LinksBetween(src, dst, path);
  }

  bool ArePathsImages(uint32_t from, uint32_t to) {
    const uint32_t last = static_cast<uint32_t>(plan_.members) - 1;
    if (machine_.Level(members_[from], members_[to]) !=
        machine_.Level(members_[last - from], members_[last - to])) {
      return false;
    }
    if (!PathOf(from, to, &path_) || !PathOf(last - from, last - to, &image_path_)) return false;
    if (path_.size() != image_path_.size()) return false;
    for (size_t h = 0; h < path_.size(); ++h) {
      if (path_[h].link_class != image_path_[h].link_class) return false;
      const bool known = links_.image(path_[h].link) != kNone;
      if (!links_.Join(path_[h].link, image_path_[h].link)) return false;
      if (!known) joined_.push_back({path_[h], image_path_[h]});
    }
    // A flow on both of two links that are one would take twice its rate there.
    return std::none_of(path_.begin(), path_.end(), [&](const Hop& hop) {
      return std::any_of(path_.begin(), path_.end(),
                         [&](const Hop& other) { return links_.image(hop.link) == other.link; });
    });
  }

  Machine& machine_;
  const Plan& plan_;
  const CallCosts& costs_;
  const std::vector<int>& members_;
  bool one_rail_;
  GroupLanes group_lanes_;
  std::vector<uint32_t> part_;
  uint32_t second_part_ = kNone;
  Pairs connections_;
  Pairs links_;
  std::vector<std::pair<Hop, Hop>> joined_;
  std::vector<Hop> path_, image_path_;
};

}  // namespace

std::optional<Mirror> MirrorOf(Machine& machine, const PlannedCall& planned, const Matching& matching,
                               bool one_rail) {
  const Plan* plan = planned.plan;
  if (plan == nullptr || plan->rotational || !plan->switches.empty() || machine.contention_free()) {
    return std::nullopt;
  }
  if (EqualChunk(planned, matching.calls[0].bytes) == kUnevenChunks) return std::nullopt;
  return MirrorFinder(machine, planned, matching, one_rail).Find();
}

}  // namespace chakra
