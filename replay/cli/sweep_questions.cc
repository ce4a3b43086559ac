#include "replay/cli/sweep_questions.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/cli/command.h"
#include "replay/cli/terminal.h"
#include "replay/sweep/export.h"
#include "replay/sweep/journal.h"
#include "replay/sweep/page.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/io/compressed_file.h"

namespace chakra::cli {

const std::vector<std::string>& ResultFormats() {
  static const auto* const kFormats = new std::vector<std::string>{"csv", "jsonl", "sqlite", "html"};
  return *kFormats;
}

absl::StatusOr<std::string> ExportResults(const sweep::Results& results,
                                          const std::vector<std::string>& formats, bool timing,
                                          const std::string& folder) {
  std::vector<std::string> names = formats;
  if (names.empty()) names.emplace_back("csv");
  std::vector<std::string> written;
  for (const std::string& format : names) {
    const std::string path = absl::StrCat(folder, "/results.", format);
    absl::Status s;
    if (format == "csv") s = WriteFile(path, sweep::ToCsv(results, timing));
    if (format == "sqlite") s = sweep::WriteSqlite(results, timing, path);
    if (format == "jsonl") {
      auto lines = sweep::ToJsonLines(results, timing);
      s = lines.ok() ? WriteFile(path, *lines) : lines.status();
    }
    if (format == "html") {
      auto page = sweep::MakePage(results, {"", "", timing});
      s = page.ok() ? WriteFile(path, *page) : page.status();
    }
    if (!s.ok()) return s;
    written.push_back(path);
  }
  return absl::StrCat("written: ", absl::StrJoin(written, ", "));
}

SweepQuestions::SweepQuestions(CLI::App* sweep) {
  best_ = Add(sweep, "best", "Print the best points by the objective of the sweep, or by a metric", true);
  best_
      ->add_option("--by", by_,
                   "Metric or expression, as min:EXPRESSION or max:EXPRESSION; default: the objective.")
      ->type_name("AIM");
  best_->add_option("--top", top_, "Number of points; default: 10.")->type_name("N");
  pareto_ =
      Add(sweep, "pareto", "Print the points that no other point beats in all of several metrics", true);
  pareto_
      ->add_option("--of", aims_,
                   "Two or more metrics, separated by commas, as makespan_ps,max:busbw_gbytes_per_s.")
      ->type_name("AIMS")
      ->delimiter(',')
      ->allow_extra_args(false);
  table_ = Add(sweep, "table", "Print a metric by the values of one or two axes", true);
  table_->add_option("--rows", rows_, "Axis of the rows.")->type_name("AXIS");
  table_->add_option("--columns", columns_, "Axis of the columns.")->type_name("AXIS");
  table_->add_option("--show", show_, "Metric or expression; default: the objective.")->type_name("AIM");
  table_->add_option("--take", take_, "Value of a cell with several points: best or mean; default: best.")
      ->type_name("HOW")
      ->check(OneOf({"best", "mean"}));
  page_ = Add(sweep, "page", "Write the results as one HTML page: charts, tables, the spec", false);
  page_->add_option("-o,--output", output_, "Write to FILE; - is standard output; default: DIR/results.html.")
      ->type_name("FILE");
  AddWhere(page_);
  page_
      ->add_option("--by", by_,
                   "Metric or expression that ranks points, as for `best`; default: the objective.")
      ->type_name("AIM");
  page_->add_flag("--timing", timing_, "Add the column wall_s.");
  merge_ = Add(sweep, "merge", "Join the folders of shards, or of other parts of one sweep", false);
  export_ = Add(sweep, "export", "Write the tables of a folder again", false);
  for (CLI::App* app : {merge_, export_}) {
    app->add_option(
           "-o,--output", output_,
           app == merge_ ? "Folder to write; default: the first DIR." : "Folder to write; default: DIR.")
        ->type_name("DIR");
    app->add_option("--format", formats_,
                    "Tables to write: csv, jsonl, sqlite, html, separated by commas; default: csv.")
        ->type_name("LIST")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(OneOf(ResultFormats()));
    app->add_flag("--timing", timing_, "Add the column wall_s.");
  }
}

CLI::App* SweepQuestions::Add(CLI::App* sweep, const std::string& name, const std::string& about,
                              bool answers) {
  CLI::App* app = sweep->add_subcommand(name, about);
  app->allow_extras();
  app->add_option("DIR", folders_, "Folders with results of one sweep.")->type_name("");
  if (!answers) return app;
  AddWhere(app);
  app->add_option("--format", format_, "Format of the output: text or csv; default: text.")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "csv"}));
  return app;
}

