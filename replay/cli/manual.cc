// `manual`: the manual page, made from the options themselves.
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/packet/transports/any_transport.h"
#include "proto/cluster.pb.h"
#include "proto/workload.pb.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cluster/load.h"
#include "trace/io/settings.h"

namespace chakra::cli {
namespace {

// Text as roff shows it: no line begins a request, hyphens are minus signs.
std::string Roff(absl::string_view text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!out.empty()) out += '\n';
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) out += "\\&";
    absl::StrAppend(&out, absl::StrReplaceAll(line, {{"\\", "\\e"}, {"-", "\\-"}}));
  }
  return out;
}

std::string OptionEntry(const CLI::Option* option) {
  std::vector<std::string> names;
  for (const std::string& n : option->get_snames()) names.push_back("-" + n);
  for (const std::string& n : option->get_lnames()) names.push_back("--" + n);
  if (names.empty()) names.push_back(option->get_name());
  const std::string value = option->get_items_expected_max() > 0 && !option->get_type_name().empty()
                                ? absl::StrCat(" \\fI", Roff(option->get_type_name()), "\\fR")
                                : "";
  return absl::StrCat(".TP\n\\fB", Roff(absl::StrJoin(names, ", ")), "\\fR", value, "\n",
                      Roff(option->get_description()), "\n");
}

void AddCommand(const CLI::App* app, const std::string& path, std::string* out) {
  if (!path.empty()) absl::StrAppend(out, ".SS ", Roff(path), "\n", Roff(app->get_description()), ".\n");
  for (const CLI::Option* option : app->get_options()) absl::StrAppend(out, OptionEntry(option));
  if (!path.empty() && !app->get_footer().empty())
    absl::StrAppend(out, ".PP\n.nf\n", Roff(app->get_footer()), "\n.fi\n");
  for (const CLI::App* sub : app->get_subcommands(nullptr)) {
    AddCommand(sub, absl::StrCat(path, path.empty() ? "" : " ", sub->get_name()), out);
  }
}

std::string Entry(absl::string_view key, absl::string_view fallback, absl::string_view doc) {
  return absl::StrCat(".TP\n\\fB", Roff(key), "\\fR\n", Roff(doc),
                      fallback.empty() ? "" : absl::StrCat("; default: ", Roff(fallback)), "\n");
}

void AddSettings(absl::string_view title, const google::protobuf::Descriptor& type, std::string* out) {
  absl::StrAppend(out, ".SS ", Roff(title), "\n");
  for (const SettingDoc& d : DescribeSettings(type)) absl::StrAppend(out, Entry(d.key, d.fallback, d.doc));
}

// The keys of short forms, as the messages and the transports declare them.
void AddAllSettings(std::string* out) {
  absl::StrAppend(
      out, ".SH SETTINGS\n",
      "Keys of the options that take key=value,... Sizes are in bytes, or with B, KB, MB, GB, KiB, MiB or "
      "GiB; times and rates have their unit.\nOf a cluster file, an option with keys and ",
      Roff("--set"), ", the later one counts, for each setting apart.\n");
  AddSettings("--model", *proto::Model::descriptor(), out);
  AddSettings("--parallel", *proto::Parallel::descriptor(), out);
  AddSettings("--training", *proto::Training::descriptor(), out);
  AddSettings("--packet", *proto::PacketNetwork::descriptor(), out);
  for (const packet::TransportKind& kind : packet::TransportKinds()) {
    absl::StrAppend(out, ".SS ", Roff(absl::StrCat("--packet transport=(", kind.name, ":...)")), "\n",
                    Roff(kind.summary), " (", Roff(kind.source), ").\n");
    for (const Parameter& p : kind.parameters) absl::StrAppend(out, Entry(p.key, p.fallback, p.doc));
  }
  AddSettings("--routing POLICY:...", *proto::Routing::descriptor(), out);
  AddSettings("--fault KIND:...", *proto::LinkFault::descriptor(), out);
  AddSettings("--mixed", *proto::PacketChoice::descriptor(), out);
  absl::StrAppend(out, ".SS ", Roff("--cluster PRESET:..."), "\n", Roff(absl::StrJoin(OverrideKeys(), ", ")),
                  "; peak_tflops.DTYPE\n");
}

class ManualCommand : public Command {
 public:
  explicit ManualCommand(CLI::App* app) : Command(app) {
    app->footer("Example:\n  chakra-replay manual | man -l -");
  }

  int Run() override {
    CLI::App* root = app()->get_parent();
    FillHelp(root);
    std::string page = absl::StrCat(
        ".TH CHAKRA\\-REPLAY 1 \"\" \"chakra\\-replay ", Roff(CHAKRA_VERSION), "\" \"User commands\"\n",
        ".SH NAME\nchakra\\-replay \\- replay distributed\\-training traces on simulated clusters\n",
        ".SH SYNOPSIS\n.B chakra\\-replay\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n",
        ".SH DESCRIPTION\n", Roff(root->get_description()),
        "\nData goes to standard output or a file, everything else to standard error. No colours are used.\n"
        "On a terminal, tables fit its width, or that of COLUMNS where it is set to 20 or more; a last line "
        "says\n"
        "what was shortened. In files and pipes they are whole.\n",
        ".SH COMMANDS AND OPTIONS\n");
    AddCommand(root, "", &page);
    AddAllSettings(&page);
    absl::StrAppend(&page, ".SH EXIT STATUS\n", ".TP\n0\nDone.\n.TP\n1\nThe input or the run is at fault.\n",
                    ".TP\n2\nThe command line is at fault.\n");
    const absl::Status written = WriteOutput("-", page);
    return written.ok() ? kDone : Fail(written);
  }
};

}  // namespace

std::unique_ptr<Command> MakeManualCommand(CLI::App* root) {
  return std::make_unique<ManualCommand>(root->add_subcommand("manual", "Print the manual page, in roff"));
}

}  // namespace chakra::cli
