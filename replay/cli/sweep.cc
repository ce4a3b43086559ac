#include "replay/sweep/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/cli/command.h"
#include "replay/cli/on_signal.h"
#include "replay/cli/progress.h"
#include "replay/cli/sweep_mpi.h"
#include "replay/cli/sweep_questions.h"
#include "replay/cli/terminal.h"
#include "replay/sweep/export.h"
#include "replay/sweep/points.h"
#include "replay/sweep/query.h"
#include "replay/sweep/slurm.h"
#include "replay/sweep/words.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/threads.h"

namespace chakra::cli {
namespace {

// A progress bar on stderr, if it is a terminal.
class SweepBar {
 public:
  explicit SweepBar(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) == 1) {}
  ~SweepBar() { Erase(); }
  void Update(const sweep::RunnerProgress& p) {
    if (!enabled_) return;
    constexpr int kWidth = 30;
    const double share = p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 1;
    const int filled = static_cast<int>(share * kWidth);
    const std::string left = p.done > 0 ? DurationText(p.seconds * (1 - share) / share) : "?";
    const std::string failed = p.failed > 0 ? absl::StrCat(", ", p.failed, " failed") : "";
    const std::string line =
        absl::StrCat("\r\033[K[", std::string(filled, '#'), std::string(kWidth - filled, '.'), "] ", p.done,
                     " of ", p.total, " points", failed, ", about ", left, " left");
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
    drawn_ = true;
  }
  void Erase() {
    if (!drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
  }

 private:
  bool enabled_;
  bool drawn_ = false;
};

class SweepCommand : public Command {
 public:
  explicit SweepCommand(CLI::App* app);
  int Run() override;

 private:
  int RunPoints();
  absl::Status DryRun(const sweep::Space& space) const;
  absl::Status WriteArray(const sweep::Spec& spec, const sweep::Space& space) const;
  absl::StatusOr<sweep::SweepSummary> Sweep(const sweep::Spec& spec, const sweep::Space& space);
  // The work of all processes of mpirun except the first.
  int WorkForOthers();
  absl::Status Finish(const sweep::SweepSummary& summary) const;
  // Prints the failures and the place of their error messages to stderr.
  void TellFailed(const sweep::SweepSummary& summary) const;

