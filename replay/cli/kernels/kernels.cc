#include <google/protobuf/util/message_differencer.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cli/command.h"
#include "replay/cli/kernels/kernels_model.h"
#include "replay/cli/kernels/kernels_print.h"
#include "replay/cli/kernels/kernels_show.h"
#include "replay/cli/message_options.h"
#include "replay/cli/terminal.h"
#include "replay/cluster/devices.h"
#include "replay/compute/collect.h"
#include "replay/compute/compute.h"
#include "replay/compute/interpolate.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/transfer.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/glob.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/threads.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/import/registry.h"
#include "trace/io/proto_io.h"
#include "trace/model/capture_info.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::cli {
namespace {

// any device: whether the roofline has a time does not depend on the device
constexpr char kCheckDevice[] = "H100";

class KernelsCommand : public Command {
 public:
  explicit KernelsCommand(CLI::App* app)
      : Command(app),
        collect_(app->add_subcommand("collect", "Collect the kernels of traces in a table")),
        merge_(app->add_subcommand("merge", "Merge tables")),
        show_(app->add_subcommand("show", "Print a table, or the kernel model of a device")),
        check_(app->add_subcommand("check", "Check a table, alone or with traces that it is for")),
        transfer_(app->add_subcommand("transfer", "Convert a kernel table from one device to another")),
        model_(app) {
    app->add_option("COMMAND", unknown_)->group("");  // words that are no subcommand
    AddCollect();
    AddOthers();
    for (CLI::App* sub : {collect_, merge_, transfer_}) {
      sub->add_option("-o,--output", output_,
                      "Table to write; - is standard output, as CSV. By its ending: .csv, .json, .txtpb "
                      "(text format), or else "
                      "binary.")
          ->type_name("TABLE");
    }
    for (CLI::App* sub : {collect_, check_}) {
      AddCaptureOptions(sub, &read_);
      sub->add_option("--threads", read_.threads, "Number of threads; default: the machine's cores.")
          ->type_name("N")
          ->check(CLI::Range(1, 4096).description(""));
    }
    read_.threads = DefaultThreads();
    app->footer(
        "Examples:\n"
        "  chakra-replay kernels collect examples/capture/gloo_ddp_2 --host-operations -o kernels.csv\n"
        "  chakra-replay kernels check kernels.csv examples/capture/gloo_ddp_2\n"
        "  chakra-replay kernels transfer v100.csv --from V100 --to H100 -o h100.csv\n"
        "  chakra-replay kernels predict rows.csv --device H200");
  }

  int Run() override;

 private:
  void AddCollect();
  void AddOthers();
  // The error of the command line; "": none.
  std::string Wrong() const;
  absl::Status Collect();
  absl::Status Merge();
  absl::Status Show();
  absl::Status Check();
  absl::Status Transfer();
  absl::Status CheckTransfer(const proto::KernelTable& table, const proto::Device& from,
                             const proto::Device& to) const;
  absl::Status Write(const proto::KernelTable& table) const {
    return output_ == "-" ? WriteOutput("-", FormatKernelCsv(table)) : WriteKernelTable(table, output_);
  }

