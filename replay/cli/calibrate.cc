#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "replay/calibrate/call_logs.h"
#include "replay/calibrate/fit.h"
#include "replay/calibrate/halves.h"
#include "replay/calibrate/micro_benchmarks.h"
#include "replay/calibrate/point_fit.h"
#include "replay/calibrate/transport_fit.h"
#include "replay/cli/command.h"
#include "replay/cli/output.h"
#include "replay/cli/terminal.h"
#include "replay/cluster/load.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/threads.h"
#include "trace/io/file.h"

namespace chakra::cli {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int kMostRanks = 1 << 22;

double Error(double predicted_us, const MeasuredRow& row) { return 100 * (predicted_us / row.time_us - 1); }

class CalibrateCommand : public Command {
 public:
  explicit CalibrateCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option("LOGS", logs_,
                    "Output of nccl-tests, rccl-tests, OSU's micro-benchmarks or perftest; files or folders. "
                    "Also the CSV of "
                    "`collective`, and a job's logs of collective calls. Rows of one node fit the library, "
                    "rows of several numbers "
                    "of nodes the network.")
        ->type_name("");
    app->add_option("--cluster", cluster_,
                    "Machine that was measured: a preset, PRESET:key=value,... or a cluster file.")
        ->type_name("SPEC");
    app->add_option("-o,--output", output_,
                    "Cluster file to write: text format, or JSON if it ends in .json.")
        ->type_name("FILE");
    app->add_option("--ranks", given_ranks_,
                    "Number of ranks of OSU's collectives, of all files or of one; may be repeated. OSU's "
                    "output does not have "
                    "it.")
        ->type_name("N|FILE=N")
        ->allow_extra_args(false);
    app->add_option("--half", half_,
                    "Columns of nccl-tests to fit: out-of-place or in-place; default: out-of-place. If one "
                    "takes twice as long as "
                    "the other, the default is the one nearer to the cluster.")
        ->type_name("HALF")
        ->check(CLI::IsMember({"out-of-place", "in-place"}).description(""));
    app->add_flag("--skip-bad-files", skip_, "Skip files that cannot be read.");
    app->add_option("--rows", rows_, "Write the residual of each row as CSV.")->type_name("FILE");
    app->add_option(
           "--fit-every", every_,
           "Fit only every N-th size of each collective and number of ranks, and test on the others.")
        ->type_name("N")
        ->check(CLI::Range(1, 1000).description(""));
    app->add_flag("-q,--quiet", quiet_, "Print no table of residuals.");
    app->footer("Example:\n  chakra-replay calibrate all_reduce.log --cluster dgx-h100 -o measured.txtpb");
  }

  int Run() override {
    if (logs_.empty()) return Misuse("expected at least one log");
    if (cluster_.empty())
      return Misuse("expected --cluster: the machine that was measured, e.g. --cluster dgx-h100");
    if (output_.empty()) return Misuse("expected -o FILE for the fitted cluster");
    if (absl::Status s = CheckPaths(); !s.ok()) return Fail(s);
    std::vector<MeasuredRow> rows, others;
    if (absl::Status s = ReadLogs(&rows); !s.ok()) return Fail(s);
    const absl::StatusOr<proto::Cluster> cluster = LoadCluster(cluster_);
    if (!cluster.ok()) return Fail(cluster.status());
    std::optional<Half> half;
    if (!half_.empty()) half = half_ == "in-place" ? Half::kInPlace : Half::kOutOfPlace;
    const absl::StatusOr<std::vector<std::string>> halves = ChooseHalves(*cluster, half, &rows, &others);
    if (!halves.ok()) return Fail(halves.status());
    for (const std::string& text : *halves) PrintError(absl::StrCat("warning: ", text));
    absl::StatusOr<Fit> fit = FitAll(*cluster, Choose(rows, true));
    if (!fit.ok()) return Fail(fit.status());
    for (const std::string& text : fit->warnings) PrintError(absl::StrCat("warning: ", text));
    Describe(*cluster, &fit->cluster);
    const absl::StatusOr<std::string> cluster_text = ClusterText(fit->cluster);
    if (!cluster_text.ok()) return Fail(cluster_text.status());
    TextPage page = PageOf(output_ == "-" ? "" : "-");
    std::string text = Summary(*fit, &page);
    if (absl::Status s = AddJudged(*cluster, Choose(rows, false), others, &*fit, &text); !s.ok())
      return Fail(s);
    const std::string rows_text = rows_.empty() ? "" : Csv(*fit), told = page.Finish(text);
    // If the cluster goes to standard output, the summary goes to standard error.
    const absl::Status written = WriteOutputs(
        {{output_, *cluster_text}, {rows_, rows_text}, {output_ == "-" ? "/dev/stderr" : "-", told}});
    return written.ok() ? kDone : Fail(written);
  }

