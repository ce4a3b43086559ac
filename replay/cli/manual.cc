// `manual`: the manual page, made from the options themselves.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/cli/help/topics.h"
#include "replay/cli/message_options.h"

namespace chakra::cli {
namespace {

// Escapes text for roff: no line starts a request, and hyphens are minus signs.
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
  const std::string label = OptionLabel(*option), &value = option->get_type_name();
  absl::string_view name = label;
  const bool valued = !value.empty() && absl::ConsumeSuffix(&name, value);
  return absl::StrCat(".TP\n\\fB", Roff(name), "\\fR",
                      valued ? absl::StrCat("\\fI", Roff(value), "\\fR") : "", "\n",
                      Roff(option->get_description()), "\n");
}

void AddCommand(const CLI::App* app, const std::string& path, std::string* out) {
  if (!path.empty()) absl::StrAppend(out, ".SS ", Roff(path), "\n", Roff(app->get_description()), ".\n");
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_group().empty()) absl::StrAppend(out, OptionEntry(option));
  }
  if (!path.empty() && HasOwnFooter(*app))
    absl::StrAppend(out, ".PP\n.nf\n", Roff(app->get_footer()), "\n.fi\n");
  for (const CLI::App* sub : app->get_subcommands(nullptr)) {
    AddCommand(sub, absl::StrCat(path, path.empty() ? "" : " ", sub->get_name()), out);
  }
}

std::string Entry(const KeyRow& row) {
  return absl::StrCat(".TP\n\\fB", Roff(row.key), "\\fR\n", Roff(row.doc), row.values.empty() ? "" : "; ",
                      Roff(row.values), row.fallback.empty() ? "" : "; default: ", Roff(row.fallback), "\n");
}

// The tables of keys, as `help` prints them.
void AddTopics(std::string* out) {
  absl::StrAppend(
      out, ".SH KEYS\n",
      "Keys of the options that take key=value,... Sizes are in bytes, or with B, KB, MB, GB, KiB, MiB or "
      "GiB; times and rates have their unit.\nA cluster file, an option with keys and ",
      Roff("--set"), " may set the same field: the later one of these counts.\n");
  for (const std::vector<HelpTopic>& topics : {HelpTopics(), HelpSubtopics()}) {
    for (const HelpTopic& topic : topics) {
      absl::StrAppend(out, ".SS ", Roff(topic.title), "\n", Roff(topic.about),
                      topic.about.empty() ? "" : "\n");
      for (const KeyRow& row : topic.rows) absl::StrAppend(out, Entry(row));
    }
  }
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
    AddTopics(&page);
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
