#include "replay/plan/pipeline.h"

#include <algorithm>

#include "trace/generate/pieces.h"

namespace chakra::planning {
namespace {

using generate::Pass;
using generate::Schedule;
using generate::Split;

}  // namespace

// All passes, each after the passes that it waits for.
const std::vector<Pipelines::Step>& Pipelines::OrderOf(const Split& split, int64_t micro_batches) {
  std::unique_ptr<std::vector<Step>>& slot =
      orders_[{split.pp, split.vpp, micro_batches, static_cast<int>(split.schedule), split.overlap_expert}];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<std::vector<Step>>();
  const int64_t pp = split.pp, pieces = split.model_pieces();
  std::vector<std::vector<Pass>> passes;
  for (int64_t s = 0; s < pp; ++s) passes.push_back(generate::PassesOf(split, micro_batches, s));
  std::vector<int32_t> index(static_cast<size_t>(2 * pieces * micro_batches), -1);
  const auto at = [&](bool forward, int64_t piece, int64_t micro_batch) -> int32_t& {
    return index[static_cast<size_t>(((forward ? 0 : pieces) + piece) * micro_batches + micro_batch)];
  };
  // Finds the step that a pass waits for; -1: none. False: that step is not in the list yet.
  const auto find = [&](int64_t stage, const Pass& pass, int32_t* needs) {
    const int64_t piece = PieceOf(split, stage, pass.piece);
    *needs = -1;
    if (pass.part == Pass::kWeights || (pass.forward && piece == 0))
      return true;  // follows only the passes of its own stage
    *needs = pass.forward         ? at(true, piece - 1, pass.micro_batch)
             : piece + 1 < pieces ? at(false, piece + 1, pass.micro_batch)
                                  : at(true, piece, pass.micro_batch);
    return *needs >= 0;
  };
  const auto add = [&](int64_t stage, const Pass& pass, int32_t needs) {
    const int64_t piece = PieceOf(split, stage, pass.piece);
    const bool last = pass.micro_batch + 1 == micro_batches ||
                      (split.mirrored() && pass.micro_batch + 1 == micro_batches / 2);
    if (pass.part != Pass::kWeights)
      at(pass.forward, piece, pass.micro_batch) = static_cast<int32_t>(slot->size());
    slot->push_back({static_cast<int32_t>(stage), static_cast<int32_t>(piece), needs, pass.forward,
                     pass.merged, last, pass.part});
  };
  std::vector<size_t> next(static_cast<size_t>(pp), 0);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int64_t s = 0; s < pp; ++s) {
      const std::vector<Pass>& own = passes[static_cast<size_t>(s)];
      size_t& n = next[static_cast<size_t>(s)];
      while (n < own.size()) {
        int32_t needs = -1, other_needs = -1;
        if (!find(s, own[n], &needs) || (own[n].merged && !find(s, own[n + 1], &other_needs))) break;
        add(s, own[n], needs);
        if (own[n].merged) add(s, own[n + 1], other_needs);
        n += own[n].merged ? 2 : 1;
        moved = true;
      }
    }
  }
  return *slot;
}

double Pipelines::ReadyAt(const std::vector<Step>& order, const Step& step, const PassTimes& times) const {
  if (step.needs < 0) return 0;
  const auto stage = static_cast<size_t>(step.stage);
  const auto from = static_cast<size_t>(order[static_cast<size_t>(step.needs)].stage);
  // The boundary below the stage for forward, above it for backward. If a stage has several pieces, the last
  // stage sends to the first.
  double message = 0;
  if (from + 1 == stage || stage + 1 == from) {
    message = times.between[std::min(from, stage)];
  } else if (from != stage) {
    for (const double b : times.between) message = std::max(message, b);
  }
  return ready_[static_cast<size_t>(step.needs)] + message;
}