 private:
  absl::Status ReadLogs(std::vector<MeasuredRow>* rows) {
    std::vector<std::string> tests, calls;
    for (const std::string& log : logs_) {
      if (AddTestsIn(log, &tests)) continue;
      (HoldsCallLogs(log) ? calls : tests).push_back(log);
    }
    RETURN_IF_ERROR(ReadRanks(tests));
    RETURN_IF_ERROR(ReadCalls(calls, rows));
    for (const std::string& log : tests) {
      if (absl::Status s = Read(log, rows); !s.ok()) {
        if (!skip_) return s;
        PrintError(absl::StrCat(std::string(s.message()), " (skipped)"));
      }
    }
    return absl::OkStatus();
  }

  // Adds the rows that were not fitted to the summary and to its rows: `rest`, which --fit-every left out,
  // and `others`, the in place or out of place half.
  absl::Status AddJudged(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rest,
                         const std::vector<MeasuredRow>& others, Fit* fit, std::string* text) const {
    if (!rest.empty()) {
      ASSIGN_OR_RETURN(Fit judged, Judge(cluster, fit->cluster, rest));
      absl::StrAppend(text, "the other ", judged.rows.size(), " rows: ", Medians(judged), "\n");
      fit->rows.insert(fit->rows.end(), judged.rows.begin(), judged.rows.end());
    }
    if (others.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Fit judged, Judge(cluster, fit->cluster, others));
    absl::StrAppend(text, judged.rows.size(), " rows ", others[0].in_place ? "in place" : "out of place",
                    ", not fitted: ", Medians(judged), "\n");
    return absl::OkStatus();
  }

  // Fits the links from points first, because the costs of the library are in addition to theirs.
  absl::StatusOr<Fit> FitAll(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows) const {
    PointFit wire = FitPoints(cluster, points_);
    Fit fit;
    fit.cluster = wire.cluster;
    if (rows.empty() && wire.fitted.empty() && !wire.kept.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("the logs determine no value: ", absl::StrJoin(wire.kept, "; ")));
    if (!rows.empty() || points_.empty()) {
      ASSIGN_OR_RETURN(fit, CalibrateApart(wire.cluster, rows));
    } else {
      fit.kept.push_back(
          "the library and transport.message_us stay: not determined: needs rows of collectives");
    }
    fit.fitted.insert(fit.fitted.begin(), wire.fitted.begin(), wire.fitted.end());
    fit.kept.insert(fit.kept.begin(), wire.kept.begin(), wire.kept.end());
    if (points_.empty() || rows.empty()) return fit;
    ASSIGN_OR_RETURN(fit.rows, PriceRows(cluster, fit.cluster, rows));
    return fit;
  }

  // Checks that outputs can be written, and that they overwrite neither each other nor an input.
  absl::Status CheckPaths() const {
    if (!rows_.empty() && rows_ == output_ && rows_ != "-") {
      return absl::InvalidArgumentError(absl::StrCat("-o and --rows are the same file, \"", rows_, "\""));
    }
    for (const std::string& path : {output_, rows_}) {
      if (path.empty() || path == "-") continue;
      RETURN_IF_ERROR(CheckOutputPath(path));
      std::vector<std::string> read = logs_;
      read.push_back(cluster_);
      for (const std::string& input : read) {
        std::error_code error;
        if (path == input || std::filesystem::equivalent(path, input, error)) {
          return absl::InvalidArgumentError(
              absl::StrCat("\"", path, "\" is read, and would be overwritten; expected another output"));
        }
      }
    }
    return absl::OkStatus();
  }

