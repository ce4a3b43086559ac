#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/command.pb.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/on_signal.h"
#include "replay/cli/terminal.h"
#include "replay/report/edits.h"
#include "replay/run/edits.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"
#include "trace/edit/write_set.h"
#include "trace/et/read_options.h"
#include "trace/import/inputs.h"
#include "trace/import/registry.h"
#include "trace/io/compressed_file.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

class EditCommand : public Command {
 public:
  explicit EditCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option("IN", inputs_, InputsHelp())->type_name("");
    app->add_option("-o,--output", output_,
                    "Folder for the traces, or a file for one trace; - is standard output.")
        ->type_name("OUT");
    app->add_flag("--dry-run", dry_run_, "Report the edits, and write no traces.");
    AddOptions(app, &edits_);
    const std::string g = "Traces and captures";
    app->add_option("--compression", compression_,
                    "Compression: none, gzip or zstd; default: by the ending of OUT, or as the inputs.")
        ->type_name("METHOD")
        ->check(OneOf({"none", "gzip", "zstd"}))
        ->group(g);
    AddGroupsOption(app, &read_, g);
    app->add_flag("--strict", read_.strict, "Refuse inputs that would otherwise be repaired.")->group(g);
    app->add_flag("--allow-truncated", read_.allow_truncated,
                  "Drop a partial last node of a trace; without it the trace is refused.")
        ->group(g);
    app->add_option(
           "--report", report_,
           "Write the report of the edits to FILE; .json: as JSON; default: -, standard output. With -o - "
           "the default is standard error.")
        ->type_name("FILE|-")
        ->group(g);
    app->add_option("--threads", read_.threads,
                    "Number of threads; default: the machine's cores. The result does not depend on it.")
        ->type_name("N")
        ->check(CLI::Range(1, 4096).description(""))
        ->group(g);
    app->add_flag("-q,--quiet", quiet_, "Print no report.")->group(g);
    AddCaptureOptions(app, &read_);
    read_.threads = DefaultThreads();
    app->footer(
        "Examples:\n"
        "  chakra-replay edit examples/transformer_step -o faster --scale 'mlp=0.5'\n"
        "  chakra-replay edit examples/transformer_step --script examples/what_if/larger_buckets.txtpb "
        "--dry-run\n"
        "trace/edit/README.md describes each edit, proto/edit.proto the format of scripts.");
  }

  int Run() override;

 private:
  absl::Status Edit();
  absl::Status Report(const proto::EditReport& report) const;
  std::optional<Compression> Method() const;

  std::vector<std::string> inputs_;
  ReadOptions read_;
  proto::EditedTraces::Edits edits_;
  std::string output_, compression_;
  std::string report_ = "-";
  bool dry_run_ = false, quiet_ = false;
};

std::optional<Compression> EditCommand::Method() const {
  if (compression_ == "gzip") return Compression::kGzip;
  if (compression_ == "zstd") return Compression::kZstd;
  return compression_.empty() ? std::nullopt : std::optional(Compression::kNone);
}

absl::Status EditCommand::Report(const proto::EditReport& report) const {
  if (report_ != "-") {
    if (FormatOf(report_) != "json") return WriteFile(report_, PrintEdits(report));
    return WriteMessageFile(report, MessageFormat::kJson, report_);
  }
  if (quiet_) return absl::OkStatus();
  TextPage page = PageOf(output_ == "-" ? "" : "-");  // the traces may go to standard output
  const std::string text = page.Finish(PrintEdits(report, &page));
  if (output_ != "-") return WriteOutput("-", text);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return absl::OkStatus();
}

// Discards the edited traces.
class Nowhere : public RankRewriter {
 public:
  explicit Nowhere(edit::EditRun* run) : run_(*run) {}
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>*) override {
    std::vector<Rewritten> made;
    return run_.Rewrite(std::move(trace), &made);
  }

 private:
  edit::EditRun& run_;
};

// Whether there may be more than one trace. The output is then a folder.
bool ManyTraces(const std::vector<std::string>& inputs, const ReadOptions& read, const std::string& output) {
  if (read.capture.named()) return false;
  if (ImporterOfRun(inputs, read) != nullptr) return !ParseTraceName(output).is_trace && output != "-";
  absl::StatusOr<std::vector<TraceFile>> files = ResolveInputs(inputs);
  return !files.ok() || files->size() > 1 || absl::StrContains(files->front().path, ".tar");
}

absl::Status EditCommand::Edit() {
  KeepFreedMemory();
  ASSIGN_OR_RETURN(const ReadEdits edits, MakeEdits(edits_.edit()));
  const edit::EditPlan& plan = *edits.plan;
  edit::EditRun run(&plan);
  if (dry_run_) {
    Nowhere nowhere(&run);
    absl::StatusOr<TraceSet> set = edit::ReadEdited(inputs_, read_, plan, &run, &nowhere);
    if (!set.ok()) return set.status();
    absl::StatusOr<proto::EditReport> report = run.Finish();
    return report.ok() ? Report(*report) : report.status();
  }
  edit::EditedOutput out(output_, Method(), &run);
  const OnSignal discard([&] { out.Discard(); });
  const bool many = ManyTraces(inputs_, read_, output_);
  RETURN_IF_ERROR(out.Open(many));
  ASSIGN_OR_RETURN(TraceSet set, edit::ReadEdited(inputs_, read_, plan, &run, &out));
  ASSIGN_OR_RETURN(proto::EditReport report, run.Finish());
  report.set_version(CHAKRA_VERSION);
  RETURN_IF_ERROR(out.Commit(set));
  for (const std::string& warning : set.warnings) PrintError(absl::StrCat("warning: ", warning));
  if (absl::Status s = Report(report); !s.ok()) {
    return absl::Status(
        s.code(), absl::StrCat("the traces are written to ", output_, ", the report is not: ", s.message()));
  }
  return absl::OkStatus();
}

int EditCommand::Run() {
  if (absl::Status s = CheckEdits(edits_.edit()); !s.ok()) return Misuse(std::string(s.message()));
  if (inputs_.empty() && !read_.capture.named()) return Misuse("edit expects at least one IN");
  if (output_.empty() && !dry_run_) return Misuse("edit expects -o OUT, or --dry-run");
  if (!output_.empty() && dry_run_) return Misuse("--dry-run writes nothing; expected no -o");
  if (edits_.edit().empty())
    return Misuse("edit expects an edit: --script FILE, --do EDIT, or a short form as --scale");
  if (absl::Status s = CheckOutputPath(report_); !s.ok()) return Fail(s);
  const absl::Status status = Edit();
  return status.ok() ? kDone : Fail(status);
}

}  // namespace

std::unique_ptr<Command> MakeEditCommand(CLI::App* root) {
  return std::make_unique<EditCommand>(root->add_subcommand("edit", "Apply what-if edits to traces"));
}

}  // namespace chakra::cli
