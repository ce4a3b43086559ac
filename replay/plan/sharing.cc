#include "replay/plan/sharing.h"

#include <algorithm>
#include <numeric>

#include "trace/generate/layout.h"
#include "trace/generate/reduce.h"

namespace chakra::planning {
namespace {

using generate::GroupKind;
using generate::ShareOf;
using generate::Split;
using generate::StepPlan;

constexpr size_t kMostKnown = 24;

}  // namespace

SharedTimes::SharedTimes(const StepPlan& step, const Units& units, Prices* prices)
    : step_(step), units_(units), prices_(prices) {
  dense_ = prices->GroupsOf(GroupKind::kData, step.split);
  if (step.model.experts > 0) expert_ = prices->GroupsOf(GroupKind::kExpertData, step.split);
}

std::vector<const UnitTimes*> SharedTimes::UnitsOfPiece(int64_t piece) const {
  const int64_t pieces = step_.split.pp * step_.split.vpp, layers = step_.model.layers / pieces;
  std::vector<const UnitTimes*> out;
  out.reserve(static_cast<size_t>(layers) + 2);
  if (piece == 0) out.push_back(&units_.embedding);
  for (int64_t i = piece * layers; i < (piece + 1) * layers; ++i)
    out.push_back(&units_.layer[step_.model.has_experts(i) ? 1 : 0]);
  if (piece + 1 == pieces) out.push_back(&units_.head);
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
    const auto time = Bucket(expert, CollectiveType::kAllGather,
                             ShareOf(elements, step_.split.holders(expert)) * step_.element_bytes());
    if (!time.ok()) return time;
    sum += *time;
  }
  return sum;
}

absl::StatusOr<double> SharedTimes::Reduce(const UnitTimes& unit) {
  double sum = 0;
  for (const bool expert : {false, true}) {
    const int64_t elements = expert ? unit.expert : unit.dense;
    const auto time = Bucket(expert, CollectiveType::kReduceScatter, elements * step_.gradient_bytes());
    if (!time.ok()) return time;
    sum += *time;
  }
  return sum;
}

absl::StatusOr<double> SharedTimes::ReducedInBuckets(int64_t stage, const PipelineTimes& pipeline) {
  const Split& s = step_.split;
  const generate::Sharing buckets(step_, nullptr);
  const int64_t full[2] = {buckets.BucketElements(false), buckets.BucketElements(true)};
  const CollectiveType type = s.zero == 0 ? CollectiveType::kAllReduce : CollectiveType::kReduceScatter;
  const bool whole = s.zero < 2 && !s.overlap_grad;
  int64_t open[2] = {0, 0};
  double reduced = 0;  // when the stream of reductions is free
  absl::Status failed;
  const auto close = [&](int expert, double at) {
    const auto time = Bucket(expert == 1, type, open[expert] * step_.gradient_bytes());
    open[expert] = 0;
    if (!time.ok()) return failed.Update(time.status());
    if (*time > 0) reduced = std::max(reduced, at) + *time;
  };
  double at = 0;
  for (int64_t v = s.vpp - 1; v >= 0; --v) {
    const int64_t piece = v * s.pp + stage;
    at = pipeline.last_backward[static_cast<size_t>(piece)];
    const std::vector<const UnitTimes*> all = UnitsOfPiece(piece);
    for (auto unit = all.rbegin(); unit != all.rend(); ++unit) {
      for (const GradientAt& g : (*unit)->gradients) {
        const int expert = g.expert ? 1 : 0;
        open[expert] += g.elements;
        if (!whole && open[expert] >= full[expert]) close(expert, at + g.at);
      }
      at += (*unit)->backward;
    }
    at += all.front()->tail;
    for (const int expert : {0, 1}) {
      if (!whole) close(expert, at);
    }
  }
  for (const int expert : {0, 1}) close(expert, at);
  if (!failed.ok()) return failed;
  return std::max(reduced, pipeline.stage_end[static_cast<size_t>(stage)]);
}

absl::StatusOr<double> SharedTimes::Reduced(int64_t stage, const PipelineTimes& pipeline) {
  const Split& s = step_.split;
  const double end = pipeline.stage_end[static_cast<size_t>(stage)];
  if (!any()) return end;
  double last = end;
  if (s.zero < 3) {
    const auto reduced = ReducedInBuckets(stage, pipeline);
    if (!reduced.ok() || s.zero < 2) return reduced;
    last = *reduced;
  }
  // Each micro-batch is reduced: the stream may be busy for longer than the passes.
  double each = 0, least = 0;
  for (int64_t v = 0; v < s.vpp; ++v) {
    for (const UnitTimes* unit : UnitsOfPiece(v * s.pp + stage)) {
      const auto time = Reduce(*unit);
      if (!time.ok()) return time;
      each += *time;
      if (v == 0 && unit == UnitsOfPiece(stage).front()) least = *time;
    }
  }
  if (s.zero == 3) last += least;
  return std::max(last, pipeline.first_forward[static_cast<size_t>(stage)] +
                            each * static_cast<double>(step_.micro_batches()));
}

absl::StatusOr<double> SharedTimes::GatherAll(int64_t stage, std::vector<double>* ready) {
  std::vector<const UnitTimes*> units;
  size_t first_piece = 0;
  for (int64_t v = 0; v < step_.split.vpp; ++v) {
    const std::vector<const UnitTimes*> piece = UnitsOfPiece(v * step_.split.pp + stage);
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
      const auto time = Bucket(expert, CollectiveType::kAllGather,
                               ShareOf(elements, step_.split.holders(expert)) * step_.element_bytes());
      if (!time.ok()) return time;
      at += *time;
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
  for (int64_t v = 0; v < s.vpp; ++v) {
    for (const UnitTimes* unit : UnitsOfPiece(v * s.pp + stage)) {
      out.dense += unit->dense;
      out.expert += unit->expert;
      out.replicated += unit->replicated;
    }
  }
  out.own = s.zero == 0 ? out.dense + out.expert
                        : ShareOf(out.dense, s.holders(false)) + ShareOf(out.expert, s.holders(true));
  return out;
}

}  // namespace chakra::planning
