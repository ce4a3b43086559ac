#include "replay/report/goodput.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/goodput/model.h"
#include "replay/report/row_table.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/generate/counts.h"

namespace chakra {
namespace {

std::string Hours(double hours) {
  return hours >= 48 ? absl::StrFormat("%.4g days", hours / 24) : absl::StrFormat("%.4g h", hours);
}

std::string Whole(double number) { return FormatCount(static_cast<uint64_t>(number + 0.5)); }

// "with failures, without: difference in percent"
std::string Both(const char* name, double with, double without, const char* unit) {
  if (without <= 0) return "";
  return absl::StrFormat("  %-8s %s%s with failures, %s without: %+.1f %%\n", name, Whole(with), unit,
                         Whole(without), 100 * (with / without - 1));
}

}  // namespace

absl::Status AddGoodput(const RunOptions& options, const Metering* metering, const generate::StepPlan* plan,
                        proto::Report* report) {
  ASSIGN_OR_RETURN(const auto reliability, goodput::LoadReliability(options.reliability));
  ASSIGN_OR_RETURN(const auto checkpoint, goodput::ParseCheckpoint(options.checkpoint));
  goodput::LongRun run;
  run.devices = report->ranks();
  run.step_seconds = static_cast<double>(report->makespan_ps()) * 1e-12;
  run.steps = options.steps > 0 ? static_cast<double>(options.steps) : 30 * 86400 / run.step_seconds;
  if (plan != nullptr) run.parameters = static_cast<double>(generate::TrainedParameters(*plan));
  if (run.step_seconds <= 0) return absl::InvalidArgumentError("--reliability: the step takes no time");
  auto goodput = goodput::GoodputOf(run, reliability, checkpoint, options.seed == 0 ? 1 : options.seed);
  if (!goodput.ok()) return goodput.status();
  if (metering != nullptr) {
    goodput::Footing footing;
    footing.working_watts = report->energy().mean_watts();
    footing.resting_watts = metering->RestingWatts();
    footing.step_seconds = run.step_seconds;
    footing.step_kwh = static_cast<double>(report->energy().microjoules()) / 3.6e12;
    footing.cost = report->has_cost() ? &report->cost() : nullptr;
    footing.carbon = report->has_carbon() ? &report->carbon() : nullptr;
    goodput::AddFooting(footing, &*goodput);
  }
  *report->mutable_goodput() = *std::move(goodput);
  return absl::OkStatus();
}

std::string PrintGoodput(const proto::GoodputReport& g, TextPage* page) {
  if (g.steps() <= 0) return "";
  std::string out = absl::StrFormat(
      "\nA run of %s steps of %.6g s, with failures (rates: %s)\n  time     %s, with %s of work that counts: "
      "effective time %.2f %% (by Meta's approximation %.2f %%)\n",
      Whole(g.steps()), g.step_seconds(), g.reliability(), Hours(g.hours()), Hours(g.useful_hours()),
      100 * g.goodput(), 100 * g.meta_goodput());
  if (g.simulated_goodput() > 0) {
    absl::StrAppendFormat(&out, "           failure by failure %.2f %%, standard error %.3f\n",
                          100 * g.simulated_goodput(), 100 * g.simulated_error());
  }
  if (g.mean_hours_between_failures() > 0) {
    absl::StrAppendFormat(&out, "  failures %.4g, one in %s; %d spare nodes\n", g.failures(),
                          Hours(g.mean_hours_between_failures()), g.spare_nodes());
  }
  absl::StrAppendFormat(
      &out,
      "  saves    %.4g GB, each blocks for %.3g s, is on storage %.3g s later, loads in %.3g s\n"
      "  interval %.4g s of work between saves; the best %.4g, Young's %.4g, Daly's %.4g\n",
      g.checkpoint_gbytes(), g.blocking_seconds(), g.persist_seconds(), g.load_seconds(),
      g.interval_seconds(), g.best_interval_seconds(), g.young_seconds(), g.daly_seconds());
  absl::StrAppend(&out, Both("energy", g.energy_kwh(), g.energy_kwh_without(), " kWh"),
                  Both("cost", g.dollars(), g.dollars_without(), " $"),
                  Both("carbon", g.kg(), g.kg_without(), " kg CO2e"));
  for (const std::string& note : g.note()) absl::StrAppend(&out, "  note     ", note, "\n");
  RowTable<proto::GoodputShare> time, cause;
  for (const proto::GoodputShare& share : g.time()) time.Add(share);
  cause.Title("name", "lost by failures of");
  for (const proto::GoodputShare& share : g.cause()) cause.Add(share);
  absl::StrAppend(&out, "\n", time.Print(page));
  if (g.cause_size() > 0) absl::StrAppend(&out, "\n", cause.Print(page));
  return out;
}

}  // namespace chakra
