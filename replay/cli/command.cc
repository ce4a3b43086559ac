#include "replay/cli/command.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/fluid/options.h"
#include "backends/packet/options.h"
#include "backends/registry.h"
#include "proto/cluster.pb.h"
#include "trace/base/free_memory.h"
#include "trace/base/printable.h"
#include "trace/base/quantity.h"
#include "trace/base/spelling.h"
#include "trace/io/compressed_file.h"
#include "trace/io/settings.h"

namespace chakra::cli {
namespace {

std::string Nearest(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(name, names);
  return nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?");
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
    for (const std::string& n : o->get_snames()) names.push_back("-" + n);
  }
  return names;
}

// Of a short form.
std::string Keys(const google::protobuf::Descriptor& type) {
  return absl::StrJoin(DescribeSettings(type), ", ",
                       [](std::string* out, const SettingDoc& d) { out->append(d.key); });
}

}  // namespace

void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

std::string StrayArgument(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  if (rest.empty()) return "";
  const std::string option = rest[0].substr(0, rest[0].find('='));
  if (option.size() > 1 && option[0] == '-') {
    return absl::StrCat("there is no option ", option, Nearest(option, OptionNames(app)));
  }
  return absl::StrCat("unexpected argument \"", rest[0], "\"");
}

// The check's name holds the words.
constexpr absl::string_view kOneOf = "one of ";

CLI::Validator OneOf(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("").name(absl::StrCat(kOneOf, absl::StrJoin(words, " ")));
}

std::vector<std::string> WordsOf(CLI::Option* option) {
  try {
    absl::string_view words = option->get_validator(0)->get_name();
    if (absl::ConsumePrefix(&words, kOneOf)) return absl::StrSplit(words, ' ');
  } catch (const CLI::OptionNotFound&) {  // it has no check
  }
  return {};
}

void AddMemoryOption(CLI::App* app, const std::string& group) {
  const std::string name = "--max-memory";
  app->add_option_function<std::string>(
         name,
         [name](const std::string& text) {
           const auto bytes = ParseBytes(text);
           const absl::Status status = bytes.ok() ? LimitMemory(*bytes) : bytes.status();
           if (!status.ok()) throw CLI::ValidationError(name, std::string(status.message()));
         },
         "The most memory for data, 8GB or 500MiB: a run that needs more is refused before it begins where "
         "that can be told, and ends when it asks for more; default: what is free")
      ->type_name("SIZE")
      ->group(group);
}

void AddFlowOptions(CLI::App* app, const std::string& group, FabricOptions* options) {
  const std::string fabrics = Listed(FabricsThatTake(FlowOptions::kSet));
  FlowOptions& flows = options->Ask<FlowOptions>();
  app->add_option_function<double>(
         "--flow-startup-ns", [&flows](double ns) { flows.startup = Time::FromNanos(ns); },
         absl::StrCat("Time before a flow takes its links, for --fabric ", fabrics, "; ns; default: 0"))
      ->type_name("NS")
      ->group(group);
  app->add_option("--flow-efficiency", flows.efficiency,
                  absl::StrCat("Share of each link's bandwidth that flows get, for --fabric ", fabrics,
                               "; default: 1"))
      ->type_name("SHARE")
      ->group(group);
  app->add_option(
         "--fluid-tolerance", flows.tolerance,
         absl::StrCat("Where each end changes the rates of hundreds of flows, as in an all-to-all of "
                      "unequal sizes: give to others what ended flows leave later, by at most this share of "
                      "the time since a flow last came, for --fabric ",
                      fabrics, "; 0 to 0.1; default: 0, at once"))
      ->type_name("FRACTION")
      ->group(group);
}

