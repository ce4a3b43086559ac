#include "replay/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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
#include "trace/base/status_macros.h"
#include "trace/base/stop.h"
#include "trace/base/text_table.h"
#include "trace/generate/counts.h"
#include "trace/generate/importer.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"

namespace chakra::planning {
namespace {

constexpr size_t kReplaysAnyhow = 2;
constexpr size_t kMostRounds = 5;   // of PlanRequest::top replays each
constexpr double kDoubtful = 0.05;  // median error of the closed form from which the report warns

// The number of ranks if the request has none: that of the workload's split, if complete, or the devices of
// the cluster.
absl::StatusOr<int> RanksOf(const PlanRequest& request) {
  if (request.ranks > 0) return request.ranks;
  const proto::Parallel& p = request.workload.parallel();
  if (p.has_dp() && request.tries.empty())
    return static_cast<int>(std::max<int64_t>(1, p.tp()) * std::max<int64_t>(1, p.pp()) *
                            std::max<int64_t>(1, p.cp()) * p.dp());
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const auto cluster, DescribeMachine(request.run, &notes));
  int64_t devices = 1;
  for (const proto::Dimension& d : cluster.topology().dimension()) devices *= d.size();
  if (devices > 0 && devices < (1 << 22) && cluster.topology().dimension_size() > 0)
    return static_cast<int>(devices);
  return absl::InvalidArgumentError(absl::StrCat("the cluster ", ClusterSpec(request.run),
                                                 " takes its size from the job; expected --ranks N"));
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
    ASSIGN_OR_RETURN(const auto ranks, RanksOf(request_));
    ASSIGN_OR_RETURN(prices_, Prices::Make(request_.run, ranks));
    ASSIGN_OR_RETURN(space_, MakeSplitSpace(request_.workload, request_.tries, ranks, prices_->node()));
    space_.domain = prices_->domain();
    memory_ = prices_->device_memory();
    limit_ = static_cast<uint64_t>(std::llround(static_cast<double>(memory_) * (1 - request_.reserve)));
    ASSIGN_OR_RETURN(found_, FindSplits(space_, limit_, prices_.get()));
    if (found_.splits == found_.not_valid) return NothingValid();
    RETURN_IF_ERROR(ChooseBest());
    Describe();
    if (chosen_.empty()) {
      RETURN_IF_ERROR(NothingFits());
      return std::move(report_);
    }
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) {
      RETURN_IF_ERROR(ReplayChosen());
      more = ChooseNear();
    }
    if (!more.ok()) return more.status();
    SetCounts();
    Order();
    return std::move(report_);
  }

 private:
  struct Chosen {
    TriedSplit tried;
    generate::StepPlan step;
    proto::PlanRow row;
    double nodes = 0;       // approximate nodes of its replay
    double share = 0;       // share of the replay that is done
    bool replayed = false;  // replayed, or to be replayed
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
            : absl::StrCat("; ", FormatCount(most->splits), " of them like this one: ", most->example)));
  }

  // Chooses the next split in the order of the closed form whose stages all fit. False: there is none.
  absl::StatusOr<bool> ChooseNext() {
    while (next_ < found_.fitting.size()) {
      const TriedSplit& tried = found_.fitting[next_++];
      ASSIGN_OR_RETURN(auto step, StepOf(space_, tried));
      const int64_t peak = generate::PeakOf(step).bytes;
      if (limit_ > 0 && static_cast<uint64_t>(peak) > limit_) {  // a stage between the first and the last
        ++misfits_;
        if (found_.too_large + misfits_ == 1 || peak < found_.closest.peak_bytes) found_.closest = tried;
        continue;
      }
      Chosen& chosen = chosen_.emplace_back();
      chosen.tried = tried;
      chosen.step = std::move(step);
      SetColumns(tried, chosen.step, space_, &chosen.row);
      SetMemory(static_cast<uint64_t>(peak), &chosen.row);
      // If flows do not delay each other, one rank is replayed for all ranks of a stage that differ in tp and
      // dp.
      const double symmetric =
          prices_->contention_free() ? static_cast<double>(chosen.step.split.tp * chosen.step.split.dp) : 1;
      chosen.nodes = tried.nodes / symmetric;
      nodes_ += chosen.nodes;
      return true;
    }
    return false;
  }
  bool WithinBudget() const {
    return request_.replay_nodes == 0 || nodes_ <= static_cast<double>(request_.replay_nodes);
  }

  absl::Status ChooseBest() {
    while (chosen_.size() < static_cast<size_t>(request_.top)) {
      ASSIGN_OR_RETURN(const auto chosen, ChooseNext());
      if (!chosen) break;
      chosen_.back().replayed = chosen_.size() <= kReplaysAnyhow || WithinBudget();
    }
    return absl::OkStatus();
  }

  // Chooses up to `top` more splits that may be as fast as the best, within the budget. Returns whether there
  // are any to replay.
  absl::StatusOr<bool> ChooseNear() {
    const auto top = static_cast<size_t>(request_.top);
    const size_t before = chosen_.size();
    if (request_.aim != PlanRequest::Aim::kTime || StopRequested()) return false;
    const size_t end = NearEnd();
    while (next_ < end && WithinBudget() && chosen_.size() < std::min(before + top, kMostRounds * top)) {
      ASSIGN_OR_RETURN(const auto chosen, ChooseNext());
      if (!chosen) break;
      chosen_.back().replayed = WithinBudget();
    }
    return chosen_.size() > before && chosen_[before].replayed;
  }

  // Whether a split may be as fast as the best, if the closed form is off for it as much as for any replayed
  // split. `estimate`: its time in closed form.
  std::function<bool(double estimate)> IsNear() const {
    double least = std::numeric_limits<double>::infinity(), best = least;
    for (const Chosen& c : chosen_) {
      if (c.row.time_ps() == 0) continue;
      const auto time = static_cast<double>(c.row.time_ps());
      least = std::min(least, time / c.tried.estimate_ps);
      best = std::min(best, time);
    }
    return [least, best](double estimate) { return estimate * least < best; };
  }
  // The index after the last such split in found_.fitting.
  size_t NearEnd() const {
    const auto near = IsNear();
    const auto end =
        std::partition_point(found_.fitting.begin() + static_cast<ptrdiff_t>(next_), found_.fitting.end(),
                             [&](const TriedSplit& t) { return near(t.estimate_ps); });
    return static_cast<size_t>(end - found_.fitting.begin());
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
    SetCounts();
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
          "the memory of a device is unknown, so all splits fit; expected --device-memory, as 80GB");
    if (!chosen_.empty()) DescribeStep(chosen_[0].step);
  }

  void SetCounts() {
    report_.set_too_large(found_.too_large + misfits_);
    report_.set_fitting(found_.fitting.size() - misfits_);
  }

  void DescribeStep(const generate::StepPlan& step) {
    const double tokens =
        static_cast<double>(step.training.seq) * static_cast<double>(step.training.global_batch);
    report_.set_tokens(tokens);
    report_.set_model_flops(tokens * generate::TrainingFlopsPerToken(step));
  }

  absl::Status NothingFits() {
    ASSIGN_OR_RETURN(const auto step, StepOf(space_, found_.closest));
    const auto [peak, stage] = generate::PeakOf(step);
    proto::PlanRow& row = *report_.mutable_closest();
    SetColumns(found_.closest, step, space_, &row);
    SetMemory(static_cast<uint64_t>(peak), &row);
    report_.set_lacks_bytes(static_cast<uint64_t>(peak) - limit_);
    report_.set_lacks_rank(generate::Layout(step.split).RankAt({0, 0, 0, stage}));
    DescribeStep(step);
    for (const FitChange& change : ChangesThatFit(step, limit_)) {
      proto::PlanHelp& help = *report_.add_help();
      help.set_change(change.options);
      help.set_peak_memory_bytes(change.peak_bytes);
      help.set_fits(change.fits);
    }
    return absl::OkStatus();
  }

  absl::Status ReplayOne(Chosen* chosen) {
    TraceOptions traces;
    traces.keep_symmetric = true;
    traces.inputs = {generate::WorkloadInput(chosen->row.workload())};
    traces.read.domain = space_.domain;
    ASSIGN_OR_RETURN(const auto loaded, LoadTraces(traces));
    RunOptions run = request_.run;
    run.fabric_options.threads = 1;
    ReplayHooks hooks;
    if (request_.progress) {
      hooks.progress = [this, chosen](const Progress& p) {
        if (p.nodes_total > 0)
          Tell(chosen, static_cast<double>(p.nodes_done) / static_cast<double>(p.nodes_total));
      };
    }
    ASSIGN_OR_RETURN(const auto report, RunReplay(loaded, run, hooks));
    const std::lock_guard<std::mutex> lock(told_);
    SetReplayed(report, &chosen->row);
    return absl::OkStatus();
  }

  // Reports the progress of the replays. `chosen` (may be null): sets its done share to `share`.
  void Tell(Chosen* chosen, double share) {
    if (!request_.progress) return;
    const std::lock_guard<std::mutex> lock(told_);
    if (chosen != nullptr) chosen->share = share;
    PlanProgress progress;
    double nodes = 0, done = 0;
    for (const Chosen& c : chosen_) {
      if (!c.replayed) continue;
      ++progress.of;
      nodes += c.nodes;
      done += c.nodes * c.share;
      if (c.row.time_ps() == 0) continue;
      ++progress.done;
      if (progress.best == nullptr || c.row.time_ps() < progress.best->time_ps()) progress.best = &c.row;
    }
    progress.share = progress.done == progress.of ? 1 : done / nodes;
    request_.progress(progress);
  }

  absl::Status ReplayChosen() {
    std::vector<Chosen*> replays;
    for (Chosen& c : chosen_) {
      if (c.replayed && c.row.time_ps() == 0) replays.push_back(&c);
    }
    Tell(nullptr, 0);
    absl::Status all = ForEach(replays.size(), request_.threads, [&] {
      return [&](size_t i) {
        absl::Status s = ReplayOne(replays[i]);
        if (!s.ok())
          return absl::Status(s.code(), absl::StrCat(replays[i]->row.options(), ": ", s.message()));
        Tell(replays[i], 1);
        return s;
      };
    });
    if (!StopRequested()) return all;
    int left = 0;
    for (Chosen* c : replays) {
      c->replayed = c->row.time_ps() > 0;
      left += c->replayed ? 0 : 1;
    }
    report_.add_warning(absl::StrCat("the plan was stopped before ", left, " of ", replays.size(),
                                     " replays; the times of these splits are from their closed form"));
    return absl::OkStatus();
  }

  // The quantity that the aim minimises, from the replay.
  double Aimed(const proto::PlanRow& row) const {
    switch (request_.aim) {
      case PlanRequest::Aim::kEnergy:
        return row.joules();
      case PlanRequest::Aim::kCost:
        return row.dollars();
      case PlanRequest::Aim::kCarbon:
        return row.kg_co2e();
      default:
        return 0;  // ordered by time
    }
  }

  // Orders by the aim, then by time, then by memory; splits that were not replayed come last.
  void Order() {
    std::stable_sort(chosen_.begin(), chosen_.end(), [&](const Chosen& a, const Chosen& b) {
      if (a.replayed != b.replayed) return a.replayed;
      if (!a.replayed) return false;
      if (Aimed(a.row) != Aimed(b.row)) return Aimed(a.row) < Aimed(b.row);
      if (a.row.time_ps() != b.row.time_ps()) return a.row.time_ps() < b.row.time_ps();
      return a.row.peak_memory_bytes() < b.row.peak_memory_bytes();
    });
    std::vector<double> off;
    const auto near = IsNear();
    uint64_t left = NearEnd() - next_;
    for (Chosen& c : chosen_) {
      if (c.replayed)
        off.push_back(std::fabs(c.row.off()));
      else
        left += near(c.tried.estimate_ps) ? 1 : 0;
      if (report_.row_size() == request_.top) continue;
      proto::PlanRow& row = *report_.add_row();
      row = c.row;
      row.set_place(report_.row_size());
      if (!c.replayed) {
        SetEstimated(report_, prices_->cluster().proto.device(), c.step, &row);
      } else if (report_.row_size() > 1 && row.time_ps() >= report_.row(0).time_ps()) {
        row.set_why(WhySlower(report_.row(0), row));
      }
    }
    if (off.empty()) return;  // the plan was stopped
    report_.set_replayed(static_cast<int32_t>(off.size()));
    report_.set_off_median(Median(off));
    report_.set_off_most(*std::max_element(off.begin(), off.end()));
    if (request_.aim != PlanRequest::Aim::kTime) return;
    report_.set_near_replayed(
        static_cast<int32_t>(std::max<size_t>(off.size(), report_.row_size()) - report_.row_size()));
    report_.set_near_left(left);
    Doubt();
  }

  // Warns if the closed form is not accurate enough to order the splits.
  void Doubt() {
    if (report_.near_left() > 0) {
      report_.add_warning(absl::StrCat(
          "up to ", FormatCount(report_.near_left()), report_.near_left() == 1 ? " split" : " splits",
          " that were not replayed may be as fast as the first, because the closed form is up to ",
          absl::StrFormat("%.1f %%", 100 * report_.off_most()),
          " off; more are replayed with a larger --replay-nodes (0: any number) and --top"));
    } else if (report_.off_median() > kDoubtful) {
      report_.add_warning(absl::StrFormat(
          "the closed form is %.1f %% off in the median, and so are times of splits that were not replayed",
          100 * report_.off_median()));
    }
  }

  const PlanRequest& request_;
  std::unique_ptr<Prices> prices_;
  SplitSpace space_;
  Found found_;
  uint64_t memory_ = 0, limit_ = 0;
  size_t next_ = 0;       // index in found_.fitting of the next split to look at
  uint64_t misfits_ = 0;  // splits of found_.fitting that were looked at and do not fit
  double nodes_ = 0;      // nodes of all chosen splits
  std::vector<Chosen> chosen_;
  std::mutex told_;  // guards rows of chosen_ and calls of the caller's function while replays run
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
