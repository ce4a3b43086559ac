#include "replay/doctor/file_kinds.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/inputs/read_network.h"
#include "backends/topology/size.h"
#include "proto/cluster.pb.h"
#include "proto/compare.pb.h"
#include "proto/economics.pb.h"
#include "proto/edit.pb.h"
#include "proto/energy.pb.h"
#include "proto/kernel_table.pb.h"
#include "proto/plan.pb.h"
#include "proto/reliability.pb.h"
#include "proto/sweep.pb.h"
#include "proto/workload.pb.h"
#include "replay/calibrate/micro_benchmarks.h"
#include "replay/calibrate/nccl_tests.h"
#include "replay/collectives/custom/msccl_xml.h"
#include "replay/compare/input.h"
#include "replay/sweep/words.h"
#include "trace/foreign/foreign.h"
#include "trace/generate/huggingface/hf_config.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/io/sniff.h"
#include "trace/model/groups.h"

namespace chakra::doctor {
namespace {

std::string Command(absl::string_view before, const std::string& path, absl::string_view after = "") {
  return absl::StrCat("chakra-replay ", before, sweep::QuoteWord(path), after);
}

// Files recognized by the ending of their names, in lower case.
struct Ending {
  absl::string_view ending, what, remedy;
};
constexpr Ending kEndings[] = {
    {".ncu-rep", "a report of Nsight Compute: counters of single kernels, no run",
     "record the run with Nsight Systems or PyTorch's profiler: chakra-replay record-help nsys"},
    {".perfetto-trace", "a timeline for viewers, which is not read back", "open it at ui.perfetto.dev"},
    {".pftrace", "a timeline for viewers, which is not read back", "open it at ui.perfetto.dev"},
    {".safetensors", "a model's weights; no replay needs them",
     "the config.json next to them is enough: --model config.json"},
    {".ckpt", "a checkpoint; no replay needs it", ""},
    {".gguf", "a model's weights; no replay needs them", ""},
    {".rpd", "a recording of rocmProfileData", "record with rocprofv3: chakra-replay record-help rocprof"},
    {".parquet", "a table of Parquet; nsys exports some on request",
     "export to SQLite instead: nsys export -t sqlite --include-blobs=true REPORT.nsys-rep"},
    {".h5", "a table of HDF5; nsys exports one on request",
     "export to SQLite instead: nsys export -t sqlite --include-blobs=true REPORT.nsys-rep"},
    {".arrow", "a table of Arrow; nsys exports some on request",
     "export to SQLite instead: nsys export -t sqlite --include-blobs=true REPORT.nsys-rep"},
};

std::string Remedy(absl::string_view text, const std::string& path) {
  const size_t at = text.find("PATH");
  if (at == text.npos) return std::string(text);
  return absl::StrCat(text.substr(0, at), sweep::QuoteWord(path), text.substr(at + 4));
}

bool LooksLikePage(absl::string_view head) {
  const std::string begin =
      absl::AsciiStrToLower(absl::StripLeadingAsciiWhitespace(head.substr(0, 512)).substr(0, 64));
  return absl::StartsWith(begin, "<!doctype html") || absl::StartsWith(begin, "<html");
}

// A message that a whole file may contain, and the words of the command that reads such a file.
struct Configured {
  std::unique_ptr<google::protobuf::Message> (*make)();
  absl::string_view what, before, after;
};
template <typename M>
std::unique_ptr<google::protobuf::Message> Make() {
  return std::make_unique<M>();
}
constexpr Configured kConfigured[] = {
    {Make<proto::Cluster>, "a cluster", "replay TRACE --cluster ", ""},
    {Make<proto::KernelTable>, "a kernel table", "replay TRACE --kernels ", " --compute table,interpolate"},
    {Make<proto::EditScript>, "a script of edits", "replay TRACE --edit ", ""},
    {Make<proto::Sweep>, "a sweep", "sweep ", " -o FOLDER"},
    {Make<proto::Workload>, "a workload", "replay ", ""},
    {Make<proto::Reliability>, "rates of failure", "replay TRACE --run-steps N --reliability ", ""},
    {Make<proto::EnergyModel>, "constants of energy", "replay TRACE --energy=", ""},
    {Make<proto::Prices>, "prices", "replay TRACE --energy --prices ", ""},
    {Make<proto::Grid>, "a grid's intensity and footprints", "replay TRACE --energy --grid ", ""},
    {Make<proto::PlanReport>, "a report of `plan`", "", ""},
    {Make<proto::Comparison>, "a report of `compare`", "", ""},
    {Make<proto::EditReport>, "a report of `edit`", "", ""},
};

// Whether a message has more than a name and a comment, which any file may have.
bool SaysMore(const google::protobuf::Message& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return std::any_of(fields.begin(), fields.end(), [](const auto* f) {
    return f->name() != "name" && f->name() != "comment" && f->name() != "description" &&
           f->name() != "version" && f->name() != "source";
  });
}

// Plans of MSCCL++ have a list of GPUs with their thread blocks.
bool LooksLikeMscclPlusPlus(absl::string_view content) {
  return LooksLikeJson(content) && absl::StrContains(content, "\"gpus\"") &&
         absl::StrContains(content, "\"threadblocks\"") && absl::StrContains(content, "\"collective\"");
}

std::optional<FileKind> MessageKind(const std::string& path, absl::string_view content) {
  for (const Configured& c : kConfigured) {
    const std::unique_ptr<google::protobuf::Message> message = c.make();
    if (!ParseMessage(content, path, message.get()).ok() || !SaysMore(*message)) continue;
    return FileKind{std::string(c.what), "", c.before.empty() ? "" : Command(c.before, path, c.after)};
  }
  return std::nullopt;
}

// A network file, as --network and `topology` read it.
std::optional<FileKind> NetworkFileKind(const std::string& path, absl::string_view content) {
  const auto format = SniffNetwork(content, path);
  if (!format.ok()) return std::nullopt;
  const auto read = ReadNetworkFile(content, path);
  if (!read.ok()) return std::nullopt;
  const absl::string_view as = *format == NetworkFormat::kLinks        ? "a network as ns-3's list of links"
                               : *format == NetworkFormat::kInfraGraph ? "a network as InfraGraph"
                                                                       : "a network as a graph";
  const NetworkSize size = SizeOf(read->network.graph);
  return FileKind{absl::StrCat(as, ": ", read->network.graph.devices(), " devices, ", size.switches,
                               size.switches == 1 ? " switch, " : " switches, ", size.cables, " cables"),
                  absl::StrCat("use it for a run: ", Command("replay TRACE --network ", path)),
                  Command("topology show ", path)};
}

bool Printable(absl::string_view head) {
  head = head.substr(0, 4096);
  for (const char c : head) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b')
      return false;
  }
  return true;
}

}  // namespace

