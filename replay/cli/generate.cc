// `generate`: a training step from the configuration of its model, as traces.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/on_signal.h"
#include "replay/cli/terminal.h"
#include "replay/report/fitting.h"
#include "replay/report/training.h"
#include "trace/base/text_table.h"
#include "trace/base/threads.h"
#include "trace/generate/counts.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"
#include "trace/io/whole_folder.h"

namespace chakra::cli {
namespace {

// A text about a step of a recommendation model.
std::string DescribeTables(const generate::StepPlan& plan) {
  const generate::TableParameters p = generate::CountParameters(plan.tables);
  const double flops = generate::TrainingFlopsPerToken(plan);
  const auto samples = static_cast<double>(plan.training.global_batch);
  return absl::StrFormat(
      "Step of %s\n  parameters       %.3f billion: tables %.3f billion, MLPs and cross layers %.3f million\n"
      "  operations       %.2f MFLOP a sample, %.1f TFLOP a step (each GEMM three times, those of the first "
      "layer twice, no sums of rows)\n  ranks            %s (%s)\n",
      plan.name, static_cast<double>(p.total()) / 1e9, static_cast<double>(p.tables) / 1e9,
      static_cast<double>(p.dense()) / 1e6, flops / 1e6, flops * samples / 1e12,
      FormatCount(static_cast<uint64_t>(plan.split.ranks())), SplitText(plan));
}

std::string DescribeStep(const generate::StepPlan& plan) {
  if (plan.tables.any()) return DescribeTables(plan);
  const generate::ModelParameters p = generate::CountParameters(plan.model);
  const double flops = generate::TrainingFlopsPerToken(plan);
  const double tokens =
      static_cast<double>(plan.training.seq) * static_cast<double>(plan.training.global_batch);
  std::string out = absl::StrFormat("Step of %s\n  parameters       %.3f billion", plan.name,
                                    static_cast<double>(p.total) / 1e9);
  if (p.active != p.total)
    absl::StrAppendFormat(&out, ", %.3f billion of them for each token", static_cast<double>(p.active) / 1e9);
  const bool frozen = plan.training.frozen();
  if (frozen) {
    absl::StrAppendFormat(&out, "; adapters of rank %d have %.3f million, the only trained parameters",
                          plan.training.lora, static_cast<double>(generate::TrainedParameters(plan)) / 1e6);
  }
  absl::StrAppendFormat(&out,
                        "\n  operations       %.2f GFLOP a token, %.1f TFLOP a step (each GEMM %s, causal "
                        "attention at half, no recomputation)\n",
                        flops / 1e9, flops * tokens / 1e12,
                        frozen ? "twice, of adapters three times" : "three times");
  const generate::Split& s = plan.split;
  absl::StrAppend(&out, "  ranks            ", FormatCount(static_cast<uint64_t>(s.ranks())), " (tp ", s.tp,
                  ", cp ", s.cp, ", dp ", s.dp, ", pp ", s.pp, "; ep ", s.ep, ", etp ", s.etp, "; zero ",
                  s.zero, ")\n");
  absl::StrAppend(&out, "  micro-batches    ", plan.micro_batches(), " of ", plan.training.micro_batch, " x ",
                  plan.training.seq, " tokens on each rank\n");
  return out;
}

std::string Gib(int64_t bytes) { return absl::StrFormat("%.2f", static_cast<double>(bytes) / (1 << 30)); }

// A table of the peak memory of ranks, with a row for each stage.
std::string DescribeMemory(const generate::StepPlan& plan, uint64_t limit, TextPage* page) {
  TextTable table({plan.tables.any() ? "ranks like" : "stage", "in flight", "weights", "gradients",
                   "optimizer", "activations", "working", "peak"},
                  {false, false, false, false, false, false, false, false});
  std::string misfits;
  int64_t host = 0;
  const generate::Layout layout(plan.split);
  const std::vector<generate::RankMemory> stages = generate::MemoryOfAll(plan);
  for (int64_t s = 0; s < plan.split.graphs(); ++s) {
    const generate::RankMemory& m = stages[static_cast<size_t>(s)];
    const std::string row = absl::StrCat(plan.tables.any() ? layout.FirstOf(s) : s);
    table.Add({row, absl::StrCat(m.in_flight), Gib(m.weights), Gib(m.gradients), Gib(m.optimizer),
               Gib(m.activations), Gib(m.working), Gib(m.total())});
    host = std::max(host, m.host);
    if (limit == 0 || static_cast<uint64_t>(m.total()) <= limit) continue;
    absl::StrAppend(&misfits, plan.tables.any() ? "  a rank like " : "  a rank of stage ", row,
                    " does not fit: ", Gib(m.total() - static_cast<int64_t>(limit)), " GiB more than ",
                    Gib(static_cast<int64_t>(limit)), " GiB\n");
  }
  if (const std::string advice = misfits.empty() ? "" : FitAdvice(plan, limit); !advice.empty())
    absl::StrAppend(&misfits, "  ", advice, "\n");
  return absl::StrCat(
      "\nMemory of a rank at its peak, GiB (only tensors: no context, buffers of libraries, or memory that "
      "the allocator cannot use)\n",
      table.Print(page),
      host > 0 ? absl::StrCat("  in addition, the host's memory has up to ", Gib(host), " GiB of a rank\n")
               : "",
      misfits);
}

class GenerateCommand : public Command {
 public:
  explicit GenerateCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    app->add_option(
           "WORKLOAD", from_.file,
           "Workload file: proto/workload.proto as .txtpb or JSON, or the configuration of a "
           "framework. Frameworks: "
           "Megatron-LM (arguments), Megatron-Bridge (recipe), torchtitan (TOML), MaxText and Automodel "
           "(YAML), DeepSpeed "
           "(JSON), accelerate (YAML), HuggingFace's TrainingArguments, LLaMA-Factory, axolotl, TRL.")
        ->type_name("");
    AddWorkloadOptions(app, "", &from_);
    app->add_option("--set", from_.set,
                    "Set a field of the workload after all other options, as parallel.tp=8; may be repeated. "
                    "Fields are those of "
                    "proto/workload.proto.")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false);
    app->add_option("-o,--output", output_, "Folder for the traces; without it only the summary is printed.")
        ->type_name("DIR");
    app->add_option("--ranks", ranks_, "Write only these ranks, separated by commas.")
        ->delimiter(',')
        ->type_name("LIST");
    app->add_flag(
        "--share", share_,
        "Write each distinct graph once; default: one file for each rank. DIR/workload.ranks.json says which "
        "ranks share a file, and all commands of this program read it. Other readers need a file for each "
        "rank: "
        "`chakra-replay convert DIR -o OTHER` writes them.");
    AddDeviceMemory(app, "", "Report the ranks that need more memory than this, as 80GB.", &device_memory_);
    app->add_flag("--list", list_, "Print the presets of models with their sources, and exit.");
    app->add_option("--threads", threads_,
                    "Number of files written at the same time; default: the machine's cores.")
        ->type_name("N")
        ->check(CLI::Range(1, 4096).description(""));
    app->footer(
        "Example:\n"
        "  chakra-replay generate --model llama3-70b --parallel tp=8,pp=4,dp=2,zero=1 \\\n"
        "      --training seq=8192,global_batch=64 -o step\n"
        "  chakra-replay replay step --cluster dgx-h100\n"
        "`chakra-replay help TOPIC` prints a table of keys: model, parallel, training.");
    threads_ = DefaultThreads();
  }

