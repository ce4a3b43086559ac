#include "replay/cli/command_line.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "replay/cli/command.h"
#include "replay/cli/commit.h"
#include "replay/cli/help/help.h"
#include "replay/cli/help_command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/output.h"
#include "replay/cli/terminal.h"
#include "trace/base/did_you_mean.h"

namespace chakra::cli {
namespace {

std::vector<std::string> CommandNames(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app->get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

std::string ExpectedCommand(const CLI::App* app) {
  std::vector<std::string> names = CommandNames(app);
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat("expected a command: ", absl::StrJoin(names, ", "), " or ", last);
}

int Misuse(const std::string& message, const std::string& help_of) {
  PrintError(SeeCommand(message, absl::StrCat("chakra-replay ", help_of, "--help")));
  return kMisuse;
}

std::string HelpOf(const CLI::App* app) {
  std::string path;
  for (; app != nullptr && app->get_parent() != nullptr; app = app->get_parent()) {
    path = absl::StrCat(app->get_name(), " ", path);
  }
  return path;
}

struct CommandEntry {
  absl::string_view name;
  std::unique_ptr<Command> (*make)(CLI::App* root);
};
constexpr CommandEntry kCommands[] = {{"replay", MakeReplayCommand},
                                      {"inspect", MakeInspectCommand},
                                      {"doctor", MakeDoctorCommand},
                                      {"convert", MakeConvertCommand},
                                      {"edit", MakeEditCommand},
                                      {"generate", MakeGenerateCommand},
                                      {"plan", MakePlanCommand},
                                      {"collective", MakeCollectiveCommand},
                                      {"calibrate", MakeCalibrateCommand},
                                      {"topology", MakeTopologyCommand},
                                      {"compare", MakeCompareCommand},
                                      {"kernels", MakeKernelsCommand},
                                      {"sweep", MakeSweepCommand},
                                      {"record-help", MakeRecordHelpCommand},
                                      {"goodput", MakeGoodputCommand},
                                      {"help", MakeHelpCommand},
                                      {"completion", MakeCompletionCommand},
                                      {"manual", MakeManualCommand}};

// Building the options of all commands takes longer than a small run. If the command line names a command,
// only that command is built, unless the command describes all others.
bool IsNeeded(const CommandEntry& entry, const std::vector<std::string>& arguments) {
  for (const absl::string_view tells_of_all : {"help", "completion", "manual"}) {
    if (arguments.empty() || arguments[0] == tells_of_all) return true;
  }
  if (arguments.size() == 1 && arguments[0] == "--version") return false;
  const bool named = std::any_of(std::begin(kCommands), std::end(kCommands),
                                 [&](const CommandEntry& e) { return e.name == arguments[0]; });
  return !named || entry.name == arguments[0];
}

// Collects the paths of those subcommands of `app` that have the option, as "topology show".
void AddThoseWith(const std::string& option, const CLI::App& app, std::vector<std::string>* paths) {
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_option_no_throw(option) != nullptr) {
      std::string path = HelpOf(sub);
      path.pop_back();
      paths->push_back(std::move(path));
    }
    AddThoseWith(option, *sub, paths);
  }
}

// A message about an argument that was not understood. For an option, the message names other commands that
// have it.
std::string WhatIs(const std::string& stray, const CLI::App& chosen) {
  const std::vector<std::string> rest = chosen.remaining();
  const std::string option = rest.empty() ? "" : rest[0].substr(0, rest[0].find('='));
  if (option.size() < 2 || option[0] != '-') return stray;
  CLI::App all("", "chakra-replay");
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandEntry& entry : kCommands) commands.push_back(entry.make(&all));
  std::vector<std::string> paths;
  AddThoseWith(option, all, &paths);
  if (paths.empty()) return stray;
  std::string last = std::move(paths.back());
  paths.pop_back();
  if (!paths.empty()) last = absl::StrCat(absl::StrJoin(paths, ", "), " and ", last);
  return absl::StrCat(stray, "; it is an option of ", last);
}

