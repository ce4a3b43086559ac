#include "replay/plan/plan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/plan/prices.h"
#include "replay/plan/search.h"
#include "replay/plan/space.h"
#include "replay/plan/why.h"
#include "replay/report/fitting.h"
#include "replay/report/run_replay.h"
#include "replay/report/training.h"
#include "replay/run/machine.h"
#include "replay/run/traces.h"
#include "trace/base/median.h"
#include "trace/base/parallel.h"
#include "trace/base/text_table.h"
#include "trace/generate/counts.h"
#include "trace/generate/importer.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"

namespace chakra::planning {
namespace {

constexpr size_t kReplaysAnyhow = 2;

// The most that a rank of any stage holds, and the first stage that does.
std::pair<int64_t, int64_t> PeakOf(const generate::StepPlan& step) {
  std::pair<int64_t, int64_t> most = {0, 0};
  for (int64_t stage = 0; stage < step.split.pp; ++stage) {
    const int64_t bytes = generate::MemoryOfStage(step, stage).total();
    if (bytes > most.first) most = {bytes, stage};
  }
  return most;
}

// Ranks where the request says none: a split that the workload has whole, or the devices of the cluster.
absl::StatusOr<int> RanksOf(const PlanRequest& request) {
  if (request.ranks > 0) return request.ranks;
  const proto::Parallel& p = request.workload.parallel();
  if (p.has_dp() && request.tries.empty())
    return static_cast<int>(std::max<int64_t>(1, p.tp()) * std::max<int64_t>(1, p.pp()) *
                            std::max<int64_t>(1, p.cp()) * p.dp());
  std::vector<std::string> notes;
  const auto cluster = DescribeMachine(request.run, &notes);
  if (!cluster.ok()) return cluster.status();
  int64_t devices = 1;
  for (const proto::Dimension& d : cluster->topology().dimension()) devices *= d.size();
  if (devices > 0 && devices < (1 << 22) && cluster->topology().dimension_size() > 0)
    return static_cast<int>(devices);
  return absl::InvalidArgumentError(
      absl::StrCat("the cluster ", ClusterSpec(request.run), " sizes itself to the job; expected --ranks N"));
}

void SetColumns(const TriedSplit& tried, const generate::StepPlan& step, const SplitSpace& space,
                proto::PlanRow* row) {
  const generate::Split& s = step.split;
  row->set_tp(static_cast<int32_t>(s.tp));
  row->set_sp(s.sp);
  row->set_cp(static_cast<int32_t>(s.cp));
  row->set_pp(static_cast<int32_t>(s.pp));
  row->set_vpp(static_cast<int32_t>(s.vpp));
  row->set_dp(static_cast<int32_t>(s.dp));
  row->set_ep(static_cast<int32_t>(s.ep));
  row->set_etp(static_cast<int32_t>(s.etp));
  row->set_zero(s.zero);
  row->set_micro_batch(static_cast<int32_t>(step.training.micro_batch));
  row->set_recompute(absl::AsciiStrToLower(proto::Training::Recompute_Name(step.training.recompute)));
  *row->mutable_workload() = WorkloadOf(space, tried);
  const std::string& named = row->workload().parallel().schedule();
  row->set_schedule(s.pp == 1 ? "-" : !named.empty() ? named : s.vpp > 1 ? "interleaved" : "1f1b");
  row->set_others(space.variant_names[static_cast<size_t>(tried.variant)]);
  row->set_options(SplitOptions(row->workload()));
  row->set_estimate_ps(std::llround(tried.estimate_ps));
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request) : request_(request) {}

  absl::StatusOr<proto::PlanReport> Make() {
    const auto ranks = RanksOf(request_);
    if (!ranks.ok()) return ranks.status();
    auto prices = Prices::Make(request_.run, *ranks);
    if (!prices.ok()) return prices.status();
    prices_ = *std::move(prices);
    auto space = MakeSplitSpace(request_.workload, request_.tries, *ranks, prices_->node());
    if (!space.ok()) return space.status();
    space_ = *std::move(space);
    space_.domain = prices_->domain();
    memory_ = prices_->device_memory();
    limit_ = static_cast<uint64_t>(std::llround(static_cast<double>(memory_) * (1 - request_.reserve)));
    auto found = FindSplits(space_, limit_, prices_.get(), request_.stopped);
    if (!found.ok()) return found.status();
    found_ = *std::move(found);
    if (found_.splits == found_.not_valid) return NothingValid();
    if (absl::Status s = Choose(); !s.ok()) return s;
    Describe();
    if (chosen_.empty()) {
      if (absl::Status s = NothingFits(); !s.ok()) return s;
      return std::move(report_);
    }
    if (absl::Status s = ReplayChosen(); !s.ok()) return s;
    Order();
    return std::move(report_);
  }