std::optional<FileKind> ForeignKind(const std::string& path, absl::string_view head) {
  std::error_code error;
  if (head.empty() && std::filesystem::file_size(path, error) == 0 && !error)
    return FileKind{"an empty file", "copy or record the file again", ""};
  if (const Signature* known = FindSignature(head))
    return FileKind{std::string(known->what), Remedy(known->remedy, path), ""};
  const std::string lower = absl::AsciiStrToLower(path);
  for (const Ending& e : kEndings) {
    if (absl::EndsWith(lower, e.ending)) return FileKind{std::string(e.what), Remedy(e.remedy, path), ""};
  }
  if (LooksLikeJson(head) && absl::StrContains(head, "\"rank_id\"") &&
      absl::StartsWith(std::filesystem::path(path).filename().string(), "profiler_info"))
    return FileKind{"torch_npu's description of its profiler, with the rank of the trace next to it", "", ""};
  if (LooksLikePage(head)) {
    const bool ours = absl::StrContains(head, "chakra-replay");
    return FileKind{ours ? "a page that this program wrote" : "a page of HTML",
                    ours ? "open it in a browser"
                         : "a download that needs a login gives such a page: fetch the file again",
                    ""};
  }
  return std::nullopt;
}

std::optional<FileKind> FrameworkKind(const std::string& path, absl::string_view head) {
  const foreign::Role role = foreign::RoleOf(head);
  const bool json = absl::EndsWith(absl::AsciiStrToLower(path), ".json");
  if (role == foreign::Role::kNone || (role == foreign::Role::kStep && !json)) return std::nullopt;
  const absl::StatusOr<std::string> content = ReadFile(path, kMostConfigured);
  if (!content.ok()) return std::nullopt;
  foreign::Beside beside;
  beside.has_model = role == foreign::Role::kLauncher;
  const auto read = foreign::ReadForeign(*content, path, beside);
  FileKind out{absl::StrCat("a configuration of training: ", foreign::FormatOf(head)), "", ""};
  const absl::string_view error = read.status().message();
  if (!read.ok()) out.remedy = std::string(error.substr(error.find(path) == 0 ? path.size() + 2 : 0));
  std::string options;
  if (role == foreign::Role::kLauncher) options = " --model llama3-8b";
  if (read.ok() && !read->parallel().has_dp()) absl::StrAppend(&options, " --parallel dp=8");
  if (read.ok() && !read->training().has_seq()) absl::StrAppend(&options, " --training seq=4096");
  if (read.ok()) out.next = Command("replay ", path, absl::StrCat(options, " --cluster dgx-h100"));
  return out;
}