// The innermost chosen subcommand.
CLI::App* Chosen(CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

// The position of --help in the arguments, and the group of options that it names; "": the most used options.
struct AskedHelp {
  size_t at;
  std::string group;
};
std::optional<AskedHelp> FindHelp(const std::vector<std::string>& arguments) {
  constexpr absl::string_view kOf = "--help=";
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (absl::StartsWith(arguments[i], kOf)) return AskedHelp{i, arguments[i].substr(kOf.size())};
    if (arguments[i] != "--help" && arguments[i] != "-h") continue;
    return AskedHelp{i, i + 1 < arguments.size() ? arguments[i + 1] : ""};
  }
  return std::nullopt;
}

int PrintHelp(const absl::StatusOr<std::string>& text, const std::string& help_of) {
  if (!text.ok()) return Misuse(std::string(text.status().message()), help_of);
  const absl::Status written = WriteOutput("-", *text);
  if (written.ok()) return kDone;
  PrintError(written.message());
  return kFailed;
}

int AnswerHelp(const std::vector<std::string>& arguments, const AskedHelp& asked, CLI::App* root) {
  size_t used = 0;
  CLI::App* const app = FollowCommands(root, absl::MakeSpan(arguments).subspan(0, asked.at), &used);
  FillHelp(app);
  const absl::StatusOr<std::string> text = asked.group.empty() ? ShortHelp(*app, HelpWidth())
                                           : app == root       ? HelpOn(root, {asked.group})
                                                               : GroupHelp(*app, asked.group, HelpWidth());
  return PrintHelp(text, HelpOf(app));
}

// Whether the arguments are `help WORD...`. CLI11 would take the words for commands to run.
bool AsksForWords(const std::vector<std::string>& arguments) {
  return arguments[0] == "help" && std::none_of(arguments.begin(), arguments.end(), [](const std::string& a) {
           return absl::StartsWith(a, "-");
         });
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app("Replays Chakra execution traces on simulated clusters.", "chakra-replay");
  app.set_version_flag("--version", absl::StrCat("chakra-replay ", CHAKRA_VERSION, kCommit),
                       "Print the version and exit");
  app.set_help_flag("-h,--help",
                    "Print the usual options; --help GROUP: a group of options; --help all: all options");
  app.footer(
      "`chakra-replay COMMAND --help` describes a command, `chakra-replay help TOPIC` the keys of an option. "
      "`chakra-replay help` lists both.\n"
      "On a terminal, tables fit its width or COLUMNS, and the last line names what was shortened. In files "
      "and "
      "pipes they are whole.\n"
      "Exit status: 0 done; 1 an error of the input or the run; 2 an error of the command line.");
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandEntry& entry : kCommands) {
    if (IsNeeded(entry, arguments)) commands.push_back(entry.make(&app));
  }

  if (arguments.empty()) return Misuse(ExpectedCommand(&app), "");
  const std::string& first = arguments.front();
  if (first[0] != '-') {
    const std::vector<std::string> names = CommandNames(&app);
    if (std::find(names.begin(), names.end(), first) == names.end()) {
      return Misuse(absl::StrCat("there is no command \"", first, "\"", SuggestName(first, names)), "");
    }
  }
  if (const std::optional<AskedHelp> help = FindHelp(arguments)) return AnswerHelp(arguments, *help, &app);
  if (AsksForWords(arguments))
    return PrintHelp(HelpOn(&app, {arguments.begin() + 1, arguments.end()}), "help ");
  try {
    // CLI11 reads the arguments in reverse
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {  // -h combined with other letters
    return AnswerHelp(arguments, {arguments.size(), ""}, &app);
  } catch (const CLI::Success& e) {  // --version
    app.exit(e);
    std::cout.flush();
    if (std::cout.good()) return kDone;
    PrintError("cannot write standard output");
    return kFailed;
  } catch (const CLI::ParseError& e) {
    CLI::App* chosen = Chosen(&app);
    const std::string stray = StrayArgument(*chosen);
    return Misuse(stray.empty() ? e.what() : WhatIs(stray, *chosen), HelpOf(chosen));
  }
  CLI::App* chosen = Chosen(&app);
  const std::string stray = StrayArgument(*chosen);
  if (!stray.empty()) return Misuse(WhatIs(stray, *chosen), HelpOf(chosen));
  for (const auto& command : commands) {
    if (!command->app()->parsed()) continue;
    if (const absl::Status over = CheckOverInputs(*chosen); !over.ok())
      return Misuse(std::string(over.message()), HelpOf(chosen));
    return command->Run();
  }
  return Misuse(ExpectedCommand(&app), "");
}

}  // namespace chakra::cli
