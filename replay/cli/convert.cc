#include <algorithm>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/cluster.pb.h"
#include "replay/cli/command.h"
#include "replay/cli/convert_pytorch.h"
#include "replay/cli/on_signal.h"
#include "replay/cluster/astra_sim.h"
#include "replay/compute/compute.h"
#include "replay/lower/goal.h"
#include "replay/run/machine.h"
#include "replay/run/price.h"
#include "replay/run/traces.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"
#include "trace/et/rank_index.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/generate/write.h"
#include "trace/import/goal/program.h"
#include "trace/import/inputs.h"
#include "trace/import/json/json.h"
#include "trace/import/reader.h"
#include "trace/import/registry.h"
#include "trace/import/replaced.h"
#include "trace/import/text/text.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/io/whole_folder.h"
#include "trace/model/groups.h"

namespace chakra::cli {
namespace {

namespace fs = std::filesystem;

// Converts an ASTRA-sim configuration to a cluster file.
class AstraSimOptions {
 public:
  explicit AstraSimOptions(CLI::App* app) : app_(app) {
    app->allow_extras();
    app->add_option("--network", in_.network_yaml, "Analytical network configuration (YAML).")
        ->type_name("FILE");
    app->add_option("--system", in_.system_json, "System configuration (JSON).")->type_name("FILE");
    app->add_option("--memory", in_.memory_json, "Remote memory configuration (JSON).")->type_name("FILE");
    app->add_option("--groups", in_.groups_json,
                    "Process-group file (JSON) to check; a replay reads it by its own --groups.")
        ->type_name("FILE");
    app->add_option("-o,--output", output_,
                    "Cluster file to write: text format, or JSON if it ends in .json.")
        ->type_name("FILE");
    app->footer(
        "Example:\n"
        "  chakra-replay convert astra-sim --network network.yml --system system.json -o cluster.txtpb\n"
        "A note on standard error names each setting that has no counterpart.");
  }

  bool chosen() const { return app_->parsed(); }
  // An error message about what is missing on the command line; "": nothing is.
  std::string Missing() const {
    if (in_.network_yaml.empty()) return "convert astra-sim expects --network FILE";
    if (output_.empty()) return "convert astra-sim expects -o FILE";
    return "";
  }
  absl::Status Run() const {
    ASSIGN_OR_RETURN(auto result, ClusterFromAstraSim(in_));
    for (const std::string& note : result.notes) PrintError(absl::StrCat("note: ", note));
    const bool json = FormatOf(output_) == "json";
    ASSIGN_OR_RETURN(auto text,
                     FormatMessage(result.cluster, json ? MessageFormat::kJson : MessageFormat::kText));
    return WriteOutput(output_, text);
  }