void SweepQuestions::AddWhere(CLI::App* app) {
  app->add_option("--where", where_,
                  "Use only points that meet an expression, as 'spines > 4 and devices <= 512'.")
      ->type_name("EXPRESSION");
}

const CLI::App* SweepQuestions::Asked() const {
  for (const CLI::App* app : {best_, pareto_, table_, page_, merge_, export_}) {
    if (app->parsed()) return app;
  }
  return nullptr;
}

absl::Status SweepQuestions::WritePage(const sweep::Results& results) const {
  const std::string path = output_.empty() ? absl::StrCat(folders_[0], "/results.html") : output_;
  RETURN_IF_ERROR(CheckOutputPath(path));
  ASSIGN_OR_RETURN(auto page, sweep::MakePage(results, {where_, by_, timing_}));
  if (path == "-") return WriteOutput("-", page);
  RETURN_IF_ERROR(WriteOutput(path, page));
  return WriteOutput("-", absl::StrCat("written: ", path, "\n"));
}

absl::Status SweepQuestions::Write(const sweep::Results& results) const {
  const std::string folder = output_.empty() ? folders_[0] : output_;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot make the folder ", folder, ": ", error.message()));
  if (merge_->parsed()) {
    // Writes one journal with all results, so that `sweep` can continue in the folder.
    ASSIGN_OR_RETURN(auto journal,
                     sweep::JournalWriter::Open(absl::StrCat(folder, "/points.journal"), *results.start));
    for (const sweep::ResultRow& row : results.rows) {
      const auto& held = journal->before().points;
      const auto found = held.find(row.id);
      if (found != held.end() && found->second.error() == row.error) continue;
      proto::PointRecord record = row.record;
      const auto files = results.files.find(record.inputs());
      if (files != results.files.end()) *record.mutable_file() = files->second.file();
      RETURN_IF_ERROR(journal->Append(record));
    }
    RETURN_IF_ERROR(journal->Flush());
  }
  ASSIGN_OR_RETURN(auto written, ExportResults(results, formats_, timing_, folder));
  const uint64_t rows = results.rows.size();
  return WriteOutput(
      "-", absl::StrCat(FormatCount(rows), " of ", FormatCount(results.points), " points have results, ",
                        FormatCount(results.failed), " failed\n", written, "\n"));
}

absl::Status SweepQuestions::Answer() {
  ASSIGN_OR_RETURN(auto results, sweep::LoadResults(folders_));
  for (const std::string& warning : results.warnings) PrintError(warning);
  if (merge_->parsed() || export_->parsed()) return Write(results);
  if (page_->parsed()) return WritePage(results);
  const bool csv = format_ == "csv";
  ASSIGN_OR_RETURN(auto query, sweep::Query::Make(results, where_, csv));
  absl::StatusOr<sweep::Answer> answer;
  if (best_->parsed()) {
    answer = query.Best(by_.empty() ? std::nullopt : std::optional<sweep::Aim>(sweep::ParseAim(by_)), top_);
  } else if (pareto_->parsed()) {
    std::vector<sweep::Aim> aims;
    for (const std::string& aim : aims_) aims.push_back(sweep::ParseAim(aim));
    answer = query.Pareto(aims);
  } else {
    answer = query.Table(rows_, columns_, show_.empty() ? query.Objective() : sweep::ParseAim(show_),
                         take_ == "mean");
  }
  if (!answer.ok()) return answer.status();
  if (csv) return WriteOutput("-", sweep::AnswerToCsv(*answer));
  TextPage page = PageOf("-");
  return WriteOutput("-", page.Finish(sweep::PrintAnswer(*answer, &page)));
}

int SweepQuestions::Misuse(const std::string& message) const {
  PrintError(SeeCommand(message, absl::StrCat("chakra-replay sweep ", Asked()->get_name(), " --help")));
  return kMisuse;
}

int SweepQuestions::Run() {
  if (folders_.empty()) return Misuse("expected the folder of a sweep's results");
  if (pareto_->parsed() && aims_.size() < 2) return Misuse("pareto expects --of with two metrics or more");
  if (table_->parsed() && rows_.empty()) return Misuse("table expects --rows AXIS");
  if (absl::Status s = Answer(); !s.ok()) {
    PrintError(s.message());
    return kFailed;
  }
  return kDone;
}

}  // namespace chakra::cli
