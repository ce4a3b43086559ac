#include "replay/goodput/model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"

namespace chakra::goodput {
namespace presets {
absl::Span<const EmbeddedFile> Embedded();  // the files in presets/
}  // namespace presets

namespace {

constexpr int kRuns = 200;  // number of simulated runs
// Saves and failures of all runs; fewer runs are simulated if there are more.
constexpr double kMostFailures = 2e6;
constexpr char kBlocking[] = "blocking";
constexpr char kAsynchronous[] = "asynchronous";

absl::Status BadField(const std::string& field, double value, const char* expected) {
  return absl::InvalidArgumentError(absl::StrFormat("%s is %g; expected %s", field, value, expected));
}

absl::Status CheckReliability(const proto::Reliability& r) {
  for (int i = 0; i < r.failure_size(); ++i) {
    const proto::FailureRate& f = r.failure(i);
    const std::string at = absl::StrCat("failure[", i, "].");
    if (!(f.device_hours_between() >= 0))
      return BadField(at + "device_hours_between", f.device_hours_between(), "at least 0");
    if (!(f.per_1000_node_days() >= 0))
      return BadField(at + "per_1000_node_days", f.per_1000_node_days(), "at least 0");
    if (!(f.repair_hours() >= 0)) return BadField(at + "repair_hours", f.repair_hours(), "at least 0");
    if ((f.device_hours_between() > 0) == (f.per_1000_node_days() > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, "device_hours_between and per_1000_node_days: expected one of them above 0"));
    }
  }
  for (const auto& [name, figure] : {std::pair{"detection_seconds", &r.detection_seconds()},
                                     {"restart_seconds", &r.restart_seconds()},
                                     {"wait_without_spare_seconds", &r.wait_without_spare_seconds()}}) {
    if (!(figure->value() >= 0)) return BadField(absl::StrCat(name, ".value"), figure->value(), "at least 0");
  }
  if (r.devices_per_node() < 0) return BadField("devices_per_node", r.devices_per_node(), "at least 0");
  if (r.spare_nodes() < 0) return BadField("spare_nodes", r.spare_nodes(), "at least 0");
  return absl::OkStatus();
}

double Or(double value, double otherwise) { return value > 0 ? value : otherwise; }

// `block`, `persist` and `load` are in seconds.
struct Saves {
  double gbytes = 0, block = 0, persist = 0, load = 0;
};

absl::StatusOr<Saves> SavesOf(const LongRun& run, const proto::Checkpoint& c) {
  Saves out;
  out.gbytes = Or(c.gbytes(), Or(c.bytes_per_parameter(), 14) * run.parameters / 1e9);
  if (out.gbytes <= 0) {
    return absl::InvalidArgumentError(
        "--checkpoint: the size of a checkpoint is unknown; expected gbytes=GB, or a model with "
        "parameters");
  }
  if (c.storage_gbytes() > 0 && out.gbytes > c.storage_gbytes()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--checkpoint: storage_gbytes is %g; expected at least %g, the size of one checkpoint",
        c.storage_gbytes(), out.gbytes));
  }
  const double writers = std::max(1.0, run.devices * Or(c.writers_share(), 1));
  const double copy = out.gbytes / writers / Or(c.host_gbytes_per_s(), 25);
  const double store = out.gbytes / Or(c.storage_gbytes_per_s(), 2000);
  const bool blocking = c.mode() == kBlocking;
  out.block = blocking ? std::max(copy, store) : copy;
  out.persist = blocking ? 0 : store;
  out.load = std::max(copy, store);
  return out;
}

// The failures of a component: failures per hour of the run, and the mean number of nodes in repair.
struct Rate {
  double an_hour = 0, in_repair = 0;
};

Rate RateOf(const proto::FailureRate& f, double devices, double nodes) {
  Rate out;
  out.an_hour = f.device_hours_between() > 0 ? devices / f.device_hours_between()
                                             : nodes * f.per_1000_node_days() / 1000 / 24;
  out.in_repair = out.an_hour * f.repair_hours();
  return out;
}