 private:
  struct Chosen {
    TriedSplit tried;
    generate::StepPlan step;
    proto::PlanRow row;
    bool replayed = false;
  };

  absl::Status NothingValid() const {
    const Found::Reason* most = nullptr;
    for (const auto& [name, reason] : found_.reasons) {
      if (most == nullptr || reason.splits > most->splits) most = &reason;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "none of ", FormatCount(found_.splits), found_.splits == 1 ? " split" : " splits", " is valid",
        most == nullptr
            ? ""
            : absl::StrCat("; ", FormatCount(most->splits), " of them as this one: ", most->example)));
  }

  // The best ones whose stages all fit.
  absl::Status Choose() {
    double nodes = 0;
    std::vector<TriedSplit>& fitting = found_.fitting;
    size_t misfits = 0;
    for (const TriedSplit& tried : fitting) {
      if (chosen_.size() == static_cast<size_t>(request_.top)) break;
      auto step = StepOf(space_, tried);
      if (!step.ok()) return step.status();
      const int64_t peak = PeakOf(*step).first;
      if (limit_ > 0 && static_cast<uint64_t>(peak) > limit_) {  // a stage between the ends
        ++misfits;
        if (found_.too_large + misfits == 1 || peak < found_.closest.peak_bytes) found_.closest = tried;
        continue;
      }
      Chosen& chosen = chosen_.emplace_back();
      chosen.tried = tried;
      chosen.step = *std::move(step);
      SetColumns(tried, chosen.step, space_, &chosen.row);
      SetMemory(static_cast<uint64_t>(peak), &chosen.row);
      // Where flows do not delay each other, one rank of a stage and ring is replayed for all of them.
      const double twins =
          prices_->contention_free() ? static_cast<double>(chosen.step.split.tp * chosen.step.split.dp) : 1;
      nodes += tried.nodes / twins;
      chosen.replayed = chosen_.size() <= kReplaysAnyhow || request_.replay_nodes == 0 ||
                        nodes <= static_cast<double>(request_.replay_nodes);
    }
    found_.too_large += misfits;
    fitting_ = fitting.size() - misfits;
    return absl::OkStatus();
  }

  void SetMemory(uint64_t peak, proto::PlanRow* row) const {
    row->set_peak_memory_bytes(peak);
    if (limit_ > 0) row->set_memory_share(static_cast<double>(peak) / static_cast<double>(limit_));
  }

