#include "replay/report/fitting.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/units.h"
#include "trace/generate/check.h"
#include "trace/generate/memory.h"

namespace chakra {
namespace {

using generate::StepPlan;

constexpr size_t kMostChanges = 6;
constexpr size_t kMostTold = 3;

uint64_t PeakOfStep(const StepPlan& step) {
  int64_t most = 0;
  for (int64_t stage = 0; stage < step.split.pp; ++stage)
    most = std::max(most, generate::MemoryOfStage(step, stage).total());
  return static_cast<uint64_t>(most);
}

class Changes {
 public:
  Changes(const StepPlan& step, uint64_t limit) : step_(step), limit_(limit), peak_(PeakOfStep(step)) {}

  std::vector<FitChange> Find() {
    const generate::Split& s = step_.split;
    const auto& t = step_.training;
    if (t.recompute != proto::Training::FULL)
      Try("--training recompute=full", [](StepPlan* p) { p->training.recompute = proto::Training::FULL; });
    if (t.micro_batch % 2 == 0) {
      Try(absl::StrCat("--training micro_batch=", t.micro_batch / 2),
          [](StepPlan* p) { p->training.micro_batch /= 2; });
    }
    for (int zero = s.zero + 1; zero <= 3; ++zero) {
      if (zero > 1 && s.pp > 1) break;
      Try(absl::StrCat("--parallel zero=", zero), [zero](StepPlan* p) { p->split.zero = zero; });
    }
    if (s.dp % 2 == 0) {
      const std::string dp = absl::StrCat(",dp=", s.dp / 2);
      const auto twice = [&](const char* key, int64_t generate::Split::*field) {
        Try(absl::StrCat("--parallel ", key, "=", 2 * (s.*field), dp), [field](StepPlan* p) {
          p->split.*field *= 2;
          p->split.dp /= 2;
          if (p->split.tp > 1 && p->model.experts > 0) p->split.sp = true;
        });
      };
      twice("tp", &generate::Split::tp);
      twice("pp", &generate::Split::pp);
      twice("cp", &generate::Split::cp);
    }
    if (step_.model.experts > 0) {
      Try(absl::StrCat("--parallel ep=", 2 * s.ep), [](StepPlan* p) { p->split.ep *= 2; });
    }
    std::stable_sort(found_.begin(), found_.end(), [](const FitChange& a, const FitChange& b) {
      return a.fits != b.fits ? a.fits : a.peak_bytes < b.peak_bytes;
    });
    if (found_.size() > kMostChanges) found_.resize(kMostChanges);
    return std::move(found_);
  }

 private:
  void Try(const std::string& options, const std::function<void(StepPlan*)>& change) {
    StepPlan changed = step_;
    change(&changed);
    if (!generate::CheckPlan(changed).ok()) return;
    const uint64_t peak = PeakOfStep(changed);
    if (peak < peak_) found_.push_back({options, peak, peak <= limit_});
  }

  const StepPlan& step_;
  const uint64_t limit_, peak_;
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