void AddTime(const char* name, double seconds, double all, proto::GoodputReport* out) {
  proto::GoodputShare& share = *out->add_time();
  share.set_name(name);
  share.set_hours(seconds / 3600);
  share.set_share(all > 0 ? seconds / all : 0);
}

// Adds the expected time of the run by use.
void AddTimes(const Cycle& c, double work, proto::GoodputReport* out) {
  const double all = work * TimeOfWork(c);
  const double saves = work * c.block / c.interval;
  double failures = 0, restarts = 0, detection = 0;
  if (c.between > 0) {
    failures = work / c.interval * std::expm1((c.interval + c.block) / c.between);
    restarts = failures * c.between * std::expm1(c.restart / c.between);
    detection = failures * c.detect * std::exp(c.restart / c.between);
  }
  AddTime("work that counts", work, all, out);
  AddTime("saves", saves, all, out);
  AddTime("work and saves done again", std::max(0.0, all - work - saves - restarts - detection), all, out);
  AddTime("detection and waiting", detection, all, out);
  AddTime("restarts and loads", restarts, all, out);
}

void Simulate(const Cycle& cycle, double work, uint64_t seed, proto::GoodputReport* out) {
  if (cycle.between <= 0 || !std::isfinite(TimeOfWork(cycle))) return;
  const double events = (work / cycle.interval + 2 * work * TimeOfWork(cycle) / cycle.between);
  const int runs = std::clamp(static_cast<int>(kMostFailures / std::max(1.0, events)), 4, kRuns);
  if (events > 10 * kMostFailures) {
    out->add_note("not simulated: the run has too many failures and saves");
    return;
  }
  const Simulated simulated = SimulateRuns(cycle, work, runs, seed);
  out->set_simulated_goodput(simulated.goodput);
  out->set_simulated_error(simulated.error);
  out->add_note(absl::StrFormat("simulated: the mean of %d runs, failure by failure", runs));
}

}  // namespace

std::vector<std::string> ReliabilityPresets() { return EmbeddedNames(presets::Embedded()); }

absl::StatusOr<proto::Reliability> LoadReliability(const std::string& preset_or_file) {
  proto::Reliability out;
  const absl::string_view preset = FindEmbedded(presets::Embedded(), absl::StrCat(preset_or_file, ".txtpb"));
  if (!preset.empty()) {
    absl::Status s = ParseTextMessage(preset, absl::StrCat("preset ", preset_or_file), &out);
    return s.ok() ? absl::StatusOr<proto::Reliability>(out) : s;
  }
  struct stat unused;
  if (::stat(preset_or_file.c_str(), &unused) != 0) {
    return absl::NotFoundError(absl::StrCat("--reliability \"", preset_or_file,
                                            "\" is neither a preset nor a file",
                                            SuggestName(preset_or_file, ReliabilityPresets())));
  }
  RETURN_IF_ERROR(ReadMessageFile(preset_or_file, &out));
  if (absl::Status s = CheckReliability(out); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat(preset_or_file, ": ", s.message()));
  if (out.name().empty()) out.set_name(preset_or_file);
  return out;
}

absl::StatusOr<proto::Checkpoint> ParseCheckpoint(absl::string_view text) {
  proto::Checkpoint out;
  if (!text.empty()) {
    RETURN_IF_ERROR(ReadSettings(text, "--checkpoint", &out));
  }
  if (out.mode().empty()) out.set_mode(kAsynchronous);
  if (out.mode() != kBlocking && out.mode() != kAsynchronous) {
    return absl::InvalidArgumentError(absl::StrCat("--checkpoint: mode is \"", out.mode(), "\"; expected ",
                                                   kBlocking, " or ", kAsynchronous,
                                                   SuggestName(out.mode(), {kBlocking, kAsynchronous})));
  }
  return out;
}

