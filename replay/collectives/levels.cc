#include "replay/collectives/levels.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/collectives/assembly.h"
#include "trace/base/status_macros.h"

namespace chakra {

std::optional<std::vector<LevelAlgorithm>> ParseLevelAlgorithms(absl::string_view text) {
  std::vector<LevelAlgorithm> algorithms;
  for (const absl::string_view name : absl::StrSplit(text, '+')) {
    if (name == "ring") {
      algorithms.push_back(LevelAlgorithm::kRing);
    } else if (name == "direct") {
      algorithms.push_back(LevelAlgorithm::kDirect);
    } else if (name == "halving_doubling") {
      algorithms.push_back(LevelAlgorithm::kHalvingDoubling);
    } else {
      return std::nullopt;
    }
  }
  if (algorithms.size() < 2) return std::nullopt;
  return algorithms;
}

std::vector<LevelPhase> PhasesOf(CollectiveType type, int levels) {
  std::vector<LevelPhase> phases;
  switch (type) {
    case CollectiveType::kAllReduce:
      for (int l = 0; l + 1 < levels; ++l) phases.push_back({l, PhaseKind::kScatter});
      phases.push_back({levels - 1, PhaseKind::kReduce});
      for (int l = levels - 1; l-- > 0;) phases.push_back({l, PhaseKind::kGather});
      break;
    case CollectiveType::kReduceScatter:
    case CollectiveType::kReduceScatterBlock:
      for (int l = 0; l < levels; ++l) phases.push_back({l, PhaseKind::kScatter});
      break;
    case CollectiveType::kAllGather:
      for (int l = levels; l-- > 0;) phases.push_back({l, PhaseKind::kGather});
      break;
    case CollectiveType::kAllToAll:
      for (int l = 0; l < levels; ++l) phases.push_back({l, PhaseKind::kExchange});
      break;
    default:
      break;
  }
  return phases;
}

std::vector<TorusRoute> RoutesOnTorus(int levels, int axes) {
  std::vector<TorusRoute> routes;
  for (int part = 0; part < std::max(1, 2 * axes); ++part) {
    TorusRoute& route = routes.emplace_back();
    route.backwards = part % 2 == 1;
    for (int i = 0; i < levels; ++i) route.order.push_back(i < axes ? (part / 2 + i) % axes : i);
  }
  return routes;
}

std::vector<PhaseVisit> SchedulePhases(const std::vector<std::vector<int>>& level_of,
                                       const std::vector<std::vector<double>>& took, int levels, int at_once,
                                       ServeFirst serve) {
  std::vector<std::vector<double>> free(static_cast<size_t>(levels),
                                        std::vector<double>(static_cast<size_t>(at_once)));
  std::vector<double> ready(level_of.size());
  std::vector<size_t> next(level_of.size());
  std::vector<PhaseVisit> visits;
  size_t left = 0;
  for (const std::vector<int>& phases : level_of) left += phases.size();
  for (; left > 0; --left) {
    size_t best = level_of.size(), place = 0;
    double begin = 0;
    for (size_t p = 0; p < level_of.size(); ++p) {
      if (next[p] == level_of[p].size()) continue;
      const std::vector<double>& places = free[static_cast<size_t>(level_of[p][next[p]])];
      const auto first = std::min_element(places.begin(), places.end());
      const double at = std::max(*first, ready[p]);
      if (best < level_of.size()) {
        const bool waits = serve == ServeFirst::kLowestPart || ready[p] >= ready[best];
        if (at > begin || (at == begin && waits)) continue;
      }
      best = p;
      begin = at;
      place = static_cast<size_t>(first - places.begin());
    }
    const size_t phase = next[best]++;
    const double end = begin + took[best][phase];
    free[static_cast<size_t>(level_of[best][phase])][place] = ready[best] = end;
    visits.push_back({static_cast<int>(best), static_cast<int>(phase), static_cast<int>(place), begin, end});
  }
  return visits;
}

namespace {

class LevelPlan {
 public:
  LevelPlan(const PlanRequest& request, const LevelOptions& options, Plan* plan)
      : size_(request.blocks),
        options_(options),
        bandwidth_(request.bandwidth),
        plan_(plan),
        n_(plan->members),
        parts_(static_cast<int>(options.order.size())),
        assembly_(plan) {
    int stride = 1;
    for (const int size : size_) {
      stride_.push_back(stride);
      stride *= size;
    }
    if (!options_.torus.empty()) {
      options_.order.clear();
      for (const TorusRoute& route : options_.torus) options_.order.push_back(route.order);
      options_.at_once = 2;  // the two directions of an axis
      parts_ = static_cast<int>(options_.order.size());
    }
    if (bandwidth_.empty()) bandwidth_.assign(size_.size(), 1.0);
    if (options_.algorithm.empty()) options_.algorithm.assign(size_.size(), LevelAlgorithm::kRing);
    exchanges_ = plan->type == CollectiveType::kAllToAll;
    by_member_ = !exchanges_ && plan->type != CollectiveType::kAllReduce;
    for (const std::vector<int>& order : options_.order) phases_.push_back(PhasesIn(order));
  }