 private:
  CLI::App* app_;
  AstraSimInputs in_;
  std::string output_;
};

// Writes the ranks of a recording while they are read, so that memory has only the ranks in progress. The
// files are in `folder`, named by rank, until all ranks are read and their number is known.
class StagedRanks : public RankRewriter {
 public:
  StagedRanks(WholeFolder* folder, Compression method) : folder_(*folder), method_(method) {}

  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>*) override {
    const auto emit = [&](EtWriter* writer) { return WriteTrace(trace, writer); };
    RETURN_IF_ERROR(Write(trace.rank, emit));
    trace.graph = nullptr;
    trace.raw = nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    ranks_.push_back(std::move(trace));
    return absl::OkStatus();
  }
  bool WritesAsMade() const override { return true; }
  absl::Status WriteAsMade(RankTrace rank, const std::function<absl::Status(EtWriter*)>& emit) override {
    RETURN_IF_ERROR(Write(rank.rank, emit));
    const std::lock_guard<std::mutex> lock(mutex_);
    ranks_.push_back(std::move(rank));
    return absl::OkStatus();
  }
  // The written ranks, without their content.
  std::vector<RankTrace> Take() {
    std::sort(ranks_.begin(), ranks_.end(),
              [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
    return std::move(ranks_);
  }
  absl::Status Move(int rank, const std::string& to) const { return folder_.MoveOut(NameOf(rank), to); }

 private:
  absl::Status Write(int rank, const std::function<absl::Status(EtWriter*)>& emit) const {
    EtWriter writer(folder_.PathOf(NameOf(rank)), method_);
    return emit(&writer);
  }
  static std::string NameOf(int rank) { return absl::StrCat(rank, ".staged"); }

  WholeFolder& folder_;
  const Compression method_;
  std::mutex mutex_;
  std::vector<RankTrace> ranks_;
};

class ConvertCommand : public Command {
 public:
  explicit ConvertCommand(CLI::App* app)
      : Command(app),
        astra_sim_(
            app->add_subcommand("astra-sim", "Convert a configuration of ASTRA-sim to a cluster file")),
        pytorch_(app->add_subcommand("pytorch",
                                     "Convert PyTorch's host traces and Kineto traces to Chakra traces")) {
    app->allow_extras();
    app->add_option("IN", inputs_, "Traces: files, folders, prefixes, tar or zip archives.")->type_name("");
    app->add_option("-o,--output", output_,
                    "File for one trace, or folder for several; - is standard output.")
        ->type_name("OUT");
    app->add_option(
           "--to", to_,
           "Format: et, json, text or goal; default: by the ending of OUT, or else et. Endings, before .gz "
           "or "
           ".zst: .json, .txtpb and .txt, .goal. goal is one file for all ranks, binary if OUT ends in .bin.")
        ->type_name("FORMAT")
        ->check(OneOf({"et", "json", "text", "goal"}));
    app->add_option("--cluster", cluster_,
                    "Machine whose algorithms replace collectives; needs --to goal; default: dgx-h100.")
        ->type_name("SPEC");
    app->add_option("--compression", compression_,
                    "Compression: none, gzip or zstd; default: by the ending of OUT, or else none.")
        ->type_name("METHOD")
        ->check(OneOf({"none", "gzip", "zstd"}));
    app->add_flag("--allow-truncated", read_.allow_truncated,
                  "Drop a partial last node of a trace; without it the trace is refused.");
    app->footer("Example:\n  chakra-replay convert examples/transformer_step -o step_as_json --to json");
    read_.keep_raw = true;
    read_.threads = DefaultThreads();
  }

  int Run() override;

 private:
  std::string Format() const;
  Compression Method() const;
  absl::Status Convert(const TraceSet& traces, WholeFolder* folder, const StagedRanks* staged) const;
  absl::Status WriteOne(const RankTrace& trace, const StagedRanks* staged, const std::string& path) const;
  absl::Status ConvertRecording();
  absl::Status CopyGroups(const TraceSet& traces, const WholeFolder& folder) const;
  absl::Status WriteGoal(TraceSet traces) const;

  std::vector<std::string> inputs_;
  ReadOptions read_;
  std::string output_;
  std::string to_;
  std::string compression_;
  std::string cluster_;
  AstraSimOptions astra_sim_;
  PytorchOptions pytorch_;
};

std::string ConvertCommand::Format() const {
  if (!to_.empty()) return to_;
  const absl::string_view name = WithoutCompression(output_);
  if (absl::EndsWith(name, ".json")) return "json";
  if (absl::EndsWith(name, ".goal")) return "goal";
  if (absl::EndsWith(name, ".txtpb") || absl::EndsWith(name, ".txt")) return "text";
  return "et";
}

Compression ConvertCommand::Method() const {
  if (compression_ == "gzip") return Compression::kGzip;
  if (compression_ == "zstd") return Compression::kZstd;
  return compression_.empty() ? CompressionOf(output_) : Compression::kNone;
}

// If `staged` is not null, it has the trace.
absl::Status ConvertCommand::WriteOne(const RankTrace& trace, const StagedRanks* staged,
                                      const std::string& path) const {
  if (staged != nullptr) return staged->Move(trace.rank, path);
  const std::string format = Format();
  if (format == "et") {
    if (path == "-") {
      std::string bytes;
      EtWriter writer(&bytes, Method());
      RETURN_IF_ERROR(WriteTrace(trace, &writer));
      return WriteOutput(path, bytes);
    }
    EtWriter writer(path, Method());
    return WriteTrace(trace, &writer);
  }
  ASSIGN_OR_RETURN(auto text, format == "json" ? EtToJson(trace) : EtToText(trace));
  if (path != "-" && !compression_.empty()) return WriteFile(path, text, Method());
  return WriteOutput(path, text);
}

// "w.3" for "dir/w.3.et.zst": the name with the rank at its end, because several ranks may share a file.
// `only`: the only trace, which is rank 0 and keeps its name.
std::string Named(const RankTrace& rank, bool only) {
  const size_t archive = rank.file.find('!');
  const std::string name =
      fs::path(rank.file.substr(archive == std::string::npos ? 0 : archive + 1)).filename();
  const TraceName parsed = ParseTraceName(name);
  if (parsed.rank >= 0 && rank.recorded_rank == kNoRank) return absl::StrCat(parsed.prefix, ".", rank.rank);
  if (parsed.rank >= 0 && only) return absl::StrCat(parsed.prefix, ".", rank.recorded_rank);
  absl::string_view whole = name;
  const absl::string_view stem = ConsumeEnding(&whole) != nullptr ? whole : WithoutCompression(whole);
  const std::string number = absl::StrCat(".", rank.rank);
  return absl::StrCat(stem, absl::EndsWith(stem, number) ? "" : number);
}

// The common prefix of the traces, if the input files of the run have names with different prefixes. "": they
// have one prefix.
std::string Prefix(const TraceSet& traces) {
  std::set<std::string> prefixes;
  for (const RankTrace& rank : traces.ranks) {
    const std::string name = Named(rank, traces.ranks.size() == 1);
    prefixes.insert(name.substr(0, name.rfind('.')));
  }
  return prefixes.size() > 1 ? "trace" : "";
}

// Copies the group file that was found next to the traces. A workload and an index of ranks contain the
// groups; a group file is then written from them.
absl::Status ConvertCommand::CopyGroups(const TraceSet& traces, const WholeFolder& folder) const {
  for (const InputFile& input : traces.inputs) {
    if (input.role == "index" || input.role == "workload") {
      const std::string first = Named(traces.ranks.front(), traces.ranks.size() == 1);
      const std::string name = absl::StrCat(first.substr(0, first.rfind('.')), ".json");
      return WriteFile(folder.PathOf(name), GroupFileText(traces.groups), Compression::kNone);
    }
    if (input.role != "groups" || input.path.find('!') != std::string::npos) continue;
    ASSIGN_OR_RETURN(auto content, ReadFileAsItIs(input.path));
    const std::string to = folder.PathOf(fs::path(input.path).filename().string());
    RETURN_IF_ERROR(WriteFile(to, content, Compression::kNone));
  }
  return absl::OkStatus();
}

absl::Status ConvertCommand::Convert(const TraceSet& traces, WholeFolder* folder,
                                     const StagedRanks* staged) const {
  std::error_code error;
  if (traces.ranks.size() == 1 && !fs::is_directory(output_, error))
    return WriteOne(traces.ranks[0], staged, output_);
  for (const RankTrace& rank : traces.ranks) {
    // The output must not go to the folder of the input: a folder with two files of one rank cannot be read.
    const bool archived = absl::StrContains(rank.file, "!");
    if (archived || !fs::equivalent(fs::absolute(rank.file).parent_path(), output_, error)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(output_, " is the folder of ", rank.file, ", which is read; expected another folder"));
  }
  for (const std::string& name : ListFolder(output_)) {
    if (!absl::EndsWith(WithoutCompression(name), kRankIndexEnding)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        output_, " holds ", name, ", which says that ranks share files; expected another folder"));
  }
  const bool only = traces.ranks.size() == 1;
  const std::string prefix = Prefix(traces), first = Named(traces.ranks.front(), only);
  const std::string own = prefix.empty() ? first.substr(0, first.rfind('.')) : prefix;
  // A set of traces replaces another set; a single trace is added to the folder.
  RETURN_IF_ERROR(only ? absl::OkStatus() : CheckReplaceable(output_, own));
  if (!folder->opened()) {
    RETURN_IF_ERROR(folder->Open(output_));
  }
  const std::string format = Format();
  std::string ending = format == "et" ? ".et" : format == "json" ? ".json" : ".txtpb";
  if (Method() == Compression::kGzip) ending += ".gz";
  if (Method() == Compression::kZstd) ending += ".zst";
  std::set<std::string> names;
  for (const RankTrace& rank : traces.ranks) {
    const std::string name =
        absl::StrCat(prefix.empty() ? Named(rank, only) : absl::StrCat(prefix, ".", rank.rank), ending);
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two traces would be written to ", (fs::path(output_) / name).string()));
    }
    RETURN_IF_ERROR(WriteOne(rank, staged, folder->PathOf(name)));
  }
  RETURN_IF_ERROR(CopyGroups(traces, *folder));
  return only ? folder->MoveInto(output_, {}, ListFolder(folder->PathOf(""))) : folder->Commit();
}

absl::Status ConvertCommand::ConvertRecording() {
  std::error_code error;
  const fs::path parent = fs::path(std::string(absl::StripSuffix(output_, "/"))).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  WholeFolder folder;
  const OnSignal discard([&] { folder.Discard(); });
  RETURN_IF_ERROR(folder.Open(output_));
  StagedRanks staged(&folder, Method());
  read_.rewriter = &staged;
  absl::StatusOr<TraceSet> traces = ReadTraceSet(inputs_, read_);
  read_.rewriter = nullptr;
  if (!traces.ok()) return traces.status();
  traces->ranks = staged.Take();
  return Convert(*traces, &folder, &staged);
}

// Writes all ranks to one file, in GOAL format.
absl::Status ConvertCommand::WriteGoal(TraceSet traces) const {
  RunOptions options;
  options.cluster = cluster_;
  std::vector<std::string> notes;
  const auto ranks = static_cast<int>(traces.ranks.size());
  LoadedTraces loaded;
  loaded.set = std::move(traces);
  RETURN_IF_ERROR(FindCaptures(&loaded));
  const auto step = generate::PlanOf(loaded.set);
  const generate::StepPlan* const made = step.ok() && step->has_value() ? &**step : nullptr;
  ASSIGN_OR_RETURN(proto::Cluster described, DescribeMachine(options, &notes));
  RETURN_IF_ERROR(UseHostMemory(made, loaded.set, &described));
  ASSIGN_OR_RETURN(const ClusterModel cluster, BuildCluster(described, ranks));
  ASSIGN_OR_RETURN(const auto machine, BuildMachine(cluster, options, ranks));
  RunDescription run;
  const std::string time_sources = loaded.HasTimes() ? "recorded" : std::string(kDefaultTimeSources);
  ASSIGN_OR_RETURN(const auto times,
                   PriceTraces(loaded, options, time_sources, cluster.proto.device(), made, &run));
  ASSIGN_OR_RETURN(const goal::Program program, LowerToGoal(loaded.set, times, cluster, *machine, &notes));
  for (const std::string& note : notes) PrintError(absl::StrCat("note: ", note));
  const bool binary = absl::EndsWith(WithoutCompression(output_), ".bin");
  const std::string content = binary ? goal::GoalBinary(program) : goal::GoalText(program);
  if (output_ != "-" && !compression_.empty()) return WriteFile(output_, content, Method());
  return WriteOutput(output_, content);
}

int ConvertCommand::Run() {
  if (astra_sim_.chosen()) {
    const std::string missing = astra_sim_.Missing();
    if (!missing.empty()) return Misuse(missing);
    const absl::Status status = astra_sim_.Run();
    return status.ok() ? kDone : Fail(status);
  }
  if (pytorch_.chosen()) {
    const std::string missing = pytorch_.Missing();
    if (!missing.empty()) return Misuse(missing);
    const absl::Status status = pytorch_.Run();
    return status.ok() ? kDone : Fail(status);
  }
  if (inputs_.empty()) return Misuse("convert expects at least one IN");
  if (output_.empty()) return Misuse("convert expects -o OUT");
  if (!compression_.empty() && output_ == "-" && Method() != Compression::kNone && Format() != "et") {
    return Misuse("--compression of standard output is for --to et");
  }
  const Importer* importer = ImporterOfRun(inputs_, read_);
  const bool many = importer != nullptr && (importer->recorded || importer->leads != nullptr);
  if (Format() == "et" && output_ != "-" && many) {
    if (!cluster_.empty()) return Misuse("--cluster is for --to goal");
    const absl::Status status = ConvertRecording();
    return status.ok() ? kDone : Fail(status);
  }
  auto traces = ReadTraceSet(inputs_, read_);
  if (!traces.ok()) return Fail(traces.status());
  if (Format() == "goal") {
    const absl::Status written = WriteGoal(*std::move(traces));
    return written.ok() ? kDone : Fail(written);
  }
  if (!cluster_.empty()) return Misuse("--cluster is for --to goal");
  if (output_ == "-" && traces->ranks.size() > 1) {
    return Misuse(absl::StrCat("-o - takes one trace, but there are ", traces->ranks.size()));
  }
  WholeFolder folder;
  const OnSignal discard([&] { folder.Discard(); });
  const absl::Status status = Convert(*traces, &folder, nullptr);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace

std::unique_ptr<Command> MakeConvertCommand(CLI::App* root) {
  return std::make_unique<ConvertCommand>(
      root->add_subcommand("convert", "Convert traces, PyTorch captures and configurations of ASTRA-sim"));
}

}  // namespace chakra::cli