std::optional<FileKind> ConfiguredKind(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kMostConfigured);
  if (!content.ok() || !Printable(*content)) return std::nullopt;
  if (absl::StripAsciiWhitespace(*content).empty()) return FileKind{"a file of blanks", "", ""};
  if (absl::StrContains(*content, "<algo") && ReadMscclXml(*content, path).ok())
    return FileKind{"a collective algorithm (MSCCL)", "", Command("replay TRACE --program ", path)};
  if (absl::StrContains(*content, "scheduling-policy") || absl::StrContains(*content, "npus_count") ||
      absl::StrContains(*content, "\"memory-type\"") || absl::StrContains(*content, "\"logical-dims\"")) {
    return FileKind{
        "a configuration of ASTRA-sim", "",
        "chakra-replay convert astra-sim --network NETWORK.yml --system SYSTEM.json -o cluster.txtpb"};
  }
  if (LooksLikeMscclPlusPlus(*content)) {
    return FileKind{
        "a plan of MSCCL++, which is not read",
        "give an algorithm in MSCCL's XML, or traces of sends and receives: replay TRACE --program FILE", ""};
  }
  if (std::optional<FileKind> kind = NetworkFileKind(path, *content)) return kind;
  if (std::optional<FileKind> kind = MessageKind(path, *content)) return kind;
  proto::Report report;
  if (LooksLikeReport(*content, path).value_or(false) && ParseMessage(*content, path, &report).ok() &&
      CheckReport(report, path).ok())
    return FileKind{"a report of `replay`", "", Command("compare ", path, " OTHER")};
  if (generate::ParseHuggingFaceConfig(*content, path).ok()) {
    return FileKind{"the configuration of a model", "",
                    Command("plan --model ", path, " --training seq=4096,global_batch=1024 --ranks 64")};
  }
  TraceSet groups;
  if (absl::EndsWith(absl::AsciiStrToLower(path), ".json") && GroupsFromFile(path, &groups).ok() &&
      !groups.groups.empty())
    return FileKind{"process groups", "", Command("replay TRACE --groups ", path)};
  if (LooksLikeNcclTests(*content) && ReadNcclTests(*content, path).ok())
    return FileKind{"measurements of nccl-tests", "",
                    Command("calibrate ", path, " --cluster PRESET -o measured.txtpb")};
  if (LooksLikeMicroBenchmark(*content)) {
    constexpr absl::string_view kWhat = "measurements of OSU's micro-benchmarks or perftest";
    if (ReadMicroBenchmarks(*content, path, 0).ok())
      return FileKind{std::string(kWhat), "",
                      Command("calibrate ", path, " --cluster PRESET -o measured.txtpb")};
    if (ReadMicroBenchmarks(*content, path, 2).ok())
      return FileKind{std::string(kWhat), "say how many ranks ran it: --ranks N",
                      Command("calibrate ", path, " --ranks N --cluster PRESET -o measured.txtpb")};
  }
  if (absl::StrContains(*content, "NCCL INFO"))
    return FileKind{
        "a debug log of NCCL, without times",
        "record the calls with NCCL's profiler plugin or Inspector, or PyTorch's Flight Recorder: "
        "chakra-replay record-help nccl",
        ""};
  return std::nullopt;
}

}  // namespace chakra::doctor