  absl::Status Build() {
    RETURN_IF_ERROR(Check());
    SetChunks();
    if (!options_.stream_for_phase) {
      const size_t streams = parts_ == 1 ? 1 : size_.size();
      for (size_t l = 0; l < streams; ++l) of_level_.push_back(assembly_.OpenEach(0, n_));
    }
    std::vector<int> before(static_cast<size_t>(parts_), -1);  // by part: streams of its previous phase, and
    std::vector<int> steps(static_cast<size_t>(parts_));       // their number of steps at that phase's end
    std::vector<std::vector<int>> at_place(size_.size(),
                                           std::vector<int>(static_cast<size_t>(options_.at_once), -1));
    for (const PhaseVisit& visit : Schedule()) {
      const auto part = static_cast<size_t>(visit.part);
      const LevelPhase& phase = phases_[part][static_cast<size_t>(visit.phase)];
      const auto level = static_cast<size_t>(phase.level);
      if (size_[level] == 1) continue;
      const int streams = StreamsFor(level);
      if (before[part] >= 0 && before[part] != streams) Await(streams, before[part], steps[part]);
      if (options_.stream_for_phase) {
        int& last = at_place[level][static_cast<size_t>(visit.place)];
        if (last >= 0 && last != before[part]) Await(streams, last, SizeOf(last) + 1);
        last = streams;
      }
      position_ = PositionOf(visit);
      Emit(visit.part, phase, streams);
      before[part] = streams;
      steps[part] = SizeOf(streams) + (options_.stream_for_phase ? 1 : 0);
    }
    return assembly_.Finish();
  }

 private:
  // The chunks of a message.
  struct Slice {
    int chunk;
    int count;
    uint8_t pattern;
  };

  std::vector<LevelPhase> PhasesIn(const std::vector<int>& order) const {
    std::vector<LevelPhase> phases;
    for (const LevelPhase& phase : PhasesOf(plan_->type, static_cast<int>(order.size()))) {
      const int level = order[static_cast<size_t>(phase.level)];
      // If levels have their own streams, another part may come between the halves of an all-reduce.
      if (phase.kind == PhaseKind::kReduce && !options_.stream_for_phase) {
        phases.push_back({level, PhaseKind::kScatter});
        phases.push_back({level, PhaseKind::kGather});
      } else {
        phases.push_back({level, phase.kind});
      }
    }
    return phases;
  }