double Pipelines::Takes(const Step& step, const PassTimes& times) {
  const auto piece = static_cast<size_t>(step.piece);
  if (step.forward) return times.forward[piece];
  if (step.part == Pass::kWeights) return times.weights[piece];
  return times.backward[piece] - (step.part == Pass::kInputs ? times.weights[piece] : 0);
}

PipelineTimes Pipelines::RunAll(const Split& split, int64_t micro_batches, const PassTimes& times) {
  const std::vector<Step>& order = OrderOf(split, micro_batches);
  const auto pp = static_cast<size_t>(split.pp), pieces = static_cast<size_t>(split.model_pieces());
  PipelineTimes out;
  out.first_forward.assign(pp, -1);
  out.last_backward.assign(pieces, 0);
  out.busy.assign(pp, 0);
  ready_.resize(order.size());
  free_.assign(pp, 0);
  const auto computes = [&](const Step& step) {
    const auto piece = static_cast<size_t>(step.piece);
    return step.forward ? times.forward_compute[piece] : times.backward_compute[piece];
  };
  for (size_t i = 0; i < order.size();) {
    const size_t behind = i + (order[i].merged ? 2 : 1);
    const auto stage = static_cast<size_t>(order[i].stage);
    double begin = free_[stage], takes = 0, computed = 0, exchanged = 0;
    for (size_t k = i; k < behind; ++k) {
      begin = std::max(begin, ReadyAt(order, order[k], times));
      takes = std::max(takes, Takes(order[k], times));
      if (!order[i].merged) continue;
      computed += computes(order[k]);
      exchanged += std::max(0.0, Takes(order[k], times) - computes(order[k]));
    }
    // During exchanges, computations take 1 + slowdown times as long.
    const double hidden = times.hidden * exchanged;
    const double slow = 1 + times.slowdown, beside = std::min(hidden, computed * slow);
    takes = std::max(takes, exchanged - hidden + computed + beside * times.slowdown / slow);
    const double end = begin + takes;
    if (out.first_forward[stage] < 0) out.first_forward[stage] = begin;
    for (size_t k = i; k < behind; ++k) {
      const Step& step = order[k];
      const auto piece = static_cast<size_t>(step.piece);
      if (!step.forward && step.last && step.part != Pass::kInputs)
        out.last_backward[piece] = std::max(out.last_backward[piece], begin);
      const bool early = !step.forward && step.part == Pass::kWhole && behind == i + 1;
      ready_[k] = early ? end - times.tail[piece] : end;
    }
    out.busy[stage] += takes;
    free_[stage] = end;
    i = behind;
  }
  out.stage_end = free_;
  out.end = *std::max_element(free_.begin(), free_.end());
  return out;
}

PipelineTimes Pipelines::Run(const Split& split, int64_t micro_batches, const PassTimes& times) {
  // The period of the pipeline in micro-batches: 4 if it runs in two directions, pp if a stage has several
  // pieces, else 2, since two stages take turns in sending messages.
  const bool two_ways = split.schedule == Schedule::kDualPipe || split.schedule == Schedule::kDualPipeV;
  const int64_t unit = two_ways ? 4 : split.vpp > 1 ? split.pp : 2;
  const int64_t enough = two_ways ? 4 * split.pp + 8 : split.vpp > 1 ? 3 * split.pp : 2 * split.pp + 4;
  int64_t fewer = enough + (micro_batches - enough) % unit;
  if (micro_batches <= enough + unit) return RunAll(split, micro_batches, times);
  const PipelineTimes before = RunAll(split, fewer - unit, times);
  PipelineTimes out = RunAll(split, fewer, times);
  const double periods = static_cast<double>((micro_batches - fewer) / unit);
  const auto add = [&](const std::vector<double>& less, std::vector<double>* to) {
    for (size_t i = 0; i < to->size(); ++i) (*to)[i] += periods * ((*to)[i] - less[i]);
  };
  out.end += periods * (out.end - before.end);
  add(before.stage_end, &out.stage_end);
  add(before.last_backward, &out.last_backward);
  add(before.busy, &out.busy);
  return out;
}

}  // namespace chakra::planning
