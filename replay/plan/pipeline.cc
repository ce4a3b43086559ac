#include "replay/plan/pipeline.h"

#include <algorithm>

namespace chakra::planning {
namespace {

using generate::Pass;
using generate::Schedule;
using generate::Split;

}  // namespace

// All passes, each behind those that it waits for.
const std::vector<Pipelines::Step>& Pipelines::OrderOf(const Split& split, int64_t micro_batches) {
  std::unique_ptr<std::vector<Step>>& slot =
      orders_[{split.pp, split.vpp, micro_batches, static_cast<int>(split.schedule)}];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<std::vector<Step>>();
  const int64_t pp = split.pp, pieces = pp * split.vpp;
  std::vector<std::vector<Pass>> passes;
  for (int64_t s = 0; s < pp; ++s) passes.push_back(generate::PassesOf(split, micro_batches, s));
  std::vector<int32_t> index(static_cast<size_t>(2 * pieces * micro_batches), -1);
  const auto at = [&](bool forward, int64_t piece, int64_t micro_batch) -> int32_t& {
    return index[static_cast<size_t>(((forward ? 0 : pieces) + piece) * micro_batches + micro_batch)];
  };
  std::vector<size_t> next(static_cast<size_t>(pp), 0);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int64_t s = 0; s < pp; ++s) {
      size_t& n = next[static_cast<size_t>(s)];
      for (; n < passes[static_cast<size_t>(s)].size(); ++n) {
        const Pass& pass = passes[static_cast<size_t>(s)][n];
        const int64_t piece = pass.piece * pp + s;
        int32_t needs = -1;
        if (pass.forward && piece > 0) needs = at(true, piece - 1, pass.micro_batch);
        if (!pass.forward) {
          needs =
              piece + 1 < pieces ? at(false, piece + 1, pass.micro_batch) : at(true, piece, pass.micro_batch);
        }
        const bool put_off = pass.part == Pass::kWeights;  // behind its stage's passes alone
        if (put_off) needs = -1;
        if (needs < 0 && !put_off && !(pass.forward && piece == 0)) break;
        if (!put_off) at(pass.forward, piece, pass.micro_batch) = static_cast<int32_t>(slot->size());
        slot->push_back({static_cast<int32_t>(s), static_cast<int32_t>(piece), needs,
                         static_cast<int32_t>(pass.micro_batch), pass.forward, pass.part});
        moved = true;
      }
    }
  }
  return *slot;
}

PipelineTimes Pipelines::RunAll(const Split& split, int64_t micro_batches, const PassTimes& times) {
  const std::vector<Step>& order = OrderOf(split, micro_batches);
  const auto pp = static_cast<size_t>(split.pp), pieces = static_cast<size_t>(split.pp * split.vpp);
  PipelineTimes out;
  out.first_forward.assign(pp, -1);
  out.last_backward.assign(pieces, 0);
  out.busy.assign(pp, 0);
  ready_.resize(order.size());
  free_.assign(pp, 0);
  // Of the message that a pass waits for: the boundary below it forward, above it backward. The last stage
  // sends to the first one where a stage has several pieces.
  double around = 0;
  for (const double b : times.between) around = std::max(around, b);
  const auto last = static_cast<int32_t>(micro_batches - 1);
  for (size_t i = 0; i < order.size(); ++i) {
    const Step& step = order[i];
    const auto stage = static_cast<size_t>(step.stage), piece = static_cast<size_t>(step.piece);
    double begin = free_[stage];
    if (step.needs >= 0) {
      double message = 0;
      const auto from = static_cast<size_t>(order[static_cast<size_t>(step.needs)].stage);
      if (from != stage)
        message = from + 1 == stage || stage + 1 == from ? times.between[std::min(from, stage)] : around;
      begin = std::max(begin, ready_[static_cast<size_t>(step.needs)] + message);
    }
    double takes = step.forward ? times.forward[piece] : times.backward[piece];
    if (step.part == Pass::kInputs) takes -= times.weights[piece];
    if (step.part == Pass::kWeights) takes = times.weights[piece];
    const double end = begin + takes;
    if (out.first_forward[stage] < 0) out.first_forward[stage] = begin;
    if (!step.forward && step.micro_batch == last && step.part != Pass::kInputs)
      out.last_backward[piece] = begin;
    out.busy[stage] += takes;
    free_[stage] = end;
    ready_[i] = step.forward || step.part != Pass::kWhole ? end : end - times.tail[piece];
  }
  out.stage_end = free_;
  out.end = *std::max_element(free_.begin(), free_.end());
  return out;
}

PipelineTimes Pipelines::Run(const Split& split, int64_t micro_batches, const PassTimes& times) {
  // With several pieces the rhythm is that of pp micro-batches; else of two, for two stages hand messages to
  // each other in turn.
  const int64_t unit = split.vpp > 1 ? split.pp : 2;
  const int64_t enough = split.vpp > 1 ? 3 * split.pp : 2 * split.pp + 4;
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