absl::StatusOr<proto::GoodputReport> GoodputOf(const LongRun& run, const proto::Reliability& reliability,
                                               const proto::Checkpoint& checkpoint, uint64_t seed) {
  ASSIGN_OR_RETURN(const auto saves, SavesOf(run, checkpoint));
  const double nodes =
      run.devices / (reliability.devices_per_node() > 0 ? reliability.devices_per_node() : 8);
  Rate all;
  for (const proto::FailureRate& f : reliability.failure()) {
    const Rate rate = RateOf(f, run.devices, nodes);
    all.an_hour += rate.an_hour;
    all.in_repair += rate.in_repair;
  }
  Cycle cycle;
  cycle.between = all.an_hour > 0 ? 3600 / all.an_hour : 0;
  cycle.block = saves.block;
  cycle.restart = reliability.restart_seconds().value() + saves.load;
  const double spare = ChanceOfSpare(all.in_repair, reliability.spare_nodes());
  cycle.detect = reliability.detection_seconds().value() +
                 (1 - spare) * reliability.wait_without_spare_seconds().value();
  const double best =
      cycle.between > 0 ? std::max(saves.persist, BestInterval(cycle.between, cycle.block)) : 0;
  const double work = run.steps * run.step_seconds;
  cycle.interval = Or(checkpoint.interval_seconds(), best > 0 ? best : work);
  cycle.persist = saves.persist;
  if (cycle.persist > cycle.interval) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--checkpoint: interval_seconds is %g; expected at least %g, which a save takes to reach storage",
        cycle.interval, cycle.persist));
  }
  proto::GoodputReport out;
  out.set_reliability(reliability.name());
  out.set_steps(run.steps);
  out.set_step_seconds(run.step_seconds);
  out.set_mean_hours_between_failures(cycle.between / 3600);
  out.set_checkpoint_gbytes(saves.gbytes);
  out.set_blocking_seconds(saves.block);
  out.set_persist_seconds(saves.persist);
  out.set_load_seconds(saves.load);
  out.set_interval_seconds(cycle.interval);
  out.set_best_interval_seconds(best);
  out.set_young_seconds(YoungInterval(cycle.between, cycle.block));
  out.set_daly_seconds(DalyInterval(cycle.between, cycle.block));
  out.set_spare_nodes(reliability.spare_nodes());
  out.set_goodput(Goodput(cycle));
  out.set_meta_goodput(MetaGoodput(cycle));
  out.set_useful_hours(work / 3600);
  out.set_hours(work * TimeOfWork(cycle) / 3600);
  out.set_failures(out.hours() * all.an_hour);
  AddTimes(cycle, work, &out);
  for (const proto::FailureRate& f : reliability.failure()) {
    proto::GoodputShare& cause = *out.add_cause();
    const Rate rate = RateOf(f, run.devices, nodes);
    cause.set_name(f.component());
    cause.set_share(all.an_hour > 0 ? rate.an_hour / all.an_hour : 0);
    cause.set_hours((out.hours() - out.useful_hours() - out.time(1).hours()) * cause.share());
  }
  Simulate(cycle, work, seed, &out);
  return out;
}

void AddFooting(const Footing& f, proto::GoodputReport* report) {
  const double hours = report->hours();
  const double working = report->time(0).hours() + report->time(2).hours();
  const double kwh_without = f.step_kwh * report->steps();
  const double kwh = (working * f.working_watts + (hours - working) * f.resting_watts) / 1e3;
  report->set_energy_kwh(kwh);
  report->set_energy_kwh_without(kwh_without);
  const double longer = report->useful_hours() > 0 ? hours / report->useful_hours() : 1;
  const double more = kwh_without > 0 ? kwh / kwh_without : 1;
  if (f.cost != nullptr) {
    double electricity = 0;
    for (const proto::CostShare& part : f.cost->part()) {
      if (part.name() == "electricity") electricity = part.dollars_per_step();
    }
    const double rest = f.cost->dollars_per_step() - electricity;
    report->set_dollars_without(f.cost->dollars_per_step() * report->steps());
    report->set_dollars((rest * longer + electricity * more) * report->steps());
  }
  if (f.carbon != nullptr) {
    report->set_kg_without(f.carbon->kg() * report->steps());
    report->set_kg((f.carbon->operational_kg() * more + f.carbon->embodied_footprint_kg() * longer) *
                   report->steps());
  }
}

}  // namespace chakra::goodput