  absl::Status Check() const {
    for (size_t l = 0; l < size_.size(); ++l) {
      if (options_.algorithm[l] != LevelAlgorithm::kHalvingDoubling) continue;
      const auto bad = [&](absl::string_view what) {
        return absl::InvalidArgumentError(absl::StrCat(plan_->algorithm, " for ",
                                                       std::string(Name(plan_->type)), " on ", n_,
                                                       " ranks: halving_doubling on level ", l, what));
      };
      if (exchanges_) return bad(" cannot run an all_to_all; expected ring or direct");
      if (!std::has_single_bit(static_cast<unsigned>(size_[l])))
        return bad(absl::StrCat(", which has ", size_[l], " members; expected a power of two"));
    }
    return absl::OkStatus();
  }

  void SetChunks() {
    const int chunks = parts_ * n_;
    plan_->chunks = chunks;
    plan_->synchronizing = true;
    if (plan_->type == CollectiveType::kAllGather) {
      plan_->chunk_is_whole = parts_ == 1;
      if (parts_ > 1) plan_->parts = parts_;
    }
    if (!exchanges_) return;
    plan_->parts = chunks;
    plan_->input = plan_->output = {0, chunks};
    for (size_t l = 0; l < size_.size(); ++l) {
      if (options_.algorithm[l] == LevelAlgorithm::kRing)
        plan_->chunks = std::max(plan_->chunks, chunks + (size_[l] - 1) * (n_ / size_[l]) * parts_);
    }
  }

  std::vector<PhaseVisit> Schedule() const {
    std::vector<std::vector<int>> level_of;
    std::vector<std::vector<double>> took;
    for (size_t p = 0; p < phases_.size(); ++p) {
      level_of.emplace_back();
      took.emplace_back();
      for (size_t i = 0; i < phases_[p].size(); ++i) {
        const auto level = static_cast<size_t>(phases_[p][i].level);
        level_of.back().push_back(phases_[p][i].level);
        const size_t at = options_.torus.empty() ? i : p * phases_[p].size() + i;
        took.back().push_back(at < options_.took.size()
                                  ? options_.took[at]
                                  : (size_[level] - 1.0) *
                                        Width(p, PositionOf({static_cast<int>(p), static_cast<int>(i)})) /
                                        bandwidth_[level]);
      }
    }
    if (!options_.torus.empty()) return OnTorus(level_of, took);
    return SchedulePhases(level_of, took, static_cast<int>(size_.size()), options_.at_once,
                          options_.stream_for_phase ? ServeFirst::kFirstCome : ServeFirst::kLowestPart);
  }

  // Each direction of an axis is a level of its own for the schedule.
  std::vector<PhaseVisit> OnTorus(std::vector<std::vector<int>> place_of,
                                  const std::vector<std::vector<double>>& took) const {
    for (size_t p = 0; p < place_of.size(); ++p) {
      for (int& level : place_of[p]) level = TorusPlace(options_.torus[p], level, options_.axes);
    }
    std::vector<PhaseVisit> visits =
        SchedulePhases(place_of, took, 2 * static_cast<int>(size_.size()), 1, ServeFirst::kFirstCome);
    for (PhaseVisit& visit : visits)
      visit.place = place_of[static_cast<size_t>(visit.part)][static_cast<size_t>(visit.phase)] % 2;
    return visits;
  }

  // The position of a phase's level in the order in which its part is scattered.
  int PositionOf(const PhaseVisit& visit) const {
    const auto part = static_cast<size_t>(visit.part);
    const std::vector<int>& order = options_.order[part];
    const int level = phases_[part][static_cast<size_t>(visit.phase)].level;
    return static_cast<int>(std::find(order.begin(), order.end(), level) - order.begin());
  }

  // The index into all_ of the streams in which a phase on `level` runs, one for each member.
  int StreamsFor(size_t level) {
    if (!options_.stream_for_phase) {
      if (all_.empty()) all_ = of_level_;
      return all_.size() == 1 ? 0 : static_cast<int>(level);
    }
    all_.push_back(assembly_.OpenEach(0, n_));
    return static_cast<int>(all_.size()) - 1;
  }
  int SizeOf(int streams) const { return assembly_.size(all_[static_cast<size_t>(streams)][0]); }
  void Await(int streams, int other, int steps) {
    for (int m = 0; m < n_; ++m) {
      const auto at = static_cast<size_t>(m);
      assembly_.Await(all_[static_cast<size_t>(streams)][at], all_[static_cast<size_t>(other)][at], steps);
    }
  }