  // Reads at most kMostBytes, also from a path that is no regular file.
  static absl::StatusOr<std::string> ReadLog(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path)) return ReadFile(path);  // returns the error
    std::string text;
    std::vector<char> block(1 << 20);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
      text.append(block.data(), static_cast<size_t>(in.gcount()));
      if (text.size() > kMostBytes) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": more than ", kMostBytes >> 20, " MiB; expected a log of a benchmark"));
      }
    }
    return text;
  }

  // Adds the files of a folder that a benchmark printed, and reports the other files in it. Returns false if
  // the path is no folder, or the folder has no such file, or has logs of calls.
  static bool AddTestsIn(const std::string& folder, std::vector<std::string>* tests) {
    std::error_code error;
    std::vector<std::string> files, printed, others;
    if (!std::filesystem::is_directory(folder, error) || !ListFiles(folder, &files).ok()) return false;
    for (const std::string& file : files) {
      if (HoldsCallLogs(file)) return false;
      const absl::StatusOr<std::string> text = ReadLog(file);
      const bool read = text.ok() && (LooksLikeNcclTests(*text) || LooksLikeMicroBenchmark(*text));
      (read ? printed : others).push_back(file);
    }
    if (printed.empty()) return false;
    if (!others.empty())
      PrintError(absl::StrCat("note: ", folder,
                              ": left out, not printed by a benchmark: ", absl::StrJoin(others, ", ")));
    tests->insert(tests->end(), printed.begin(), printed.end());
    return true;
  }

  // Reads the ranks that --ranks gives for `files`: "16", or "osu.log=16".
  absl::Status ReadRanks(const std::vector<std::string>& files) {
    for (const std::string& given : given_ranks_) {
      const size_t equals = given.rfind('=');
      const std::string file = equals == std::string::npos ? "" : given.substr(0, equals);
      int ranks = 0;
      if (!absl::SimpleAtoi(equals == std::string::npos ? given : given.substr(equals + 1), &ranks) ||
          ranks < 2 || ranks > kMostRanks) {
        return absl::InvalidArgumentError(
            absl::StrCat("--ranks is \"", given, "\"; expected N or FILE=N, 2 to ", kMostRanks, " ranks"));
      }
      if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--ranks is \"", given, "\", but \"", file,
                         "\" is not one of the logs; expected one of: ", absl::StrJoin(files, ", ")));
      }
      ranks_[file] = ranks;
    }
    return absl::OkStatus();
  }

  int RanksOf(const std::string& path) const {
    const auto own = ranks_.find(path), all = ranks_.find("");
    return own != ranks_.end() ? own->second : all != ranks_.end() ? all->second : 0;
  }

  // Reads logs of calls. All logs belong to one job.
  static absl::Status ReadCalls(const std::vector<std::string>& logs, std::vector<MeasuredRow>* rows) {
    if (logs.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(MeasuredRun run, ReadCallLogRows(logs, DefaultThreads()));
    for (const std::string& w : run.warnings) PrintError(absl::StrCat("note: ", w));
    rows->insert(rows->end(), run.rows.begin(), run.rows.end());
    return absl::OkStatus();
  }

  absl::Status Read(const std::string& path, std::vector<MeasuredRow>* rows) {
    ASSIGN_OR_RETURN(std::string text, ReadLog(path));
    const bool micro = LooksLikeMicroBenchmark(text);
    if (micro && LooksLikeNcclTests(text)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path,
          ": has tables of nccl-tests and of OSU's micro-benchmarks or perftest; expected a file for each"));
    }
    if (micro) return AddMicro(text, path, rows);
    ASSIGN_OR_RETURN(MeasuredRun run, ReadNcclTests(text, path));
    for (const std::string& w : run.warnings) PrintError(absl::StrCat("warning: ", w));
    for (MeasuredRow& row : run.rows) {
      row.devices_per_thread = run.gpus_per_process;
      rows->push_back(std::move(row));
    }
    return absl::OkStatus();
  }

  absl::Status AddMicro(const std::string& text, const std::string& path, std::vector<MeasuredRow>* rows) {
    ASSIGN_OR_RETURN(MicroRun run, ReadMicroBenchmarks(text, path, RanksOf(path)));
    for (const std::string& w : run.warnings) PrintError(absl::StrCat("warning: ", w));
    rows->insert(rows->end(), run.rows.begin(), run.rows.end());
    points_.insert(points_.end(), run.points.begin(), run.points.end());
    return absl::OkStatus();
  }

  // Every N-th size of each collective and number of ranks (`fitted`), or all other sizes.
  std::vector<MeasuredRow> Choose(const std::vector<MeasuredRow>& rows, bool fitted) const {
    std::map<std::pair<CollectiveType, int>, std::vector<uint64_t>> sizes;
    for (const MeasuredRow& r : rows) sizes[{r.type, r.ranks}].push_back(r.bytes);
    for (auto& [key, of] : sizes) {
      std::sort(of.begin(), of.end());
      of.erase(std::unique(of.begin(), of.end()), of.end());
    }
    std::vector<MeasuredRow> out;
    for (const MeasuredRow& r : rows) {
      const std::vector<uint64_t>& of = sizes[{r.type, r.ranks}];
      const auto at = std::lower_bound(of.begin(), of.end(), r.bytes) - of.begin();
      if ((at % every_ == every_ / 2) == fitted) out.push_back(r);
    }
    return out;
  }

  // The times of rows that were not fitted, on both clusters.
  static absl::StatusOr<Fit> Judge(const proto::Cluster& before, const proto::Cluster& after,
                                   const std::vector<MeasuredRow>& rows) {
    ASSIGN_OR_RETURN(std::vector<FittedRow> out, PriceRows(before, after, rows));
    return Fit{after, std::move(out), {}, {}, {}};
  }

  void Describe(const proto::Cluster& before, proto::Cluster* after) const {
    const std::string name = before.name().empty() ? "cluster" : before.name();
    const bool again = name.find("-calibrated") != std::string::npos;
    after->set_name(again ? name : absl::StrCat(name, "-calibrated"));
    after->set_source(absl::StrCat(before.source(), before.source().empty() ? "" : "; ", "fitted to ",
                                   logs_.size(), logs_.size() == 1 ? " log" : " logs"));
  }

  absl::StatusOr<std::string> ClusterText(const proto::Cluster& cluster) const {
    std::string text;
    if (FormatOf(output_) == "json") {
      google::protobuf::util::JsonPrintOptions options;
      options.add_whitespace = true;
      options.preserve_proto_field_names = true;
      if (!google::protobuf::util::MessageToJsonString(cluster, &text, options).ok()) {
        return absl::InternalError(absl::StrCat(output_, ": the cluster cannot be written as JSON"));
      }
    } else {
      google::protobuf::TextFormat::Printer().PrintToString(cluster, &text);
    }
    return text;
  }

  static std::string Medians(const Fit& fit) {
    return absl::StrFormat("median error %.1f %% before, %.1f %% after", 100 * MedianError(fit, false),
                           100 * MedianError(fit, true));
  }

  static std::string Rows(const Fit& fit, TextPage* page) {
    TextTable table = TextTable::OfWidths({{"collective", false, 14},
                                           {"ranks", false, 6},
                                           {"bytes", false, 13},
                                           {"taken as", true, 22, 2},
                                           {"measured us", false, 12},
                                           {"before %", false, 9},
                                           {"after %", false, 9},
                                           {"from", true, 0, 2}},
                                          "#");
    for (const FittedRow& r : fit.rows) {
      table.Add({std::string(Name(r.measured.type)), absl::StrCat(r.measured.ranks),
                 absl::StrCat(r.measured.bytes), r.label, absl::StrFormat("%.2f", r.measured.time_us),
                 absl::StrFormat("%+.1f", Error(r.before_us, r.measured)),
                 absl::StrFormat("%+.1f", Error(r.after_us, r.measured)),
                 absl::StrCat(r.measured.file, ":", r.measured.line)});
    }
    return table.Print(page);
  }

  std::string Summary(const Fit& fit, TextPage* page) const {
    std::string out;
    if (!quiet_ && !fit.rows.empty()) out = Rows(fit, page);
    for (const std::string& line : fit.fitted) absl::StrAppend(&out, "fitted: ", line, "\n");
    for (const std::string& line : fit.kept) absl::StrAppend(&out, "not fitted: ", line, "\n");
    if (!fit.rows.empty()) absl::StrAppend(&out, fit.rows.size(), " rows fitted: ", Medians(fit), "\n");
    return out;
  }

  static std::string Csv(const Fit& fit) {
    std::string out = "collective,ranks,bytes,taken_as,measured_us,before_us,after_us,file,line\n";
    for (const FittedRow& r : fit.rows) {
      absl::StrAppendFormat(&out, "%s,%d,%d,%s,%.3f,%.3f,%.3f,%s,%d\n", std::string(Name(r.measured.type)),
                            r.measured.ranks, r.measured.bytes, r.label, r.measured.time_us, r.before_us,
                            r.after_us, r.measured.file, r.measured.line);
    }
    return out;
  }

  std::vector<std::string> logs_;
  std::string cluster_;
  std::string output_;
  std::string rows_;
  std::string half_;
  std::vector<std::string> given_ranks_;
  std::map<std::string, int> ranks_;  // ranks by file; "": of all files
  std::vector<PointRow> points_;
  bool skip_ = false;
  bool quiet_ = false;
  int every_ = 1;
};

}  // namespace

std::unique_ptr<Command> MakeCalibrateCommand(CLI::App* root) {
  return std::make_unique<CalibrateCommand>(
      root->add_subcommand("calibrate",
                           "Fit the library and network of a cluster to measurements. These are of "
                           "nccl-tests, OSU, perftest or a job's logs"));
}

}  // namespace chakra::cli