void AddTopologyOptions(CLI::App* app, const std::string& group, TopologyOptions* options) {
  app->add_option(
         "--network", options->network,
         "What joins the nodes, in place of the cluster's last dimension: NAME:key=value,... (see "
         "`chakra-replay topology list`) or a file of a network, FILE:span=... with the key; span=rails: "
         "a network for each rail; span=machine: all dimensions. Ports are the cluster's cards where the "
         "network does not say; injection=400Gb/s makes all ports of a device so fast together")
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--routing", options->routing,
                  absl::StrCat("Through networks: ecmp, destination, flowlet, spray, valiant or ugal, with "
                               ":key=value,... (",
                               Keys(*proto::Routing::descriptor()), "); default: ecmp"))
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--fault", options->faults,
                  absl::StrCat("A fault of links, for --fabric ", Listed(FabricsThatFollowLinks()),
                               "; may be repeated: "
                               "down:vertex=leaf.3,after=10us,until=1ms "
                               "or slow:device=5,bandwidth=0.5 or lossy:from=leaf.0,to=spine.1,loss=0.01 "
                               "(share of packets that "
                               "packet loses by chance, and of the bandwidth that fluid takes)"))
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--packet", options->packet,
                  absl::StrCat("Packets, queues and transport, for --fabric ",
                               Listed(FabricsThatTake(packet::PacketOptions::kSet)), ": key=value,... (",
                               Keys(*proto::PacketNetwork::descriptor()),
                               "); what they mean: SETTINGS of `chakra-replay manual`"))
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--mixed", options->mixed,
                  "Messages that --fabric mixed sends by packets, the others being fluid: link=leaf.0 or "
                  "link=leaf.* - spine.0 (that cross such links), class, dimension (of links), ranks=8-15 or "
                  "ranks=(3,8-15), after=10us, until=1ms (when they begin); of all that is given. May be "
                  "repeated: any of them")
      ->type_name("SPEC")
      ->group(group);
  app->add_option(
         "--set", options->set,
         "A field of the cluster (proto/cluster.proto), after all other options: "
         "device.memory_gbytes_per_s=3350, topology.dimension[0].latency_ns=500, "
         "collectives.algorithm[all_reduce]=ring; += adds to a list; of a generated step also a field of "
         "proto/workload.proto: parallel.tp=8; may be repeated")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false)
      ->group(group);
}

CLI::Validator WholeFrom(uint64_t least) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const auto check = [least, kMost](std::string& text) -> std::string {
    uint64_t v = 0;
    // As CLI11 reads it: hexadecimal too.
    if (!absl::StrContains(text, '-') && CLI::detail::lexical_cast(text, v) && v >= least) return "";
    return absl::StrCat("it is ", text, "; expected a whole number from ", least, " to ", kMost);
  };
  return CLI::Validator(check, "");
}

absl::Status CheckFabricName(const std::string& name) {
  if (FindFabric(name) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no fabric \"", name, "\"", SuggestName(name, FabricNames())));
}

void PrintError(absl::string_view message) {
  // A message goes on in lines that begin with two blanks; any other end of a line is a name's.
  const std::vector<std::string> lines = absl::StrSplit(message, "\n  ");
  const std::string line = absl::StrCat(
      "chakra-replay: ",
      absl::StrJoin(lines, "\n  ",
                    [](std::string* out, const std::string& part) { out->append(Printable(part)); }),
      "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int Command::Fail(const absl::Status& status) {
  PrintError(status.message());
  return kFailed;
}

int Command::Misuse(const std::string& message) const {
  std::string path;  // from the program down
  for (const CLI::App* app = app_; app != nullptr; app = app->get_parent()) {
    path = absl::StrCat(app->get_name(), " ", path);
  }
  PrintError(absl::StrCat(message, "; see `", path, "--help`"));
  return kMisuse;
}

std::string FormatOf(absl::string_view path) {
  const absl::string_view name = WithoutCompression(path);
  return absl::EndsWith(name, ".json") ? "json" : absl::EndsWith(name, ".csv") ? "csv" : "text";
}

absl::Status WriteOutput(const std::string& path, absl::string_view content) {
  if (path != "-") return WriteFile(path, content);
  std::string printable;
  if (isatty(STDOUT_FILENO) == 1) content = printable = PrintableLines(content);
  if (std::fwrite(content.data(), 1, content.size(), stdout) == content.size() && std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("cannot write standard output: ", std::strerror(errno)));
}

absl::Status CheckOutputPath(const std::string& path) {
  if (path == "-") return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path p(path);
  if (std::filesystem::is_directory(p, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write ", path, ": it is a folder; expected a file"));
  }
  const std::filesystem::path folder = p.has_parent_path() ? p.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("cannot write ", path, ": there is no folder ", folder.string()));
  }
  return absl::OkStatus();
}

int DefaultThreads() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace chakra::cli
