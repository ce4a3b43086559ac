// `completion`: a script with which a shell completes command lines, made from the options themselves.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/cli/help/topics.h"
#include "replay/cli/message_options.h"
#include "replay/cluster/presets.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"

namespace chakra::cli {
namespace {

using Words = std::vector<std::string>;

// Values of options that have few values but no OneOf() validator. For all other options, the shell offers
// files.
std::map<std::string, Words> KnownValues() {
  Words time_sources;
  for (int i = 0; i < kTimeSources; ++i) {
    const auto time_source = static_cast<TimeSource>(i);
    if (time_source != TimeSource::kNone) time_sources.emplace_back(Name(time_source));
  }
  return {{"--fabric", FabricNames()}, {"--cluster", PresetNames()}, {"--compute", time_sources}};
}

struct Offered {
  std::string path;  // "replay", "topology show"; "": the program
  Words commands;
  std::vector<CLI::Option*> options;
};

void Gather(CLI::App* app, const std::string& path, std::vector<Offered>* out) {
  Offered here;
  here.path = path;
  for (CLI::App* sub : app->get_subcommands(nullptr)) here.commands.push_back(sub->get_name());
  if (path == "help") {
    for (const HelpTopic& topic : HelpTopics()) here.commands.push_back(topic.name);
  }
  for (CLI::Option* o : app->get_options()) {
    if (!o->get_lnames().empty()) here.options.push_back(o);
  }
  out->push_back(std::move(here));
  for (CLI::App* sub : app->get_subcommands(nullptr))
    Gather(sub, absl::StrCat(path, path.empty() ? "" : " ", sub->get_name()), out);
}

Words OptionsOf(const Offered& offered) {
  Words words;
  for (const CLI::Option* o : offered.options) words.push_back("--" + o->get_lnames().front());
  return words;
}

// The script for bash; zsh runs it through bashcompinit.
std::string Bash(const std::vector<Offered>& all) {
  std::string out =
      "# Completion of chakra-replay for bash: source this file.\n"
      "_chakra_replay() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$path ${COMP_WORDS[i]}\" in\n";
  for (const Offered& offered : all) {
    for (const std::string& command : offered.commands) {
      const std::string whole = absl::StrCat(offered.path, offered.path.empty() ? "" : " ", command);
      absl::StrAppend(&out, "      \"", offered.path, " ", command, "\") path=\"", whole, "\" ;;\n");
    }
  }
  absl::StrAppend(&out, "    esac\n  done\n  case \"$path $before\" in\n");
  const auto offer = [&out](const std::string& where, const Words& values) {
    absl::StrAppend(&out, "    ", where, ") COMPREPLY=($(compgen -W \"", absl::StrJoin(values, " "),
                    "\" -- \"$word\")); return ;;\n");
  };
  for (const Offered& offered : all) {
    for (CLI::Option* o : offered.options) {
      const Words values = WordsOf(o);
      if (!values.empty())
        offer(absl::StrCat("\"", offered.path, " --", o->get_lnames().front(), "\""), values);
    }
  }
  for (const auto& [option, values] : KnownValues()) offer(absl::StrCat("*\" ", option, "\""), values);
  absl::StrAppend(&out, "  esac\n  local commands= options=\n  case $path in\n");
  for (const Offered& offered : all) {
    absl::StrAppend(&out, "    \"", offered.path, "\") commands=\"", absl::StrJoin(offered.commands, " "),
                    "\" options=\"", absl::StrJoin(OptionsOf(offered), " "), "\" ;;\n");
  }
  absl::StrAppend(
      &out,
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
      "       local file\n"
      "       while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- \"$word\") ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _chakra_replay chakra-replay\n");
  return out;
}

std::string Zsh(const std::vector<Offered>& all) {
  return absl::StrCat("# Completion of chakra-replay for zsh: source this file.\n",
                      "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n",
                      Bash(all));
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string Fish(const CLI::App* root, const std::vector<Offered>& all) {
  std::string out = "# Completion of chakra-replay for fish: source this file.\n";
  const std::map<std::string, Words> known = KnownValues();
  for (const Offered& offered : all) {
    const CLI::App* app = root;
    Words conditions;
    for (const std::string& name : Words(absl::StrSplit(offered.path, ' ', absl::SkipEmpty()))) {
      app = app->get_subcommand(name);
      conditions.push_back("__fish_seen_subcommand_from " + name);
    }
    std::string when = conditions.empty() ? "__fish_use_subcommand" : absl::StrJoin(conditions, "; and ");
    const std::string begin = absl::StrCat("complete -c chakra-replay -n ", Quoted(when));
    for (const CLI::App* sub : app->get_subcommands(nullptr)) {
      absl::StrAppend(&out, begin, " -a ", sub->get_name(), " -d ", Quoted(sub->get_description()), "\n");
    }
    for (CLI::Option* o : offered.options) {
      const std::string name = o->get_lnames().front();
      absl::StrAppend(&out, begin, " -l ", name);
      Words values = WordsOf(o);
      if (const auto found = known.find("--" + name); found != known.end()) values = found->second;
      if (!values.empty()) {
        absl::StrAppend(&out, " -x -a ", Quoted(absl::StrJoin(values, " ")));
      } else if (o->get_items_expected_max() > 0) {
        absl::StrAppend(&out, " -r");
      }
      absl::StrAppend(&out, " -d ", Quoted(o->get_description()), "\n");
    }
  }
  return out;
}

class CompletionCommand : public Command {
 public:
  explicit CompletionCommand(CLI::App* app) : Command(app) {
    app->add_option("SHELL", shell_, "Shell: bash, zsh or fish.")
        ->required()
        ->type_name("")
        ->check(OneOf({"bash", "zsh", "fish"}));
    app->footer(
        "Example:\n"
        "  chakra-replay completion bash > ~/.local/share/bash-completion/completions/chakra-replay");
  }

  int Run() override {
    CLI::App* root = app()->get_parent();
    FillHelp(root);
    std::vector<Offered> all;
    Gather(root, "", &all);
    const std::string script = shell_ == "bash" ? Bash(all) : shell_ == "zsh" ? Zsh(all) : Fish(root, all);
    const absl::Status written = WriteOutput("-", script);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionCommand(CLI::App* root) {
  return std::make_unique<CompletionCommand>(
      root->add_subcommand("completion", "Print a script that completes command lines in a shell"));
}

}  // namespace chakra::cli