  int Coordinate(int m, int level) const {
    return m / stride_[static_cast<size_t>(level)] % size_[static_cast<size_t>(level)];
  }
  // The number of chunks in a slice of a part at `position` in the part's order.
  int Width(size_t part, int position) const {
    int width = n_;
    for (int j = 0; j <= position; ++j)
      width /= size_[static_cast<size_t>(options_.order[part][static_cast<size_t>(j)])];
    return width;
  }

  uint8_t Pattern(const ChunkPattern& pattern) {
    const auto at = std::find(plan_->patterns.begin(), plan_->patterns.end(), pattern);
    const auto index = at - plan_->patterns.begin();
    if (at == plan_->patterns.end()) plan_->patterns.push_back(pattern);
    return static_cast<uint8_t>(index + 1);
  }

  // Slices q, q + every, q + 2 every, ... of the part's data that member m has before it is scattered over
  // the level. If the collective prescribes which member has which chunk, a slice has the chunks of all
  // members whose coordinates equal m's below this level, and q on it.
  Slice SlicesFrom(int m, int q, int every) {
    const auto level = static_cast<size_t>(level_);
    const int stride = stride_[level];
    if (by_member_ && !options_.torus.empty()) return SliceOnTorus(m, q);
    if (by_member_) {
      const int step = every * stride * parts_;
      const int count = n_ / (every * stride);
      return {(m % stride + q * stride) * parts_ + part_, count,
              count == 1 || step == 1 ? uint8_t{0} : Pattern({1, 1, step})};
    }
    int first = part_ * n_;
    const auto part = static_cast<size_t>(part_);
    for (int j = 0; j < position_; ++j)
      first += Coordinate(m, options_.order[part][static_cast<size_t>(j)]) * Width(part, j);
    const int width = Width(part, position_);
    const int slices = (size_[level] - q + every - 1) / every;
    return {first + q * width, slices * width, slices == 1 ? uint8_t{0} : Pattern({width, 1, every * width})};
  }

  // The chunks of all members whose coordinates equal m's on the levels that the part was scattered over
  // before, and q on this one. The other levels are at most two ranges of neighbours (RoutesOnTorus()): runs
  // of one follow each other in steps of the other.
  Slice SliceOnTorus(int m, int q) {
    const std::vector<int>& order = options_.order[static_cast<size_t>(part_)];
    std::vector<bool> fixed(size_.size());
    int place = q * stride_[static_cast<size_t>(level_)];
    for (int j = 0; j <= position_; ++j) {
      const int l = order[static_cast<size_t>(j)];
      fixed[static_cast<size_t>(l)] = true;
      if (l != level_) place += Coordinate(m, l) * stride_[static_cast<size_t>(l)];
    }
    int count[2] = {1, 1}, step[2] = {parts_, parts_}, range = 0, end = 0;
    for (size_t l = 0; l < size_.size(); ++l) {
      if (fixed[l] || size_[l] == 1) continue;
      if (count[0] > 1 && stride_[l] != end) range = 1;
      if (count[range] == 1) step[range] = stride_[l] * parts_;
      count[range] *= size_[l];
      end = stride_[l] * size_[l];
    }
    const int chunks = count[0] * count[1];
    uint8_t pattern = 0;
    if (count[1] > 1) {
      pattern = Pattern({count[0], step[0], step[1]});
    } else if (chunks > 1 && step[0] > 1) {
      pattern = Pattern({1, 1, step[0]});
    }
    return {place * parts_ + part_, chunks, pattern};
  }

