#include "replay/plan/search.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"
#include "trace/generate/check.h"
#include "trace/generate/matrix_plan.h"
#include "trace/generate/memory.h"
#include "trace/generate/resolve.h"

namespace chakra::planning {
namespace {

using generate::StepPlan;

constexpr int64_t kFewMicroBatches = 1 << 12;

// The reason of an error message without its numbers: "parallel.tp: expected a divisor of model.heads" for
// "parallel.tp is 7; expected a divisor of model.heads, 64; the nearest is 8".
std::string ReasonOf(absl::string_view message) {
  const size_t is = message.find(" is "), makes = message.find(" makes ");
  const size_t expected = message.find("; expected ");
  if (expected == absl::string_view::npos) return std::string(message);
  std::string out(message.substr(0, std::min({is, makes, expected})));
  absl::string_view rest = message.substr(expected + 2);
  rest = rest.substr(0, rest.find("; the nearest"));
  absl::StrAppend(&out, ": ");
  // Leaves out numbers such as ", 64".
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == ',' && i + 2 < rest.size() &&
        absl::ascii_isdigit(static_cast<unsigned char>(rest[i + 2]))) {
      i += 2;
      while (i < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[i]))) ++i;
      if (i >= rest.size()) break;
    }
    out += rest[i];
  }
  return out;
}

// The workload with what all splits with these pp and vpp have in common. Fields that depend on the split get
// values that are always valid.
proto::Workload BaseOf(const proto::Workload& variant, int64_t pp, int64_t vpp) {
  proto::Workload w = variant;
  proto::Parallel& p = *w.mutable_parallel();
  p.set_pp(pp);
  p.set_vpp(vpp);
  for (const char* name : {"tp", "sp", "dp", "cp", "ep", "etp", "zero", "overlap_param", "copies"})
    p.GetReflection()->ClearField(&p, p.GetDescriptor()->FindFieldByName(name));
  if (w.training().framework() == proto::Training::FSDP) p.set_zero(3);
  const auto sharding = w.training().matrix_sharding();
  if (sharding == proto::Training::LAYERWISE || sharding == proto::Training::GATHERED) p.set_zero(1);
  w.mutable_training()->set_micro_batch(1);
  const bool layers = w.training().has_recompute_layers() || w.training().has_recompute_method();
  const bool modules = !w.training().recompute_modules().empty();
  w.mutable_training()->set_recompute(layers    ? proto::Training::FULL
                                      : modules ? proto::Training::SELECTIVE
                                                : proto::Training::NONE);
  if (layers) w.mutable_training()->clear_recompute_modules();
  if (w.training().has_recompute_gemms()) w.mutable_training()->set_recompute(proto::Training::OPERATORS);
  // Many sequences would be many micro-batches, whose number is limited.
  const int64_t batch = w.training().global_batch();
  int64_t dp = std::max<int64_t>(1, batch / kFewMicroBatches);
  const bool two_ways = absl::StartsWith(p.schedule(), "dualpipe");
  const auto fits = [&](int64_t micro_batches) {
    if (two_ways) return micro_batches % 2 == 0 && micro_batches >= 2 * pp;
    return vpp == 1 || micro_batches % pp == 0;
  };
  while (batch % dp != 0 || (dp > 1 && !fits(batch / dp))) --dp;
  p.set_dp(dp);
  return w;
}

// The modules that recompute=selective recomputes. `base` has them, unless the workload also gives
// recompute_layers or recompute_method.
absl::StatusOr<generate::ModuleSet> NamedModules(const StepPlan& base, const proto::Workload& workload) {
  const proto::Training& t = workload.training();
  const bool layers = t.has_recompute_layers() || t.has_recompute_method();
  if (!layers || t.recompute_modules().empty()) return base.training.modules;
  proto::Workload w = workload;
  w.clear_parallel();
  w.mutable_training()->set_recompute(proto::Training::SELECTIVE);
  w.mutable_training()->clear_recompute_layers();
  w.mutable_training()->clear_recompute_method();
  w.mutable_training()->clear_global_batch();
  const auto step = generate::ResolvePlan(w);
  return step.ok() ? absl::StatusOr<generate::ModuleSet>(step->training.modules) : step.status();
}

class Searcher {
 public:
  Searcher(const SplitSpace& space, uint64_t limit, Prices* prices)
      : space_(space), limit_(limit), prices_(prices), estimator_(prices) {}

  absl::StatusOr<Found> Find() {
    for (size_t v = 0; v < space_.variants.size(); ++v) {
      for (const int64_t pp : space_.pp) {
        for (const int64_t vpp : space_.vpp) {
          RETURN_IF_ERROR(TryPieces(static_cast<int>(v), pp, vpp));
        }
      }
    }
    std::sort(found_.fitting.begin(), found_.fitting.end(), [](const TriedSplit& a, const TriedSplit& b) {
      return a.estimate_ps != b.estimate_ps ? a.estimate_ps < b.estimate_ps : a.order < b.order;
    });
    return std::move(found_);
  }

 private:
  void Reject(absl::string_view message, uint64_t splits) {
    found_.splits += splits;
    found_.not_valid += splits;
    Found::Reason& reason = found_.reasons[ReasonOf(message)];
    if (reason.splits == 0) reason.example = std::string(message);
    reason.splits += splits;
  }

  // Whether a value of zero is tried with this number of stages.
  bool TriesZero(int zero, int64_t pp) const { return !space_.zero_is_default || zero < 2 || pp == 1; }
  uint64_t InnerSplits(int64_t pp) const {
    uint64_t zeros = 0;
    for (const int z : space_.zero) zeros += TriesZero(z, pp) ? 1 : 0;
    return zeros * space_.ep.size() * space_.etp.size() * space_.micro_batch.size() * space_.recompute.size();
  }