  CLI::App *collect_, *merge_, *show_, *check_, *transfer_;
  KernelModelActions model_;
  std::vector<std::string> unknown_, inputs_;
  ReadOptions read_;
  CollectOptions collect_options_;
  std::string output_, glob_ = "*", format_ = "text", from_, to_, dtype_, device_, op_;
  std::string compute_ = "table,interpolate,roofline,recorded";
  size_t rows_ = 40;
  bool any_device_ = false;
};

void KernelsCommand::AddCollect() {
  collect_->add_option("TRACE", inputs_, InputsHelp())->type_name("");
  collect_->add_flag("--host-operations", collect_options_.host,
                     "Collect host operations too, each with the operations that it calls.");
  collect_->add_option("--device-name", collect_options_.device, "Device that the traces were measured on.")
      ->type_name("NAME");
  collect_
      ->add_option("--source", collect_options_.source,
                   "Source of the times; default: the names of the inputs.")
      ->type_name("TEXT");
}

void KernelsCommand::AddOthers() {
  for (CLI::App* sub : {merge_, show_, check_, transfer_}) {
    sub->add_option("TABLE", inputs_,
                    sub == check_ ? "Kernel table, and the traces that it is for."
                                  : "Kernel tables: CSV, JSON, text format or binary.")
        ->type_name("");
  }
  merge_->add_flag("--any-device", any_device_, "Merge tables of different devices too.");
  show_->add_option("--name", glob_, "Print only rows whose name matches; * is any characters.")
      ->type_name("GLOB");
  show_
      ->add_option(
          "--device", device_,
          "Device of the kernel model, in place of TABLE: a name, a cluster preset or a cluster file.")
      ->type_name("DEVICE");
  show_
      ->add_option(
          "--op", op_,
          "Op of the kernel model: gemm, attention, ... `chakra-replay kernels predict --help` lists them.")
      ->type_name("OP");
  show_->add_option("--dtype", dtype_, "Dtype of the kernel model; default: that of the device.")
      ->type_name("DTYPE");
  show_->add_option("--format", format_, "Format of the output: text, csv or json; default: text.")
      ->type_name("FORMAT")
      ->check(OneOf({"text", "csv", "json"}));
  show_->add_option("--rows", rows_, "Number of rows of text, the longest total times first; default: 40.")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 30).description(""));
  check_->add_option("--compute", compute_, absl::StrCat("Time sources, in order; default: ", compute_, "."))
      ->type_name("LIST");
  transfer_->add_option("--from", from_, "Device of the table; default: the one that the table names.")
      ->type_name("DEVICE");
  transfer_
      ->add_option("--to", to_,
                   "Target device: a name (H100, A100-PCIe-40GB, ...), a cluster preset or a cluster file.")
      ->type_name("DEVICE");
  transfer_->add_option("--dtype", dtype_, "Dtype of all rows; default: that of each row.")
      ->type_name("DTYPE");
}

std::string KernelsCommand::Wrong() const {
  const std::vector<std::string> actions = {"collect",  "merge",   "show",     "check",
                                            "transfer", "predict", "calibrate"};
  if (!unknown_.empty()) {  // a word that is no subcommand, and the words after it
    return absl::StrCat("there is no command \"kernels ", unknown_[0], "\"",
                        SuggestName(unknown_[0], actions));
  }
  if (model_.parsed()) return model_.Wrong();
  const bool writes = collect_->parsed() || merge_->parsed() || transfer_->parsed();
  if (!writes && !show_->parsed() && !check_->parsed())
    return "expected collect, merge, show, check, transfer, predict or calibrate";
  if (writes && output_.empty()) return "expected --output TABLE, the file to write";
  if (collect_->parsed() && inputs_.empty() && !read_.capture.named()) {
    return "kernels collect expects at least one TRACE";
  }
  if (show_->parsed() && !device_.empty()) {
    if (!inputs_.empty()) return "kernels show expects a TABLE or --device DEVICE, not both";
    if (op_.empty()) return "kernels show --device expects --op OP";
    if (format_ == "json") return "kernels show --device expects --format text or csv";
    return "";
  }
  if (show_->parsed() && !(op_.empty() && dtype_.empty())) return "--op and --dtype expect --device DEVICE";
  if (!collect_->parsed() && inputs_.empty()) return "expected a TABLE";
  if ((show_->parsed() || transfer_->parsed()) && inputs_.size() > 1) {
    return absl::StrCat("unexpected argument \"", inputs_[1], "\"; expected one TABLE");
  }
  if (transfer_->parsed() && to_.empty()) return "kernels transfer expects --to DEVICE";
  if (check_->parsed()) {
    if (const auto time_sources = ParseTimeSources(compute_); !time_sources.ok()) {
      return absl::StrCat("--compute: ", time_sources.status().message());
    }
  }
  return "";
}

