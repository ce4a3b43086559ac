#include "replay/plan/sharing.h"

#include <algorithm>
#include <utility>

#include "trace/base/status_macros.h"
#include "trace/generate/layout.h"
#include "trace/generate/pieces.h"
#include "trace/generate/reduce.h"

namespace chakra::planning {
namespace {

using generate::GroupKind;
using generate::ShareOf;
using generate::Split;
using generate::StepPlan;

constexpr size_t kMostKnown = 24;
constexpr int64_t kUntilSteady = 8;  // micro-batches until each adds the same time

}  // namespace

SharedTimes::SharedTimes(const StepPlan& step, const Units& units, Prices* prices)
    : step_(step), units_(units), prices_(prices) {
  dense_ = prices->GroupsOf(GroupKind::kData, step.split);
  if (step.model.experts > 0) expert_ = prices->GroupsOf(GroupKind::kExpertData, step.split);
  if (step.split.copies == 1) return;
  dense_copies_ = prices->GroupsOf(GroupKind::kCopies, step.split);
  if (step.model.experts > 0) expert_copies_ = prices->GroupsOf(GroupKind::kExpertCopies, step.split);
}

std::vector<const UnitTimes*> SharedTimes::UnitsOfPiece(int64_t piece) const {
  const generate::Piece& of = step_.pieces[static_cast<size_t>(piece)];
  std::vector<const UnitTimes*> out;
  out.reserve(static_cast<size_t>(of.layers) + 2);
  if (of.embedding) out.push_back(&units_.embedding);
  for (int64_t i = of.first; i < of.first + of.layers; ++i) {
    const bool further = i >= step_.model.layers;
    out.push_back(further ? &units_.further : &units_.LayerOf(KindOfLayer(step_, i)));
  }
  if (of.head) out.push_back(&units_.head);
  return out;
}

absl::StatusOr<double> SharedTimes::Bucket(bool expert, CollectiveType type, int64_t bytes) {
  const int groups = expert ? expert_ : dense_;
  if (groups < 0 || bytes == 0) return 0;
  for (const Known& k : known_) {
    if (k.bytes == bytes && k.groups == groups && k.type == type) return k.time;
  }
  const auto time = prices_->AboutCollective(type, bytes, groups);
  if (time.ok() && known_.size() < kMostKnown) known_.push_back({bytes, groups, type, *time});
  return time;
}

absl::StatusOr<double> SharedTimes::Gather(const UnitTimes& unit) {
  double sum = 0;
  for (const bool expert : {false, true}) {
    const int64_t elements = expert ? unit.expert : unit.dense;
    ASSIGN_OR_RETURN(const auto time,
                     Bucket(expert, CollectiveType::kAllGather,
                            ShareOf(elements, step_.split.sharers(expert)) * step_.element_bytes()));
    sum += time;
  }
  return sum;
}

absl::StatusOr<double> SharedTimes::OverCopies(bool expert, int64_t elements) {
  if (step_.split.copies == 1 || elements == 0) return 0;
  const int64_t own = ShareOf(elements, step_.split.sharers(expert));
  return prices_->AboutCollective(CollectiveType::kAllReduce, own * step_.reduced_bytes(),
                                  expert ? expert_copies_ : dense_copies_);
}

absl::StatusOr<double> SharedTimes::Reduce(const UnitTimes& unit) {
  double sum = 0;
  for (const bool expert : {false, true}) {
    const int64_t elements = expert ? unit.expert : unit.dense;
    ASSIGN_OR_RETURN(const auto time,
                     Bucket(expert, CollectiveType::kReduceScatter, elements * step_.reduced_bytes()));
    ASSIGN_OR_RETURN(const auto copies, OverCopies(expert, elements));
    sum += std::max(time, copies);  // on streams of their own
  }
  return sum;
}

absl::StatusOr<SharedTimes::Copies> SharedTimes::CopiesOf(const UnitTimes& unit) {
  Copies out;
  for (const bool expert : {false, true}) {
    const int64_t elements = expert ? unit.expert : unit.dense;
    if (elements == 0 || (expert ? expert_ : dense_) < 0) continue;
    generate::Operator gathered, reduced;
    gathered.name = "split_with_sizes_copy";
    gathered.bytes = 2 * elements * step_.element_bytes();
    reduced.name = "chunk_cat";
    reduced.bytes = elements * (generate::CopiedFrom(step_) + step_.reduced_bytes());
    const int64_t own = generate::ShareOf(elements, step_.split.sharers(expert));
    if (step_.reduced_bytes() < step_.gradient_bytes()) reduced.bytes += generate::CastBytes(step_, own);
    ASSIGN_OR_RETURN(const auto times, prices_->OfOperators({gathered, reduced}));
    out.gathered += times[0];
    out.reduced += times[1];
  }
  return out;
}

absl::StatusOr<double> SharedTimes::ReducedInBuckets(int64_t stage, const PipelineTimes& pipeline,
                                                     double earlier, double reduced) {
  const Split& s = step_.split;
  const generate::Sharing buckets(step_, nullptr);
  const int64_t full[2] = {buckets.BucketElements(false), buckets.BucketElements(true)};
  const CollectiveType type =
      step_.reduces_to_all() ? CollectiveType::kAllReduce : CollectiveType::kReduceScatter;
  const bool whole = s.zero < 2 && !s.overlap_grad;
  int64_t open[2] = {0, 0};
  absl::Status failed;
  const auto close = [&](int expert, double at) {
    const auto time = Bucket(expert == 1, type, open[expert] * step_.reduced_bytes());
    const auto copies = OverCopies(expert == 1, open[expert]);
    open[expert] = 0;
    if (!time.ok()) return failed.Update(time.status());
    if (!copies.ok()) return failed.Update(copies.status());
    if (*time + *copies > 0) reduced = std::max(reduced, at) + *time + *copies;
  };
  double at = 0;
  for (int64_t v = s.stage_pieces() - 1; v >= 0; --v) {
    const int64_t piece = generate::PieceOf(s, stage, v);
    at = pipeline.last_backward[static_cast<size_t>(piece)] - earlier;
    const std::vector<const UnitTimes*> all = UnitsOfPiece(piece);
    for (auto unit = all.rbegin(); unit != all.rend(); ++unit) {
      for (const GradientAt& g : (*unit)->gradients) {
        const int expert = g.expert ? 1 : 0;
        open[expert] += g.elements;
        if (!whole && open[expert] >= full[expert]) close(expert, at + g.at);
      }
      at += (*unit)->backward;
      if (s.zero == 3) {
        close(0, at);
        close(1, at);
      }
    }
    if (!all.empty()) at += all.front()->tail;
    for (const int expert : {0, 1}) {
      if (!whole) close(expert, at);
    }
  }
  for (const int expert : {0, 1}) close(expert, at);
  if (!failed.ok()) return failed;
  return reduced;
}

absl::StatusOr<double> SharedTimes::Reduced(int64_t stage, const PipelineTimes& pipeline) {
  const Split& s = step_.split;
  const double end = pipeline.stage_end[static_cast<size_t>(stage)];
  if (!any()) return end;
  double last = end;
  if (s.zero < 3 || step_.accumulates_whole()) {
    // With zero 2, reductions of earlier micro-batches may still run before those of the last one.
    const bool once = s.zero < 2 || step_.accumulates_whole();
    const int64_t batches = once ? 1 : std::min(step_.micro_batches(), kUntilSteady);
    const double each =
        pipeline.busy[static_cast<size_t>(stage)] / static_cast<double>(step_.micro_batches());
    double reduced = 0;
    for (int64_t left = batches - 1; left >= 0; --left) {
      ASSIGN_OR_RETURN(reduced, ReducedInBuckets(stage, pipeline, static_cast<double>(left) * each, reduced));
    }
    last = std::max(last, reduced);
    if (once) return last;
  }
  // Each micro-batch is reduced, so the stream of reductions may be busy for longer than the passes.
  double each = 0, least = 0;
  for (int64_t v = 0; v < s.stage_pieces(); ++v) {
    for (const UnitTimes* unit : UnitsOfPiece(generate::PieceOf(s, stage, v))) {
      ASSIGN_OR_RETURN(const auto time, Reduce(*unit));
      each += time;
      if (v == 0 && least == 0) least = time;
    }
  }
  if (s.zero == 3) last += least;
  return std::max(last, pipeline.first_forward[static_cast<size_t>(stage)] +
                            each * static_cast<double>(PassesOfPiece(step_)));
}

absl::StatusOr<double> SharedTimes::WholeStep(const LeastPasses& least) {
  const std::vector<const UnitTimes*> units = UnitsOfPiece(0);
  std::vector<double> gathers, reduces, made;  // by unit; `made`: time of its last gradient
  std::vector<Copies> copies;
  double host = 0;  // time of the host for a micro-batch
  for (const UnitTimes* unit : units) {
    const auto gather = Gather(*unit), reduce = Reduce(*unit);
    if (!gather.ok()) return gather;
    if (!reduce.ok()) return reduce;
    ASSIGN_OR_RETURN(const auto copy, CopiesOf(*unit));
    copies.push_back(copy);
    // Two gatherings of a layer, one of the embedding, the head or a layer that is not resharded, and a
    // reduction, each with its copy.
    const bool ends = unit == &units_.embedding || unit == &units_.head || !step_.reshards();
    const int64_t groups = (dense_ >= 0 ? 1 : 0) + (expert_ >= 0 && unit->expert > 0 ? 1 : 0);
    const int64_t calls = groups * (ends ? 2 : 3);
    host += unit->forward_host + unit->backward_host +
            1e3 * static_cast<double>(calls * (step_.training.host.call_ns + step_.training.host.launch_ns));
    gathers.push_back(*gather);
    reduces.push_back(*reduce);
    made.push_back(0);
    for (const GradientAt& g : unit->gradients) made.back() = std::max(made.back(), g.at);
  }
  // `done`, `last`, `before_last`: ends of the units that ran last. `gathered`, `reduced`: when the streams
  // are free.
  double done = 0, last = 0, before_last = 0, gathered = 0, reduced = 0;
  const auto run = [&](size_t unit, double takes, bool gather) {
    double begin = done;
    if (gather) {
      gathered = std::max(gathered, before_last) + gathers[unit];
      begin = std::max(begin, gathered) + copies[unit].gathered;
    }
    done = begin + takes;
    return begin;
  };
  const auto used = [&] { before_last = std::exchange(last, done); };
  std::pair<double, double> before;
  const int64_t all = step_.micro_batches(), few = std::min(all, kUntilSteady);
  for (int64_t m = 0; m < few; ++m) {
    before = {done, reduced};
    const double forward = done;
    for (size_t u = 0; u < units.size(); ++u) {
      run(u, units[u]->forward, true);
      used();
    }
    done = std::max(done, forward + least.forward);
    const double backward = done;
    for (size_t u = units.size(); u-- > 0;) {
      const bool layer = u > 0 && u + 1 < units.size() && step_.reshards();
      const double begin = run(u, units[u]->backward, layer);
      done += copies[u].reduced;
      reduced = std::max(reduced, begin + made[u] + copies[u].reduced) + reduces[u];
      if (u > 0) used();
    }
    done = std::max(done, backward + least.backward);
  }
  const auto more = static_cast<double>(all - few);
  const double host_end =
      (host + 1e3 * static_cast<double>(step_.training.host.batch_ns)) * static_cast<double>(all);
  return std::max(host_end,
                  std::max(done + more * (done - before.first), reduced + more * (reduced - before.second)));
}

absl::StatusOr<double> SharedTimes::GatherAll(int64_t stage, std::vector<double>* ready) {
  std::vector<const UnitTimes*> units;
  size_t first_piece = 0;
  for (int64_t v = 0; v < step_.split.stage_pieces(); ++v) {
    const std::vector<const UnitTimes*> piece = UnitsOfPiece(generate::PieceOf(step_.split, stage, v));
    units.insert(units.end(), piece.begin(), piece.end());
    if (v == 0) first_piece = units.size();
  }
  const generate::Sharing buckets(step_, nullptr);
  double at = 0;
  if (ready != nullptr) ready->assign(first_piece, 0);
  for (const bool expert : {false, true}) {
    if ((expert ? expert_ : dense_) < 0) continue;
    const int64_t full = buckets.FullBucket(expert);
    int64_t elements = 0;
    size_t first = 0;
    for (size_t i = 0; i < units.size(); ++i) {
      elements += expert ? units[i]->expert : units[i]->dense;
      if (elements == 0 || (elements < full && i + 1 < units.size())) continue;
      ASSIGN_OR_RETURN(const auto time,
                       Bucket(expert, CollectiveType::kAllGather,
                              ShareOf(elements, step_.split.sharers(expert)) * step_.element_bytes()));
      at += time;
      for (size_t u = first; ready != nullptr && u <= std::min(i, first_piece - 1); ++u) (*ready)[u] = at;
      elements = 0;
      first = i + 1;
    }
  }
  return at;
}

SharedTimes::Weights SharedTimes::WeightsOf(int64_t stage) const {
  const Split& s = step_.split;
  Weights out;
  for (int64_t v = 0; v < s.stage_pieces(); ++v) {
    for (const UnitTimes* unit : UnitsOfPiece(generate::PieceOf(s, stage, v))) {
      out.dense += unit->dense;
      out.expert += unit->expert;
      out.replicated += unit->replicated;
    }
  }
  out.own = s.zero == 0 ? out.dense + out.expert
                        : ShareOf(out.dense, s.sharers(false)) + ShareOf(out.expert, s.sharers(true));
  return out;
}

}  // namespace chakra::planning