  void Describe() {
    report_.set_version(request_.run.version);
    report_.set_model(!request_.workload.name().empty()             ? request_.workload.name()
                      : !request_.workload.model().preset().empty() ? request_.workload.model().preset()
                                                                    : "model");
    report_.set_cluster(prices_->cluster().proto.name().empty() ? ClusterSpec(request_.run)
                                                                : prices_->cluster().proto.name());
    report_.set_fabric(FabricName(request_.run));
    report_.set_ranks(prices_->ranks());
    report_.set_device_memory_bytes(memory_);
    report_.set_limit_bytes(limit_);
    report_.set_reserve_share(request_.reserve);
    report_.set_aim(std::string(NameOf(request_.aim)));
    for (const proto::PlanAxis& axis : space_.axes) *report_.add_axis() = axis;
    report_.set_splits(found_.splits);
    report_.set_not_valid(found_.not_valid);
    report_.set_too_large(found_.too_large);
    report_.set_fitting(fitting_);
    std::vector<std::pair<std::string, Found::Reason>> reasons(found_.reasons.begin(), found_.reasons.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second.splits > b.second.splits; });
    for (const auto& [name, reason] : reasons) {
      proto::PlanReason& out = *report_.add_reason();
      out.set_reason(name);
      out.set_splits(reason.splits);
      out.set_example(reason.example);
    }
    for (const std::string& warning : prices_->warnings()) report_.add_warning(warning);
    if (memory_ == 0)
      report_.add_warning(
          "the cluster does not say how much memory a device has, so that everything fits; expected "
          "--device-memory, as 80GB");
    if (!chosen_.empty()) DescribeStep(chosen_[0].step);
  }

  void DescribeStep(const generate::StepPlan& step) {
    const double tokens =
        static_cast<double>(step.training.seq) * static_cast<double>(step.training.global_batch);
    report_.set_tokens(tokens);
    report_.set_model_flops(tokens * generate::TrainingFlopsPerToken(step));
  }

  absl::Status NothingFits() {
    const auto step = StepOf(space_, found_.closest);
    if (!step.ok()) return step.status();
    const auto [peak, stage] = PeakOf(*step);
    proto::PlanRow& row = *report_.mutable_closest();
    SetColumns(found_.closest, *step, space_, &row);
    SetMemory(static_cast<uint64_t>(peak), &row);
    report_.set_lacks_bytes(static_cast<uint64_t>(peak) - limit_);
    report_.set_lacks_rank(generate::Layout(step->split).RankAt({0, 0, 0, stage}));
    DescribeStep(*step);
    for (const FitChange& change : ChangesThatFit(*step, limit_)) {
      proto::PlanHelp& help = *report_.add_help();
      help.set_change(change.options);
      help.set_peak_memory_bytes(change.peak_bytes);
      help.set_fits(change.fits);
    }
    return absl::OkStatus();
  }

  absl::Status ReplayOne(Chosen* chosen) {
    TraceOptions traces;
    traces.keep_twins = true;
    traces.inputs = {generate::WorkloadInput(chosen->row.workload())};
    traces.read.domain = space_.domain;
    const auto loaded = LoadTraces(traces);
    if (!loaded.ok()) return loaded.status();
    RunOptions run = request_.run;
    run.fabric_options.threads = 1;
    RunHooks hooks;
    if (request_.stopped) {
      hooks.stop = &stop_;
      hooks.progress = [this](const Progress&) {
        const std::lock_guard<std::mutex> lock(told_);
        if (request_.stopped()) stop_ = true;
      };
    }
    const auto report = RunReplay(*loaded, run, hooks);
    if (!report.ok()) return report.status();
    SetReplayed(*report, &chosen->row);
    return absl::OkStatus();
  }

  absl::Status ReplayChosen() {
    std::vector<Chosen*> replays;
    for (Chosen& c : chosen_) {
      if (c.replayed) replays.push_back(&c);
    }
    int done = 0;
    const auto told = [&](int more) {
      const std::lock_guard<std::mutex> lock(told_);
      done += more;
      if (request_.progress) request_.progress(done, static_cast<int>(replays.size()));
    };
    told(0);
    return ForEach(replays.size(), request_.threads, [&] {
      return [&](size_t i) {
        absl::Status s = ReplayOne(replays[i]);
        if (!s.ok())
          return absl::Status(s.code(), absl::StrCat(replays[i]->row.options(), ": ", s.message()));
        told(1);
        return s;
      };
    });
  }

  // What the aim is to have least of, by the replay.
  double Aimed(const proto::PlanRow& row) const {
    switch (request_.aim) {
      case PlanRequest::Aim::kEnergy:
        return row.joules();
      case PlanRequest::Aim::kCost:
        return row.dollars();
      case PlanRequest::Aim::kCarbon:
        return row.kg_co2e();
      default:
        return 0;  // by time
    }
  }

  // The best by the aim first, then the fastest, of equal ones that with the least memory; then what was not
  // replayed.
  void Order() {
    std::stable_sort(chosen_.begin(), chosen_.end(), [&](const Chosen& a, const Chosen& b) {
      if (a.replayed != b.replayed) return a.replayed;
      if (!a.replayed) return false;
      if (Aimed(a.row) != Aimed(b.row)) return Aimed(a.row) < Aimed(b.row);
      if (a.row.time_ps() != b.row.time_ps()) return a.row.time_ps() < b.row.time_ps();
      return a.row.peak_memory_bytes() < b.row.peak_memory_bytes();
    });
    std::vector<double> off;
    for (Chosen& c : chosen_) {
      proto::PlanRow& row = *report_.add_row();
      row = c.row;
      row.set_place(report_.row_size());
      if (!c.replayed) {
        SetEstimated(report_, prices_->cluster().proto.device(), c.step, &row);
        continue;
      }
      off.push_back(std::fabs(row.off()));
      if (report_.row_size() > 1 && row.time_ps() >= report_.row(0).time_ps())
        row.set_why(WhySlower(report_.row(0), row));
    }
    report_.set_replayed(static_cast<int32_t>(off.size()));
    report_.set_off_median(Median(off));
    report_.set_off_most(*std::max_element(off.begin(), off.end()));
  }

  const PlanRequest& request_;
  std::unique_ptr<Prices> prices_;
  SplitSpace space_;
  Found found_;
  uint64_t memory_ = 0, limit_ = 0, fitting_ = 0;
  std::vector<Chosen> chosen_;
  std::mutex told_;  // the caller's functions, one at a time
  std::atomic<bool> stop_{false};
  proto::PlanReport report_;
};

}  // namespace

absl::string_view NameOf(PlanRequest::Aim aim) {
  switch (aim) {
    case PlanRequest::Aim::kEnergy:
      return "energy";
    case PlanRequest::Aim::kCost:
      return "cost";
    case PlanRequest::Aim::kCarbon:
      return "carbon";
    default:
      return "time";
  }
}

absl::StatusOr<proto::PlanReport> MakePlan(const PlanRequest& request) { return Planner(request).Make(); }

}  // namespace chakra::planning