  absl::Status TryPieces(int variant, int64_t pp, int64_t vpp) {
    const proto::Workload& of = space_.variants[static_cast<size_t>(variant)];
    const uint64_t dps = std::max<size_t>(1, space_.dp.size());
    const auto base = generate::ResolvePlan(BaseOf(of, pp, vpp), space_.domain);
    if (!base.ok()) {
      Reject(base.status().message(), InnerSplits(pp) * space_.tp.size() * space_.cp.size() * dps);
      return absl::OkStatus();
    }
    StepPlan step = *base;
    if (of.parallel().has_copies()) step.split.copies = of.parallel().copies();
    const auto named = NamedModules(*base, of);
    if (!named.ok()) {
      Reject(named.status().message(), InnerSplits(pp) * space_.tp.size() * space_.cp.size() * dps);
      return absl::OkStatus();
    }
    named_ = *named;
    for (const int64_t tp : space_.tp) {
      step.split.tp = tp;
      step.split.sp = of.parallel().has_sp() ? of.parallel().sp() && tp > 1 : tp > 1;
      for (const int64_t cp : space_.cp) {
        step.split.cp = cp;
        const int64_t group = tp * cp * pp;
        if (space_.dp.empty()) {
          if (prices_->ranks() % group != 0) {
            Reject(absl::StrCat("parallel.tp * cp * pp is ", group, "; expected a divisor of the ranks, ",
                                prices_->ranks()),
                   InnerSplits(pp));
            continue;
          }
          step.split.dp = prices_->ranks() / group;
          RETURN_IF_ERROR(TryInner(variant, &step));
          continue;
        }
        for (const int64_t dp : space_.dp) {
          step.split.dp = dp;
          if (group * dp != prices_->ranks()) {
            Reject(absl::StrCat("parallel.tp * cp * pp * dp is ", group * dp, "; expected the ranks, ",
                                prices_->ranks()),
                   InnerSplits(pp));
            continue;
          }
          RETURN_IF_ERROR(TryInner(variant, &step));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status TryInner(int variant, StepPlan* step) {
    const proto::Parallel& of = space_.variants[static_cast<size_t>(variant)].parallel();
    for (const int64_t ep : space_.ep) {
      step->split.ep = ep;
      for (const int64_t etp : space_.etp) {
        step->split.etp = etp;
        if (!of.has_dispatcher()) step->split.ChooseDispatcher(step->model);
        for (const int64_t batch : space_.micro_batch) {
          step->training.micro_batch = batch;
          for (const RecomputeChoice& recompute : space_.recompute) {
            recompute_ = recompute;
            step->training.recompute = recompute.what;
            step->training.modules = recompute.by_default ? named_ : recompute.modules;
            for (const int zero : space_.zero) {
              if (!TriesZero(zero, step->split.pp)) continue;
              step->split.zero = zero;
              if (!space_.variants[static_cast<size_t>(variant)].training().has_matrix_sharding())
                step->training.matrix.sharding =
                    generate::DefaultMatrixSharding(step->training.framework, zero);
              step->split.overlap_param =
                  of.has_overlap_param() ? of.overlap_param() : zero == 1 || zero == 2;
              RETURN_IF_ERROR(Try(variant, *step));
            }
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Try(int variant, const StepPlan& step) {
    if (StopRequested()) return absl::CancelledError("the plan was stopped before all splits were checked");
    if (const absl::Status valid = generate::CheckPlan(step); !valid.ok()) {
      Reject(valid.message(), 1);
      return absl::OkStatus();
    }
    TriedSplit tried{step.split, step.training.micro_batch, recompute_, variant, 0, 0, 0, found_.splits++};
    std::vector<int64_t> ends = {0};
    if (step.split.pp > 1) ends.push_back(step.split.pp - 1);
    for (const generate::RankMemory& m : generate::MemoryOfStages(step, ends))
      tried.peak_bytes = std::max(tried.peak_bytes, m.total());
    if (limit_ > 0 && static_cast<uint64_t>(tried.peak_bytes) > limit_) {
      if (found_.too_large++ == 0 || tried.peak_bytes < found_.closest.peak_bytes) found_.closest = tried;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(tried.estimate_ps, estimator_.TimeOf(step, variant));
    ASSIGN_OR_RETURN(tried.nodes, estimator_.NodesOf(step, variant));
    found_.fitting.push_back(tried);
    return absl::OkStatus();
  }

  const SplitSpace& space_;
  const uint64_t limit_;
  Prices* prices_;
  Estimator estimator_;
  generate::ModuleSet named_;  // of the variant
  RecomputeChoice recompute_;  // of the split that is tried
  Found found_;
};

}  // namespace

absl::StatusOr<Found> FindSplits(const SplitSpace& space, uint64_t limit, Prices* prices) {
  return Searcher(space, limit, prices).Find();
}

proto::Workload WorkloadOf(const SplitSpace& space, const TriedSplit& split) {
  StepPlan step;
  step.split = split.split;
  step.training.micro_batch = split.micro_batch;
  step.training.recompute = split.recompute.what;
  proto::Workload w = space.variants[static_cast<size_t>(split.variant)];
  if (!split.recompute.by_default)
    w.mutable_training()->set_recompute_modules(generate::NamesOf(split.recompute.modules));
  SetSplit(step, &w);
  return w;
}

absl::StatusOr<StepPlan> StepOf(const SplitSpace& space, const TriedSplit& split) {
  return generate::ResolvePlan(WorkloadOf(space, split), space.domain);
}

}  // namespace chakra::planning