absl::Status KernelsCommand::Collect() {
  ReadOptions read = read_;
  read.keep_raw = true;
  ASSIGN_OR_RETURN(const auto traces, ReadTraceSet(inputs_, read));
  if (collect_options_.source.empty()) {
    for (const InputFile& input : traces.inputs) {
      if (!IsTraceRole(input.role)) continue;
      collect_options_.source =
          absl::StrCat("collected from ", input.path, traces.inputs.size() > 1 ? " and others" : "");
      break;
    }
  }
  CollectNotes notes;
  ASSIGN_OR_RETURN(const auto table, CollectKernels(traces, collect_options_, &notes));
  PrintError(absl::StrCat(FormatCount(static_cast<uint64_t>(table.row_size())), " rows of ",
                          FormatCount(notes.nodes), " measurements; skipped: ", FormatCount(notes.host),
                          " host operations, ", FormatCount(notes.no_duration), " nodes without a duration, ",
                          notes.comm > 0 ? absl::StrCat(FormatCount(notes.comm), " of communication, ") : "",
                          FormatCount(notes.no_shapes),
                          " without the shapes that others of their name have"));
  return Write(table);
}

absl::Status KernelsCommand::Merge() {
  std::vector<proto::KernelTable> tables;
  for (const std::string& path : inputs_) {
    ASSIGN_OR_RETURN(auto table, LoadKernelTable(path));
    tables.push_back(std::move(table));
  }
  MergeNotes notes;
  const auto merged = MergeKernels(tables, inputs_, any_device_, &notes);
  if (!merged.ok()) {
    return any_device_ || !absl::StrContains(merged.status().message(), ": device is")
               ? merged.status()
               : absl::InvalidArgumentError(
                     absl::StrCat(merged.status().message(), " (--any-device merges them)"));
  }
  for (const std::string& table : notes.adopted)
    PrintError(absl::StrCat("warning: ", table, " names no device; used as a table of ", merged->device()));
  std::string joined;
  if (notes.joined > 0) {
    joined = absl::StrCat("; ", FormatCount(notes.joined),
                          " of them are in several tables: the mean, weighted by count");
  }
  if (notes.differ > 0) {
    absl::StrAppend(&joined, "; ", FormatCount(notes.differ), " of these had other times, at most ",
                    absl::StrFormat("%.3g", notes.ratio), " x (\"", notes.name, "\")");
  }
  PrintError(absl::StrCat(FormatCount(static_cast<uint64_t>(merged->row_size())), " rows of ", inputs_.size(),
                          inputs_.size() == 1 ? " table" : " tables", joined));
  return Write(*merged);
}

absl::Status KernelsCommand::Show() {
  if (!device_.empty()) return ShowKernelModel(device_, op_, dtype_, format_);
  ASSIGN_OR_RETURN(auto table, LoadKernelTable(inputs_[0]));
  RETURN_IF_ERROR(KernelTableIndex::Make(table, inputs_[0]).status());
  proto::KernelTable shown = table;
  shown.clear_row();
  for (const proto::KernelRow& row : table.row()) {
    if (MatchesGlob(glob_, row.name())) *shown.add_row() = row;
  }
  if (shown.row_size() == 0) {
    return absl::NotFoundError(absl::StrCat(inputs_[0], ": no name matches \"", glob_, "\"; the table has ",
                                            table.row_size(), " rows"));
  }
  if (format_ == "csv") return WriteOutput("-", FormatKernelCsv(shown));
  if (format_ == "text") {
    TextPage page = PageOf("-");
    return WriteOutput("-", page.Finish(PrintKernels(shown, rows_, &page)));
  }
  const auto json = FormatMessage(shown, MessageFormat::kJson);
  return json.ok() ? WriteOutput("-", *json) : json.status();
}

absl::Status KernelsCommand::Check() {
  ASSIGN_OR_RETURN(const auto table, LoadKernelTable(inputs_[0]));
  ASSIGN_OR_RETURN(const auto index, KernelTableIndex::Make(table, inputs_[0]));
  if (table.row_size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(inputs_[0], ": the table has no rows"));
  }
  const KernelInterpolation interpolation(table);
  TextPage page = PageOf("-");
  std::string out = PrintTableCheck(inputs_[0], table, interpolation);
  const std::vector<std::string> names(inputs_.begin() + 1, inputs_.end());
  if (!names.empty() || read_.capture.named()) {
    ASSIGN_OR_RETURN(const auto traces, ReadTraceSet(names, read_));
    ASSIGN_OR_RETURN(const auto device, FindDevice(kCheckDevice));
    ComputeModel model;
    model.time_sources = *ParseTimeSources(compute_);
    model.device = &device;
    model.table = &index;
    model.interpolation = &interpolation;
    for (const RankTrace& trace : traces.ranks) {
      ASSIGN_OR_RETURN(const auto capture, ReadCaptureInfo(trace));
      model.zeros_recorded = capture.has_value() && capture->window_end > Time::Zero();
    }
    const DistinctGraphs distinct(traces);
    std::vector<uint64_t> uses(distinct.graphs.size(), 0);
    for (uint32_t g : distinct.of_rank) ++uses[g];
    Coverage coverage;
    ComputeNotes notes;
    for (size_t g = 0; g < uses.size(); ++g) {
      ASSIGN_OR_RETURN(const auto times, PriceGraph(*distinct.graphs[g], model, &notes));
      coverage.Add(*distinct.graphs[g], times, uses[g]);
    }
    absl::StrAppend(&out, coverage.Print(&page));
  }
  return WriteOutput("-", page.Finish(out));
}