  int Run() override {
    if (list_) return List();
    if (from_.file.empty() && from_.model.empty() && from_.set.empty())
      return Misuse("generate expects WORKLOAD or --model");
    if (share_ && output_.empty()) return Misuse("--share expects -o DIR");
    if (share_ && !ranks_.empty())
      return Misuse("--share writes what all ranks share; --ranks chooses files of ranks");
    const auto workload = generate::ReadWorkload(from_);
    if (!workload.ok()) return Fail(workload.status());
    const auto plan = generate::ResolvePlan(*workload);
    if (!plan.ok()) return Fail(plan.status());
    if (!output_.empty()) {
      const auto step = generate::BuildStep(*plan, threads_);
      if (!step.ok()) return Fail(step.status());
      WholeFolder whole;
      const OnSignal discard([&] { whole.Discard(); });
      const absl::Status written = share_ ? generate::WriteSharedStep(*step, output_, threads_, &whole)
                                          : generate::WriteStep(*step, output_, ranks_, threads_, &whole);
      if (!written.ok()) return Fail(written);
    }
    TextPage page = PageOf("-");
    std::string left_out = generate::LeftOut(*workload);
    if (!left_out.empty()) left_out = absl::StrCat("\nWarning: ", left_out, "\n");
    const absl::Status written =
        WriteOutput("-", page.Finish(absl::StrCat(DescribeStep(*plan),
                                                  DescribeMemory(*plan, device_memory_, &page), left_out)));
    return written.ok() ? kDone : Fail(written);
  }

 private:
  static int List() {
    TextTable table({"model", "source"}, {true, true});
    for (const std::string& name : generate::PresetNames())
      table.Add({name, generate::FindPreset(name)->source()});
    TextPage page = PageOf("-");
    const absl::Status written = WriteOutput("-", page.Finish(table.Print(&page)));
    return written.ok() ? kDone : Fail(written);
  }

  generate::WorkloadOptions from_;
  std::string output_;
  std::vector<int> ranks_;
  bool share_ = false;
  bool list_ = false;
  int threads_ = 1;
  uint64_t device_memory_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand(CLI::App* root) {
  return std::make_unique<GenerateCommand>(
      root->add_subcommand("generate", "Generate the traces of a training step of a model"));
}

}  // namespace chakra::cli
