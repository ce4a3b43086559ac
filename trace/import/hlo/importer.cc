#include "trace/import/hlo/importer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/fuse.h"
#include "trace/import/hlo/proto_reader.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/hlo/write.h"
#include "trace/import/recorded/files.h"

namespace chakra::hlo {
namespace {

constexpr absl::string_view kExplained[] = {".mlir"};
constexpr absl::string_view kEndings[] = {".hlo", ".hlo.txt", ".txt", ".hlo.pb", ".hlo_proto.pb", ".pb"};

// Describes a file that comes from XLA, or from a step before it, but is not a module that can be read; "":
// another file.
absl::string_view OtherForm(absl::string_view head) {
  for (head = absl::StripLeadingAsciiWhitespace(head); absl::StartsWith(head, "//");
       head = absl::StripLeadingAsciiWhitespace(head))
    head.remove_prefix(std::min(head.find('\n'), head.size()));
  const auto begins = [&](absl::string_view text) { return absl::StartsWith(head, text); };
  if ((begins("module @") || begins("module {") || begins("module attributes")) &&
      (absl::StrContains(head, "func.func") || absl::StrContains(head, "hlo.")))
    return "MLIR (StableHLO), a program from before XLA's partitioning, without the devices' operations";
  if (begins("hlo_module {") || begins("hlo_module:")) return "an HloProto in protobuf's text form";
  if (begins("ENTRY ") || begins("ENTRY%")) return "HLO text without its first line, HloModule NAME";
  return "";
}

bool Sniff(absl::string_view head) {
  return LooksLikeHloText(head) || LooksLikeHloProto(head) || !OtherForm(head).empty();
}

absl::StatusOr<Module> ReadModule(const std::string& path, InputFile* input) {
  Buffer content;
  RETURN_IF_ERROR(ReadRecordedFile(path, &content, input));
  input->role = "trace";
  if (const absl::string_view other = OtherForm(content.view()); !other.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", other,
        "; expected the module after XLA's optimisations, as text or .hlo.pb: run with "
        "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\" and take *after_optimizations.txt"));
  }
  return LooksLikeHloText(content.view()) ? ReadHloText(content.view(), path)
                                          : ReadHloProto(content.view(), path);
}

struct Candidate {
  std::string path;
  Module module;
  Step step;
  InputFile input;
};

// Whether the file's name says that the module is the result of the optimizations. A dump folder has other
// stages of each module too.
bool AfterOptimizations(const std::string& path) { return absl::StrContains(path, "after_optimizations"); }

// Returns the files of a folder that may be a step: only those after the optimizations, if there are any. If
// a module is there as text and as proto, returns the text, which has the number of devices.
std::vector<std::string> Choose(std::vector<std::string> files, std::vector<std::string>* left) {
  if (std::any_of(files.begin(), files.end(), AfterOptimizations)) {
    const auto kept = std::stable_partition(files.begin(), files.end(), AfterOptimizations);
    left->insert(left->end(), kept, files.end());
    files.erase(kept, files.end());
  }
  const auto stem = [](const std::string& path) {
    return path.substr(0, path.find("after_optimizations") == path.npos ? path.rfind('.')
                                                                        : path.find("after_optimizations"));
  };
  std::vector<std::string> out;
  for (std::string& path : files) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const std::string& o) { return stem(o) == stem(path); });
    if (same == out.end()) {
      out.push_back(std::move(path));
    } else if (absl::EndsWith(path, ".txt") || absl::EndsWith(path, ".hlo")) {
      left->push_back(std::move(*same));
      *same = std::move(path);
    } else {
      left->push_back(std::move(path));
    }
  }
  return out;
}

double Weight(const Step& step) {
  double sum = 0;
  for (const StepNode& n : step.nodes) {
    if (n.facts != kNoRow)
      sum += static_cast<double>(step.facts[n.facts].bytes) +
             static_cast<double>(step.facts[n.facts].operations) / 256;
  }
  return sum;
}

// If a module neither gives its number of devices nor names any device, runs it on `ranks` devices: as
// replicas, or as partitions if all its collectives have channels, which connect partitions.
void SetDevices(int ranks, Module* module) {
  bool told = false;
  if (ranks <= 0 || MeshOf(*module, &told).devices() != 1 || told) return;
  bool channels = false, none = false;
  for (const Computation& c : module->computations) {
    for (uint32_t row = 0; row < c.instructions.size(); ++row) {
      const Collective collective = CollectiveOf(*module, c, row);
      if (collective.kind == CollectiveKind::kNone) continue;
      (collective.what->channel > 0 ? channels : none) = true;
    }
  }
  (channels && !none ? module->partitions : module->replicas) = ranks;
}

absl::Status CheckOptions(const ReadOptions& options) {
  if (!options.groups_file.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(options.groups_file, ": an HLO module has its own groups; expected no groups file"));
  if (options.capture.steps.empty() && options.capture.ranks.empty() && options.capture.step_range.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "only captures allow selecting steps and ranks; an HLO module is a step without times");
}

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::vector<std::string> left;
  ASSIGN_OR_RETURN(auto files, FindRecordedFiles(inputs, kImporter, &left));
  const std::vector<std::string> chosen = Choose(std::move(files), &left);
  // The step is the module with the most work; other modules prepare it.
  std::vector<Candidate> candidates;
  for (const std::string& path : chosen) {
    Candidate c;
    c.path = path;
    ASSIGN_OR_RETURN(c.module, ReadModule(path, &c.input));
    SetDevices(options.ranks, &c.module);
    FuseElementwise(&c.module);
    auto step = BuildStep(c.module, path);
    if (!step.ok() && chosen.size() > 1 && absl::StrContains(step.status().message(), "runs nothing"))
      continue;
    if (!step.ok()) return step.status();
    c.step = *std::move(step);
    candidates.push_back(std::move(c));
  }
  if (candidates.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(absl::StrJoin(inputs, ", "), ": no module runs an operation"));
  const auto best = std::max_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return Weight(a.step) < Weight(b.step); });
  ASSIGN_OR_RETURN(auto set, TracesOf(best->module, best->step, best->path, options));
  set.inputs.push_back(best->input);
  if (candidates.size() > 1) {
    set.warnings.push_back(absl::StrCat("of ", candidates.size(),
                                        " modules, the one with the most work is the step: ", best->path,
                                        "; name a file to use another module"));
  }
  return set;
}

}  // namespace

const Importer kImporter = {
    .name = "hlo",
    .title = "HLO module of XLA",
    .help = "text or proto after optimisations, of --xla_dump_to",
    .endings = kEndings,
    .sniff = Sniff,
    .run = Read,
    .recorded = false,
    .explained = kExplained,
};

}  // namespace chakra::hlo