  std::string spec_, shard_;
  std::vector<std::string> formats_;
  bool dry_run_ = false, quiet_ = false, timing_ = false;
  int slurm_ = 0;
  size_t trace_cache_ = 2;
  sweep::SweepOptions options_;
  std::unique_ptr<SweepProcesses> processes_;  // null: there is only this process
  std::optional<StopOnSignal> stop_on_signal_;
  SweepQuestions questions_;
};

SweepCommand::SweepCommand(CLI::App* app) : Command(app), questions_(app) {
  app->allow_extras();
  app->add_option("SPEC", spec_, "Spec of the sweep (proto/sweep.proto): text format, JSON or binary.")
      ->type_name("");
  app->add_option("-o,--output", options_.folder,
                  "Folder of the results. Points that it has already are not run again.")
      ->type_name("DIR");
  app->add_option("--jobs", options_.runner.jobs,
                  "Number of points at the same time; default: the machine's cores.")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  app->add_option("--format", formats_,
                  "Tables to write: csv, jsonl, sqlite, html, separated by commas; default: csv. html: see "
                  "`chakra-replay sweep "
                  "page`.")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(OneOf(ResultFormats()));
  app->add_flag("--timing", timing_, "Add the column wall_s to tables. It differs between runs.");
  app->add_flag("--dry-run", dry_run_, "Check the spec, and print the command of each point.");
  app->add_flag("--retry-failed", options_.retry_failed, "Run points that failed before again.");
  app->add_flag("--continue-changed", options_.continue_changed,
                "Continue in a folder of another spec or version. Results of equal commands are kept.");
  app->add_option("--limit", options_.limit, "Limit of points to run now.")->type_name("N");
  app->add_option("--trace-cache", trace_cache_, "Number of sets of traces in memory; default: 2.")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  AddMemoryOption(app, "Options");
  app->add_option("--shard", shard_,
                  "Run only points I, I + N, ...; `chakra-replay sweep merge` joins the folders.")
      ->type_name("I/N");
  app->add_option("--slurm", slurm_,
                  "Write a job array of N tasks for Slurm to DIR, and run nothing. With fewer points it has "
                  "as many tasks as points. "
                  "Its tasks get the other options, and share --limit.")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  app->add_flag("-q,--quiet", quiet_, "Print no progress bar and no summary.");
  app->footer(
      "Example:\n"
      "  chakra-replay sweep examples/sweeps/small.txtpb -o /tmp/small\n"
      "  chakra-replay sweep best /tmp/small\n"
      "  chakra-replay sweep page /tmp/small -o small.html\n"
      "Exit status: 0 done; 1 a point failed, or an error of the input or the run; 2 an error of the command "
      "line.");
  options_.runner.jobs = DefaultThreads();
  options_.version = CHAKRA_VERSION;
}

absl::Status SweepCommand::DryRun(const sweep::Space& space) const {
  std::string out;
  for (const sweep::Place& place : space.points()) {
    ASSIGN_OR_RETURN(auto command, sweep::CommandOf(space, place));
    absl::StrAppend(&out, command, "\n");
  }
  RETURN_IF_ERROR(WriteOutput("-", out));
  if (quiet_) return absl::OkStatus();
  if (space.spec().has_search()) {
    uint64_t points = 1;
    for (const auto& unit : space.units()) points *= unit.count;
    std::fprintf(stderr, "a search in a grid of %s points\n", FormatCount(points).c_str());
  } else {
    std::fprintf(stderr, "%s points%s\n", FormatCount(space.points().size()).c_str(),
                 space.left_out() > 0
                     ? absl::StrCat(", ", FormatCount(space.left_out()), " left out by constraints").c_str()
                     : "");
  }
  return absl::OkStatus();
}

// Writes a Slurm array whose tasks run this command: all options that are not about the array itself are
// passed to each task.
absl::Status SweepCommand::WriteArray(const sweep::Spec& spec, const sweep::Space& space) const {
  const auto points = space.points().size();
  sweep::SlurmJob job = {.spec = spec_, .folder = options_.folder, .name = spec.sweep.name()};
  job.tasks = static_cast<uint64_t>(slurm_);
  job.jobs = options_.runner.jobs;
  job.limit = options_.limit;
  if (!spec.sweep.has_search()) job.tasks = std::min<uint64_t>(job.tasks, std::max<uint64_t>(1, points));
  if (job.limit > 0) job.tasks = std::min(job.tasks, job.limit);
  const std::set<std::string> own = {"-o", "--jobs", "--shard", "--slurm", "--limit", "--quiet", "--dry-run"};
  for (const CLI::Option* option : app()->get_options()) {
    const std::string name = option->get_lnames().empty() ? "" : "--" + option->get_lnames().front();
    if (option->count() == 0 || name.empty() || name == "--output" || own.count(name) > 0) continue;
    std::vector<std::string>& words = name == "--format" || name == "--timing" ? job.table_words : job.words;
    words.push_back(name);
    if (option->get_expected_min() > 0) words.push_back(absl::StrJoin(option->results(), ","));
  }
  ASSIGN_OR_RETURN(const auto script, sweep::WriteSlurm(job));
  if (quiet_) return absl::OkStatus();
  if (job.tasks < static_cast<uint64_t>(slurm_))
    std::printf("%s points to run: an array of %s tasks\n",
                FormatCount(job.limit > 0 ? std::min<uint64_t>(job.limit, points) : points).c_str(),
                FormatCount(job.tasks).c_str());
  std::printf("submit with: sh %s\n", sweep::QuoteWord(script).c_str());
  return absl::OkStatus();
}

absl::StatusOr<sweep::SweepSummary> SweepCommand::Sweep(const sweep::Spec& spec, const sweep::Space& space) {
  sweep::SweepPoints points(trace_cache_, std::max(1, DefaultThreads() / options_.runner.jobs));
  auto slow = sweep::CheckPoints(space, &points);
  if (!slow.ok()) return sweep::InSpec(spec, slow.status());
  if (dry_run_) {
    RETURN_IF_ERROR(DryRun(space));
    return sweep::SweepSummary();
  }
  if (slurm_ > 0) {
    RETURN_IF_ERROR(WriteArray(spec, space));
    return sweep::SweepSummary();
  }
  options_.slow_axes = *slow;
  SweepBar bar(quiet_);
  options_.runner.progress = [&bar](const sweep::RunnerProgress& p) { bar.Update(p); };
  options_.runner.stop = StopOnSignal::flag();
  if (processes_ != nullptr) {
    options_.runner.serve = [&](sweep::TaskSource* source) {
      processes_->Serve(source, space, options_.runner.progress);
    };
  }
  stop_on_signal_.emplace();
  return sweep::RunSweep(
      spec, space, [&](const std::vector<std::string>& words) { return points.Run(words); }, options_);
}

absl::Status SweepCommand::Finish(const sweep::SweepSummary& summary) const {
  ASSIGN_OR_RETURN(auto results, sweep::LoadResults({options_.folder}));
  absl::StatusOr<std::string> written =
      absl::StrCat("tables of all shards: chakra-replay sweep export ", sweep::QuoteWord(options_.folder));
  if (options_.shard.count == 1) written = ExportResults(results, formats_, timing_, options_.folder);
  if (!written.ok()) return written.status();
  for (const std::string& warning : results.warnings) PrintError(warning);
  if (quiet_) return absl::OkStatus();
  std::string out = absl::StrCat(options_.folder, ": ", FormatCount(summary.points),
                                 summary.points == 1 ? " point, " : " points, ", FormatCount(summary.run),
                                 " run in ", absl::StrFormat("%.1f s", summary.seconds));
  if (summary.done_before > 0) absl::StrAppend(&out, ", ", FormatCount(summary.done_before), " had results");
  if (summary.left > 0) absl::StrAppend(&out, ", ", FormatCount(summary.left), " left");
  if (summary.failed > 0) absl::StrAppend(&out, ", ", FormatCount(summary.failed), " failed");
  if (summary.damaged > 0)
    absl::StrAppend(&out, "\n", FormatCount(summary.damaged),
                    " damaged lines of an interrupted run were dropped, their points run again");
  if (!summary.search.empty()) absl::StrAppend(&out, "\n", summary.search);
  absl::StrAppend(&out, "\n", *written, "\n");
  if (options_.shard.count > 1) return WriteOutput("-", out);
  out += "\n";
  ASSIGN_OR_RETURN(auto query, sweep::Query::Make(results, "", false));
  ASSIGN_OR_RETURN(auto best, query.Best(std::nullopt, 5));
  TextPage page = PageOf("-");
  absl::StrAppend(&out, sweep::PrintAnswer(best, &page));
  return WriteOutput("-", page.Finish(out));
}

void SweepCommand::TellFailed(const sweep::SweepSummary& summary) const {
  const std::string where =
      options_.shard.count > 1
          ? absl::StrCat("the tables of `chakra-replay sweep export ", sweep::QuoteWord(options_.folder), "`")
          : absl::StrCat(options_.folder, "/results.", formats_.empty() ? "csv" : formats_.front());
  PrintError(absl::StrCat(FormatCount(summary.failed), " of ", FormatCount(summary.points),
                          summary.points == 1 ? " point" : " points", " failed; ",
                          summary.failed == 1 ? "its error is" : "their errors are", " in ", where));
}

int SweepCommand::RunPoints() {
  if (spec_.empty())
    return Misuse("sweep expects a SPEC, or a command: best, pareto, table, page, merge or export");
  if (options_.folder.empty() && !dry_run_) return Misuse("sweep expects -o DIR");
  if (!shard_.empty()) {
    auto shard = sweep::ParseShard(shard_);
    if (!shard.ok()) return Misuse(absl::StrCat("--shard ", shard.status().message()));
    options_.shard = *shard;
  }
  auto spec = sweep::ReadSpec(spec_);
  if (!spec.ok()) return Fail(spec.status());
  auto space = sweep::Space::Make(spec->sweep);
  if (!space.ok()) return Fail(sweep::InSpec(*spec, space.status()));
  if (spec->sweep.has_search() && options_.shard.count > 1) return Misuse("--shard cannot divide a search");
  if (slurm_ > 0 && !shard_.empty())
    return Misuse("--slurm divides the sweep itself; expected it without --shard");
  if (spec->sweep.has_search() && slurm_ > 1)
    return Misuse("--slurm cannot divide a search; expected --slurm 1");
  auto summary = Sweep(*spec, *space);
  if (!summary.ok() && absl::IsCancelled(summary.status())) {
    PrintError(absl::StrCat(summary.status().message(), "; the same command continues from here"));
    return kFailed;
  }
  if (!summary.ok()) return Fail(summary.status());
  if (dry_run_ || slurm_ > 0) return kDone;
  if (absl::Status s = Finish(*summary); !s.ok()) return Fail(s);
  if (summary->failed == 0) return kDone;
  TellFailed(*summary);
  return kFailed;
}

int SweepCommand::WorkForOthers() {
  sweep::SweepPoints points(trace_cache_, 1);
  const absl::Status s =
      processes_->Work([&](const std::vector<std::string>& words) { return points.Run(words); });
  return s.ok() ? kDone : Fail(s);
}

int SweepCommand::Run() {
  if (questions_.asked()) return questions_.Run();
  auto processes = SweepProcesses::Join();
  if (!processes.ok()) return Fail(processes.status());
  processes_ = *std::move(processes);
  if (processes_ != nullptr) {
    if (processes_->rank() > 0) return WorkForOthers();
    if (app()->count("--jobs") > 0) return Misuse("--jobs: each process of mpirun runs one point at a time");
    options_.runner.jobs = 1;
  }
  return RunPoints();
}

}  // namespace

std::unique_ptr<Command> MakeSweepCommand(CLI::App* root) {
  return std::make_unique<SweepCommand>(
      root->add_subcommand("sweep", "Replay on many machines, and find the best one"));
}

}  // namespace chakra::cli
