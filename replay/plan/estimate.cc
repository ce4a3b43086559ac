#include "replay/plan/estimate.h"

#include <algorithm>
#include <set>

#include "replay/plan/matrices.h"
#include "replay/plan/sharing.h"
#include "replay/run/price.h"
#include "trace/base/status_macros.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"
#include "trace/generate/offload.h"
#include "trace/generate/operators.h"
#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/pieces.h"

namespace chakra::planning {
namespace {

using generate::GroupKind;
using generate::Split;
using generate::StepPlan;

// The time of the host for the passes of a piece, in picoseconds.
struct HostPasses {
  double forward = 0, backward = 0;
};
HostPasses HostOfPiece(const StepPlan& step, int64_t piece, const SharedTimes& shared) {
  HostPasses out;
  const generate::HostCosts& host = step.training.host;
  for (const UnitTimes* unit : shared.UnitsOfPiece(piece)) {
    out.forward += unit->forward_host;
    out.backward += unit->backward_host;
  }
  // The first and the last stage read the batch.
  const generate::Piece& of = step.pieces[static_cast<size_t>(piece)];
  if (of.embedding || of.head)
    out.forward += 1e3 * static_cast<double>(host.batch_ns) / (step.split.pp > 1 ? 2 : 1);
  return out;
}

// Whether the host launches a pass only when it begins. Megatron-LM's host waits for the messages that 1F1B
// receives. Elsewhere the host runs as far ahead as it can.
bool HostWaits(const StepPlan& step) {
  return step.training.framework == proto::Training::MEGATRON && step.split.stage_pieces() == 1 &&
         step.split.pp > 1;
}

// Extends passes to the time that the host needs for them.
void AddHost(const StepPlan& step, const SharedTimes& shared, PassTimes* out) {
  const generate::HostCosts& host = step.training.host;
  if (!host.any()) return;
  const Split& s = step.split;
  const int64_t pp = s.pp, last = s.model_pieces() - 1;
  const double launch = 1e3 * static_cast<double>(host.launch_ns);
  // With a mirrored schedule each piece is on two stages, which are equal.
  for (int64_t stage = 0; stage < (s.mirrored() ? pp / 2 : pp); ++stage) {
    if (HostWaits(step)) {
      const auto p = static_cast<size_t>(stage);
      const HostPasses h = HostOfPiece(step, stage, shared);
      double &forward = out->forward[p], &backward = out->backward[p];
      const double f = forward, b = backward;
      // A pass that waits for no message begins when the host is done with the previous pass.
      forward = stage > 0 ? std::max(f, h.forward) + launch
                          : std::max(f, h.backward + h.forward - std::max(b, h.backward));
      backward = stage < last ? std::max(b, h.backward) + launch
                              : std::max(b, h.forward + h.backward - std::max(f, h.forward));
      if (step.training.unfused() && stage == 0) forward = std::max(f, h.forward) + launch;
      continue;
    }
    double device = 0, all = 0;
    for (int64_t v = 0; v < s.stage_pieces(); ++v) {
      const int64_t piece = generate::PieceOf(s, stage, v);
      const HostPasses h = HostOfPiece(step, piece, shared);
      device += out->forward[static_cast<size_t>(piece)] + out->backward[static_cast<size_t>(piece)];
      all += h.forward + h.backward;
    }
    // The batch is read while nothing runs.
    const double idle = step.training.unfused() && pp == 1 ? 1e3 * static_cast<double>(host.batch_ns) : 0;
    const double ratio = device > 0 ? std::max(1.0, std::max(device + idle, all) / device) : 1;
    for (int64_t v = 0; v < s.stage_pieces(); ++v) {
      const auto piece = static_cast<size_t>(generate::PieceOf(s, stage, v));
      for (std::vector<double>* times :
           {&out->forward, &out->backward, &out->tail, &out->forward_compute, &out->backward_compute})
        (*times)[piece] *= ratio;
    }
  }
}

// When the host has launched the passes of a stage and done its work before the optimizer's kernels.
double HostEnd(const StepPlan& step, int64_t stage, const SharedTimes& shared,
               const PipelineTimes& pipeline) {
  const generate::HostCosts& host = step.training.host;
  if (!host.any()) return 0;
  const double rest = 1e3 * static_cast<double>(host.step_ns);
  if (HostWaits(step))
    return pipeline.last_backward[static_cast<size_t>(stage)] + HostOfPiece(step, stage, shared).backward +
           rest;
  double all = 0;
  for (int64_t v = 0; v < step.split.stage_pieces(); ++v) {
    const HostPasses h = HostOfPiece(step, generate::PieceOf(step.split, stage, v), shared);
    all += h.forward + h.backward;
  }
  return all * static_cast<double>(PassesOfPiece(step)) + rest;
}

// The time of a copy over the link to the host.
double PicosOfCopy(int64_t bytes, const Prices& prices) {
  return static_cast<double>(bytes) * 1e3 / prices.cluster().proto.device().host_gbytes_per_s();
}

// Minimum times of passes whose kernels wait for copies of offloaded activations at the ends of equal
// windows. Nothing is copied during the first layer, the embedding and the head.
LeastPasses PassesOfCopies(const StepPlan& step, const Units& units, const Prices& prices) {
  const int64_t layers = step.training.offload.layers;
  if (layers == 0) return {};
  const double copies =
      static_cast<double>(layers) * PicosOfCopy(generate::ActivationsOfLayer(step, 0), prices);
  LeastPasses out = {copies, copies};
  for (const UnitTimes* unit : {&units.embedding, &units.LayerOf(KindOfLayer(step, 0)), &units.head}) {
    out.forward += unit->forward;
    out.backward += unit->backward;
  }
  return out;
}

// Sets the times of the passes of all pieces. With zero 3 a unit takes at least as long as the gathering of
// the next unit's weights, which runs at the same time, if each pass gathers.
absl::Status SetPasses(const StepPlan& step, const Units& units, SharedTimes* shared, Prices* prices,
                       PassTimes* out) {
  const int64_t pieces = step.split.model_pieces();
  for (std::vector<double>* all : {&out->forward, &out->backward, &out->tail, &out->weights,
                                   &out->forward_compute, &out->backward_compute})
    all->assign(static_cast<size_t>(pieces), 0);
  for (int64_t p = 0; p < pieces; ++p) {
    const std::vector<const UnitTimes*> all = shared->UnitsOfPiece(p);
    const auto at = static_cast<size_t>(p);
    for (size_t i = 0; i < all.size(); ++i) {
      double forward = all[i]->forward, backward = all[i]->backward;
      if (step.split.zero == 3 && step.Gathers(true, 1)) {
        ASSIGN_OR_RETURN(const auto next, shared->Gather(*all[(i + 1) % all.size()]));
        ASSIGN_OR_RETURN(const auto before, shared->Gather(*all[i == 0 ? 0 : i - 1]));
        forward = std::max(forward, next);
        if (all[i] != &units.embedding && step.reshards()) backward = std::max(backward, before);
      }
      out->forward[at] += forward;
      out->backward[at] += backward;
      out->weights[at] += all[i]->weights;
      out->forward_compute[at] += all[i]->forward_compute;
      out->backward_compute[at] += all[i]->backward_compute;
    }
    if (!all.empty()) out->tail[at] = all.front()->tail;
  }
  const LeastPasses least = PassesOfCopies(step, units, *prices);
  out->forward[0] = std::max(out->forward[0], least.forward);
  out->backward[0] = std::max(out->backward[0], least.backward);
  AddHost(step, *shared, out);
  if (step.split.merges_exchanges()) out->slowdown = ExchangeSlowdown(prices->cluster().proto);
  out->hidden = step.split.hides();
  out->between =
      prices->BetweenStages(step.split, step.shared_tokens() * step.model.hidden * step.element_bytes());
  return absl::OkStatus();
}

// How much later the first pass of a stage, of the piece `first`, ends, because its weights are gathered at
// the start of the step, while gradients are cleared.
absl::StatusOr<double> WaitForWeights(int64_t stage, int64_t first, double clear, SharedTimes* shared,
                                      const PipelineTimes& pipeline) {
  std::vector<double> ready;
  const auto all = shared->GatherAll(stage, &ready);
  if (!all.ok()) return all;
  const double begin = clear + pipeline.first_forward[static_cast<size_t>(stage)];
  double at = begin, alone = begin;
  const std::vector<const UnitTimes*> units = shared->UnitsOfPiece(first);
  for (size_t i = 0; i < units.size(); ++i) {
    at = std::max(at, ready[i]) + units[i]->forward;
    alone += units[i]->forward;
  }
  return at - alone;
}

// The same if FSDP gathers the units one by one in the first forward pass, each while the one before runs.
absl::StatusOr<double> WaitForGathers(int64_t first, SharedTimes* shared) {
  double at = 0, alone = 0, gathered = 0, before = 0;
  for (const UnitTimes* unit : shared->UnitsOfPiece(first)) {
    ASSIGN_OR_RETURN(const auto takes, shared->Gather(*unit));
    gathered = std::max(gathered, before) + takes;
    before = at;
    at = std::max(at, gathered) + unit->forward;
    alone += unit->forward;
  }
  return at - alone;
}

}  // namespace

absl::StatusOr<const Units*> Estimator::UnitsOf(const StepPlan& step, int variant, Key* key) {
  const Split& s = step.split;
  *key = {variant,
          s.tp,
          s.sp,
          s.cp,
          s.ep,
          s.etp,
          step.training.micro_batch,
          step.training.recompute == proto::Training::SELECTIVE
              ? -1 - static_cast<int64_t>(step.training.modules.to_ulong())
              : static_cast<int64_t>(step.training.recompute),
          step.model.tied && !s.ends_together(),
          s.pp_before_dp ? s.pp : 0,
          KindsOfLayers(step),
          step.accumulates_whole()};
  std::unique_ptr<Units>& slot = units_[*key];
  if (slot == nullptr) {
    ASSIGN_OR_RETURN(auto units, MeasureUnits(step, prices_));
    slot = std::make_unique<Units>(std::move(units));
  }
  return slot.get();
}

absl::StatusOr<Estimator::Updates> Estimator::UpdatesOf(const StepPlan& step, int64_t elements, int variant) {
  const auto found = updates_.find({variant, elements});
  if (found != updates_.end()) return found->second;
  const generate::Operators operators(step.training);
  std::vector<generate::Operator> all = operators.Unscale(elements);  // runs before the norm is reduced
  all.push_back(operators.GradientNorm(elements));
  const size_t before = all.size();
  all.push_back(operators.Clip(elements));
  const int64_t hosts = generate::UpdatedByHost(step, elements);
  std::vector<generate::Operator> update = operators.Update(elements);
  if (hosts > 0) update.front() = operators.Update(elements - hosts).front();
  for (generate::Operator& op : update) all.push_back(std::move(op));
  ASSIGN_OR_RETURN(const auto times, prices_->OfOperators(all));
  Updates out;
  for (size_t i = 0; i < times.size(); ++i) (i < before ? out.norm : out.update) += times[i];
  if (hosts > 0) {
    const double copy = PicosOfCopy(generate::CopiedBytes(hosts), *prices_);
    const double update = 1e3 * static_cast<double>(generate::HostUpdateNs(step, hosts));
    out.update += step.training.offload.overlaps ? std::max(update, copy) : update + 2 * copy;
  }
  return updates_[{variant, elements}] = out;
}

absl::StatusOr<Estimator::Updates> Estimator::MatrixUpdatesOf(const StepPlan& step, int64_t stage) {
  const std::vector<generate::Parameter> all = generate::ParametersOf(step, stage);
  const int64_t elements = generate::UpdatedElements(step, all);
  const generate::Operators operators(step.training);
  std::vector<generate::Operator> kernels = operators.Unscale(elements);
  kernels.push_back(operators.GradientNorm(elements));
  kernels.push_back(operators.Clip(elements));
  ASSIGN_OR_RETURN(const auto times, prices_->OfOperators(kernels));
  ASSIGN_OR_RETURN(const MatrixTimes matrices, TimeOfUpdate(step, all, prices_));
  Updates out = {0, times.back() + matrices.device, matrices.host};
  for (size_t i = 0; i + 1 < times.size(); ++i) out.norm += times[i];
  return out;
}

absl::StatusOr<double> Estimator::NodesOf(const StepPlan& step, int variant) {
  Key key;
  ASSIGN_OR_RETURN(const auto units, UnitsOf(step, variant, &key));
  const auto of = [](const UnitTimes& u) { return static_cast<double>(u.nodes); };
  double layers = 0;
  for (int64_t i = 0; i < step.model.layers; ++i) layers += of(units->LayerOf(KindOfLayer(step, i)));
  const double all = layers + of(units->embedding) + of(units->head);
  return all * static_cast<double>(step.micro_batches() * step.split.stage_ranks());
}

absl::StatusOr<double> Estimator::TimeOf(const StepPlan& step, int variant) {
  const Split& s = step.split;
  Key key;
  ASSIGN_OR_RETURN(const auto units, UnitsOf(step, variant, &key));
  SharedTimes shared(step, *units, prices_);
  std::array<int64_t, 17> now = {};
  std::copy(key.begin(), key.end(), now.begin());
  const int64_t rest[] = {s.pp, s.vpp, step.micro_batches(), s.zero == 3 ? s.dp : 0,
                          static_cast<int64_t>(s.schedule)};
  std::copy(std::begin(rest), std::end(rest), now.begin() + key.size());
  if (now != pipeline_key_) {
    RETURN_IF_ERROR(SetPasses(step, *units, &shared, prices_, &passes_));
    pipeline_ = pipelines_.Run(s, step.micro_batches(), passes_);
    pipeline_key_ = now;
  }
  const SharedTimes::Weights first = shared.WeightsOf(0);
  const generate::Operators operators(step.training);
  ASSIGN_OR_RETURN(const auto clear,
                   prices_->OfOperator(operators.Fill(s.zero == 3 ? first.own : first.dense + first.expert,
                                                      step.gradient_bytes())));
  double reduced = 0, updated = 0, wait = 0, hosts = 0;
  for (const int64_t stage : std::set<int64_t>{0, std::min<int64_t>(1, s.pp - 1), s.pp / 2, s.pp - 1}) {
    const SharedTimes::Weights w = shared.WeightsOf(stage);
    const bool whole = s.zero == 3 && s.pp == 1 && shared.any();
    ASSIGN_OR_RETURN(auto end, whole ? shared.WholeStep(PassesOfCopies(step, *units, *prices_))
                                     : shared.Reduced(stage, pipeline_));
    const double host = HostEnd(step, stage, shared, pipeline_);
    end = std::max(end, host);
    ASSIGN_OR_RETURN(const auto updates, step.training.by_matrix() ? MatrixUpdatesOf(step, stage)
                                                                   : UpdatesOf(step, w.own, variant));
    hosts = std::max(hosts, host + updates.host);
    if (s.sp) {
      ASSIGN_OR_RETURN(
          const auto replicated,
          prices_->AboutCollective(CollectiveType::kAllReduce, w.replicated * step.gradient_bytes(),
                                   prices_->GroupsOf(GroupKind::kTensor, s)));
      end += replicated;
    }
    if (step.model.tied && !s.ends_together() && (stage == 0 || stage + 1 == s.pp)) {
      ASSIGN_OR_RETURN(
          const auto ends,
          prices_->AboutCollective(CollectiveType::kAllReduce,
                                   step.padded_outputs() / s.tp * step.model.hidden * step.gradient_bytes(),
                                   prices_->GroupsOf(GroupKind::kEnds, s)));
      end += ends;
    }
    reduced = std::max(reduced, end + updates.norm);
    double after = updates.update;
    const bool gathers = s.overlap_param || !step.training.owns_weights();
    if ((s.zero == 1 || s.zero == 2) && shared.any() && gathers) {
      if (s.overlap_param) {
        ASSIGN_OR_RETURN(const auto waits,
                         WaitForWeights(stage, generate::PieceOf(s, stage, 0), clear, &shared, pipeline_));
        wait = std::max(wait, waits);
      } else {
        ASSIGN_OR_RETURN(const auto gathered, shared.GatherAll(stage, nullptr));
        after += gathered;
      }
    }
    if (s.zero == 3 && !step.Gathers(true, 1)) {
      ASSIGN_OR_RETURN(const auto waits, WaitForGathers(generate::PieceOf(s, stage, 0), &shared));
      wait = std::max(wait, waits);
    }
    updated = std::max(updated, after);
  }
  // The norm of all gradients is reduced, and with fp16 also whether any is infinite.
  const bool all = s.zero > 0 || step.model.experts > 0;
  ASSIGN_OR_RETURN(const auto norm,
                   prices_->OfCollective(CollectiveType::kAllReduce, 4,
                                         prices_->GroupsOf(all ? GroupKind::kWorld : GroupKind::kModel, s)));
  const double syncs = step.training.dtype == proto::Training::FP16 ? 2 : 1;
  return clear + std::max(wait + reduced + syncs * norm + updated, hosts);
}

}  // namespace chakra::planning
