#include "replay/cli/command_line.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "replay/cli/command.h"
#include "replay/cli/commit.h"
#include "replay/cli/message_options.h"
#include "replay/cli/output.h"
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
  PrintError(absl::StrCat(message, "; see `chakra-replay ", help_of, "--help`"));
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
constexpr CommandEntry kCommands[] = {
    {"replay", MakeReplayCommand},       {"inspect", MakeInspectCommand},
    {"doctor", MakeDoctorCommand},       {"convert", MakeConvertCommand},
    {"edit", MakeEditCommand},           {"generate", MakeGenerateCommand},
    {"plan", MakePlanCommand},           {"collective", MakeCollectiveCommand},
    {"calibrate", MakeCalibrateCommand}, {"topology", MakeTopologyCommand},
    {"compare", MakeCompareCommand},     {"kernels", MakeKernelsCommand},
    {"sweep", MakeSweepCommand},         {"record-help", MakeRecordHelpCommand},
    {"goodput", MakeGoodputCommand},     {"completion", MakeCompletionCommand},
    {"manual", MakeManualCommand}};

// The options of all commands take longer to make than a small run takes. A command line that names a command
// needs that one alone, unless the command tells of all.
bool IsNeeded(const CommandEntry& entry, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "completion" || arguments[0] == "manual") return true;
  if (arguments.size() == 1 && arguments[0] == "--version") return false;
  const bool named = std::any_of(std::begin(kCommands), std::end(kCommands),
                                 [&](const CommandEntry& e) { return e.name == arguments[0]; });
  return !named || entry.name == arguments[0];
}

// The paths of `app`'s commands that have the option, "topology show" of one within another.
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

// What an argument that was not understood is, and for an option which other commands have it.
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

// The innermost subcommand that was chosen.
CLI::App* Chosen(CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app("Replays Chakra execution traces on simulated clusters.", "chakra-replay");
  app.set_version_flag("--version", absl::StrCat("chakra-replay ", CHAKRA_VERSION, kCommit),
                       "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(
      "`chakra-replay COMMAND --help` describes a command.\n"
      "On a terminal, tables fit its width (or COLUMNS), and a last line says what was shortened; in files "
      "and\n"
      "pipes they are whole: `| cat` shows all.\n"
      "Exit status: 0 done, 1 the input or the run is at fault, 2 the command line is.");
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
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // from the last to the first
  } catch (const CLI::Success& e) {                                             // --help and --version
    FillHelp(&app);
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