  // All chunks whose place has the digit q on this level: the data that goes to, or came from, coordinate q.
  Slice Exchanged(int q) {
    const auto level = static_cast<size_t>(level_);
    const int stride = stride_[level], count = n_ / size_[level];
    const bool whole = count == stride && parts_ == 1;
    return {q * stride * parts_ + part_, count,
            whole ? uint8_t{0} : Pattern({stride, parts_, stride * size_[level] * parts_})};
  }
  // The scratch chunks of data that passes through a member, by its distance at the start.
  Slice Passing(int distance) {
    const int count = n_ / size_[static_cast<size_t>(level_)];
    return {(n_ + (distance - 1) * count) * parts_ + part_, count,
            parts_ == 1 ? uint8_t{0} : Pattern({count, parts_, count * parts_})};
  }

  void Emit(int part, const LevelPhase& phase, int streams) {
    part_ = part;
    way_ = !options_.torus.empty() && options_.torus[static_cast<size_t>(part)].backwards ? -1 : 1;
    level_ = phase.level;
    streams_ = &all_[static_cast<size_t>(streams)];
    const LevelAlgorithm algorithm = options_.algorithm[static_cast<size_t>(level_)];
    for (int m = 0; m < n_; ++m) {
      me_ = m;
      if (phase.kind == PhaseKind::kExchange) {
        algorithm == LevelAlgorithm::kRing ? PassOn() : ExchangeDirect();
        continue;
      }
      if (phase.kind != PhaseKind::kGather) Scatter(algorithm);
      if (phase.kind != PhaseKind::kScatter) Gather(algorithm);
    }
  }

  // The coordinate on the level's ring, from any number.
  int Around(int coordinate) const {
    const int k = size_[static_cast<size_t>(level_)];
    return ((coordinate % k) + k) % k;
  }
  int At(int coordinate) const {
    return me_ + (Around(coordinate) - Coordinate(me_, level_)) * stride_[static_cast<size_t>(level_)];
  }
  void Send(int to, const Slice& s) {
    const StepOp op = options_.stream_for_phase ? StepOp::kSend : StepOp::kSendWait;
    assembly_.Send(op, (*streams_)[static_cast<size_t>(me_)], (*streams_)[static_cast<size_t>(to)], s.chunk,
                   s.count, s.pattern);
  }
  void Receive(StepOp op, int from, const Slice& s) {
    assembly_.Receive(op, (*streams_)[static_cast<size_t>(from)], (*streams_)[static_cast<size_t>(me_)],
                      s.chunk, s.count, s.pattern);
  }

  void Scatter(LevelAlgorithm algorithm) {
    const int k = size_[static_cast<size_t>(level_)], c = Coordinate(me_, level_);
    switch (algorithm) {
      case LevelAlgorithm::kRing:
        for (int s = 0; s < k - 1; ++s) {
          Send(At(c + way_), SlicesFrom(me_, Around(c - way_ * (1 + s)), k));
          Receive(StepOp::kRecvReduce, At(c - way_), SlicesFrom(me_, Around(c - way_ * (2 + s)), k));
        }
        break;
      case LevelAlgorithm::kDirect:
        for (int d = 1; d < k; ++d) Send(At(c + d), SlicesFrom(me_, (c + d) % k, k));
        for (int d = 1; d < k; ++d) {
          Receive(d < k - 1 ? StepOp::kRecvReduceBeside : StepOp::kRecvReduce, At(c - d),
                  SlicesFrom(me_, c, k));
        }
        break;
      case LevelAlgorithm::kHalvingDoubling:
        for (int d = 1; d < k; d *= 2) {
          const int peer = c ^ d;
          Send(At(peer), SlicesFrom(me_, peer % (2 * d), 2 * d));
          Receive(2 * d < k ? StepOp::kRecvReduceHalf : StepOp::kRecvReduceBeside, At(peer),
                  SlicesFrom(me_, c % (2 * d), 2 * d));
        }
        break;
    }
  }