// Checks that --from is the device of the table, and that --dtype is a dtype of one of the two devices.
absl::Status KernelsCommand::CheckTransfer(const proto::KernelTable& table, const proto::Device& from,
                                           const proto::Device& to) const {
  const auto own = FindDevice(table.device());
  if (!from_.empty() && !table.device().empty() && table.device() != from.name() &&
      (!own.ok() || own->name() != from.name())) {
    return absl::InvalidArgumentError(absl::StrCat("--from ", from_, ": ", inputs_[0], " is a table of \"",
                                                   table.device(), "\", expected --from ", table.device(),
                                                   ", or none"));
  }
  std::set<std::string> known;
  for (const proto::Device* device : {&from, &to}) {
    for (const auto& [name, peak] : device->peak_tflops()) known.insert(name);
  }
  if (dtype_.empty() || known.count(dtype_) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--dtype: neither ", from.name(), " nor ", to.name(),
                                                 " has a peak of \"", dtype_, "\"",
                                                 SuggestName(dtype_, {known.begin(), known.end()})));
}

absl::Status KernelsCommand::Transfer() {
  ASSIGN_OR_RETURN(const auto table, LoadKernelTable(inputs_[0]));
  RETURN_IF_ERROR(KernelTableIndex::Make(table, inputs_[0]).status());
  const std::string from_name = from_.empty() ? table.device() : from_;
  if (from_name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(inputs_[0], ": the table does not name its device; expected --from DEVICE"));
  }
  ASSIGN_OR_RETURN(const auto from, FindDevice(from_name));
  ASSIGN_OR_RETURN(const auto to, FindDevice(to_));
  RETURN_IF_ERROR(CheckTransfer(table, from, to));
  if (google::protobuf::util::MessageDifferencer::Equals(from, to)) {
    PrintError(absl::StrCat(from.name(), " to ", to.name(), ": the same device, no row changes"));
    return Write(table);
  }
  TransferNotes notes;
  ASSIGN_OR_RETURN(const auto moved, TransferTable(table, from, to, dtype_, &notes));
  PrintError(absl::StrCat(from.name(), " to ", to.name(), ": ", FormatCount(notes.by_law),
                          " rows by the law of their kernel, ", FormatCount(notes.by_roofline),
                          " by their work, ", FormatCount(notes.without_work),
                          " of unknown work by a time between the old time and the ratios of the devices, ",
                          FormatCount(notes.other_peak), " at the peak of another dtype; ", notes.start_us,
                          " us of each of these times do not change"));
  return Write(moved);
}

int KernelsCommand::Run() {
  if (const std::string wrong = Wrong(); !wrong.empty()) return Misuse(wrong);
  if (!output_.empty()) {
    if (absl::Status s = CheckOutputPath(output_); !s.ok()) return Fail(s);
  }
  const absl::Status done = model_.parsed()      ? model_.Run()
                            : collect_->parsed() ? Collect()
                            : merge_->parsed()   ? Merge()
                            : show_->parsed()    ? Show()
                            : check_->parsed()   ? Check()
                                                 : Transfer();
  return done.ok() ? kDone : Fail(done);
}

}  // namespace

std::unique_ptr<Command> MakeKernelsCommand(CLI::App* root) {
  return std::make_unique<KernelsCommand>(
      root->add_subcommand("kernels", "Collect, show, check and convert kernel tables; predict kernels"));
}

}  // namespace chakra::cli
