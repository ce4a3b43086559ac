#include "replay/report/fitting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/units.h"
#include "trace/generate/memory.h"
#include "trace/generate/resolve.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

using generate::StepPlan;

constexpr size_t kMostChanges = 6;
constexpr size_t kMostTold = 3;

uint64_t PeakOfStep(const StepPlan& step) { return static_cast<uint64_t>(generate::PeakOf(step).bytes); }

class Changes {
 public:
  Changes(const StepPlan& step, uint64_t limit) : step_(step), limit_(limit), peak_(PeakOfStep(step)) {
    known_ = ParseTextMessage(step.workload, "workload", &workload_).ok();
    // An open global batch depends on the split, which changes.
    workload_.mutable_training()->set_global_batch(step.training.global_batch);
    workload_.mutable_training()->clear_accumulation();
  }

  std::vector<FitChange> Find() {
    if (!known_) return {};
    const generate::Split& s = step_.split;
    const auto& t = step_.training;
    if (step_.tables.any()) {
      Try("row_wise=all", "");
      if (t.table_optimizer == proto::Training::TABLE_ADAGRAD) Try("", "table_optimizer=rowwise_adagrad");
      if (t.table_dtype == proto::Training::FP32) Try("", "table_dtype=fp16");
      return Sorted();
    }
    if (t.recompute != proto::Training::FULL) Try("", "recompute=full");
    if (t.recompute == proto::Training::NONE && step_.model.experts > 0)
      Try("", absl::StrCat("recompute=selective,recompute_modules=layernorm+moe_act",
                           step_.model.latent() ? "+mla_up_proj" : ""));
    if (t.micro_batch % 2 == 0) Try("", absl::StrCat("micro_batch=", t.micro_batch / 2));
    for (int zero = s.zero + 1; zero <= (s.pp > 1 ? 1 : 3); ++zero) Try(absl::StrCat("zero=", zero), "");
    if (s.dp % 2 == 0) {
      const std::string dp = absl::StrCat(",dp=", s.dp / 2);
      Try(absl::StrCat("tp=", 2 * s.tp, dp), "");
      Try(absl::StrCat("pp=", 2 * s.pp, dp), "");
      Try(absl::StrCat("cp=", 2 * s.cp, dp), "");
    }
    if (step_.model.experts > 0) Try(absl::StrCat("ep=", 2 * s.ep), "");
    return Sorted();
  }

 private:
  std::vector<FitChange> Sorted() {
    std::stable_sort(found_.begin(), found_.end(), [](const FitChange& a, const FitChange& b) {
      return a.fits != b.fits ? a.fits : a.peak_bytes < b.peak_bytes;
    });
    if (found_.size() > kMostChanges) found_.resize(kMostChanges);
    return std::move(found_);
  }

  // Tries a change, given as short forms.
  void Try(const std::string& parallel, const std::string& training) {
    proto::Workload changed = workload_;
    if (!ReadSettings(parallel, "--parallel", changed.mutable_parallel()).ok()) return;
    if (!ReadSettings(training, "--training", changed.mutable_training()).ok()) return;
    const auto step = generate::ResolvePlan(changed);
    if (!step.ok()) return;
    const uint64_t peak = PeakOfStep(*step);
    if (peak >= peak_) return;
    found_.push_back(
        {parallel.empty() ? absl::StrCat("--training ", training) : absl::StrCat("--parallel ", parallel),
         peak, peak <= limit_});
  }

  const StepPlan& step_;
  const uint64_t limit_, peak_;
  proto::Workload workload_;
  bool known_ = false;
  std::vector<FitChange> found_;
};

}  // namespace

std::vector<FitChange> ChangesThatFit(const StepPlan& step, uint64_t limit) {
  return Changes(step, limit).Find();
}

std::string FitAdvice(const StepPlan& step, uint64_t limit) {
  const std::vector<FitChange> changes = ChangesThatFit(step, limit);
  std::vector<std::string> told;
  for (const FitChange& c : changes) {
    if (told.size() == kMostTold || c.fits != changes[0].fits) break;
    told.push_back(absl::StrCat(c.options, " (", FormatBytes(c.peak_bytes), ")"));
  }
  if (told.empty()) return "";
  return changes[0].fits
             ? absl::StrCat(absl::StrJoin(told, " or "), " would fit")
             : absl::StrCat("no single change would fit; the most is gained by ", absl::StrJoin(told, ", "));
}

}  // namespace chakra