  void Gather(LevelAlgorithm algorithm) {
    const int k = size_[static_cast<size_t>(level_)], c = Coordinate(me_, level_);
    switch (algorithm) {
      case LevelAlgorithm::kRing:
        for (int s = 0; s < k - 1; ++s) {
          Send(At(c + way_), SlicesFrom(me_, Around(c - way_ * s), k));
          Receive(StepOp::kRecv, At(c - way_), SlicesFrom(me_, Around(c - way_ * (1 + s)), k));
        }
        break;
      case LevelAlgorithm::kDirect:
        for (int d = 1; d < k; ++d) Send(At(c + d), SlicesFrom(me_, c, k));
        for (int d = 1; d < k; ++d) Receive(StepOp::kRecv, At(c - d), SlicesFrom(me_, (c - d + k) % k, k));
        break;
      case LevelAlgorithm::kHalvingDoubling:
        for (int d = k / 2; d >= 1; d /= 2) {
          const int peer = c ^ d;
          Send(At(peer), SlicesFrom(me_, c % (2 * d), 2 * d));
          Receive(StepOp::kRecv, At(peer), SlicesFrom(me_, peer % (2 * d), 2 * d));
        }
        break;
    }
  }

  void ExchangeDirect() {
    const int k = size_[static_cast<size_t>(level_)], c = Coordinate(me_, level_);
    for (int d = 1; d < k; ++d) Send(At(c + d), Exchanged((c + d) % k));
    for (int d = 1; d < k; ++d) Receive(StepOp::kRecv, At(c - d), Exchanged((c - d + k) % k));
  }

  // Data whose distance is d passes from neighbour to neighbour, d times. The farthest data goes first, so
  // that all of a member's own data has left before the first data for the member arrives.
  void PassOn() {
    const int k = size_[static_cast<size_t>(level_)], c = Coordinate(me_, level_);
    for (int hop = 1; hop < k; ++hop) {
      for (int d = k - 1; d >= hop; --d) {
        Send(At(c + way_), hop == 1 ? Exchanged(Around(c + way_ * d)) : Passing(d));
        Receive(StepOp::kRecv, At(c - way_), d == hop ? Exchanged(Around(c - way_ * d)) : Passing(d));
      }
    }
  }

  const std::vector<int> size_;  // by level, like stride_ and bandwidth_
  std::vector<int> stride_;      // distance between member numbers
  LevelOptions options_;
  std::vector<double> bandwidth_;
  Plan* plan_;
  int n_;
  int parts_;
  bool exchanges_ = false;
  bool by_member_ = false;                       // the collective prescribes which member holds which chunk
  std::vector<std::vector<LevelPhase>> phases_;  // by part
  Assembly assembly_;
  std::vector<std::vector<int>> of_level_;
  std::vector<std::vector<int>> all_;  // streams by member
  // State of the phase that is being emitted.
  int part_ = 0, level_ = 0, position_ = 0, me_ = 0, way_ = 1;
  const std::vector<int>* streams_ = nullptr;
};

// The number of steps of all members.
int64_t StepsOf(const PlanRequest& request, const LevelOptions& options) {
  const int64_t n = request.members;
  int64_t each = 0;
  for (size_t l = 0; l < request.blocks.size(); ++l) {
    const int64_t k = request.blocks[l];
    const bool ring = options.algorithm.empty() || options.algorithm[l] == LevelAlgorithm::kRing;
    each += request.type == CollectiveType::kAllToAll && ring ? k * (k - 1) : 4 * (k - 1);
  }
  return n * each * static_cast<int64_t>(std::max(options.order.size(), options.torus.size()));
}

}  // namespace

absl::Status BuildLevels(const PlanRequest& request, const LevelOptions& options, Plan* plan) {
  RETURN_IF_ERROR(CheckSteps(request, StepsOf(request, options)));
  return LevelPlan(request, options, plan).Build();
}

}  // namespace chakra
