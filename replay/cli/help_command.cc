// `help`: the help of a command, and the tables of keys.
#include "replay/cli/help_command.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/cli/help/topics.h"
#include "replay/cli/message_options.h"
#include "replay/cli/terminal.h"
#include "trace/base/did_you_mean.h"

namespace chakra::cli {
namespace {

std::string ListOf(CLI::App* root, size_t width) {
  HelpSection commands = {"Commands", {}}, topics = {"Topics", {}};
  for (const CLI::App* sub : root->get_subcommands(nullptr))
    commands.rows.push_back({sub->get_name(), std::string(sub->get_description())});
  for (const HelpTopic& topic : HelpTopics()) topics.rows.push_back({topic.name, topic.title});
  return absl::StrCat("Usage: chakra-replay help COMMAND [GROUP]\n       chakra-replay help TOPIC\n",
                      PrintSections({commands, topics}, width));
}

// The words that `help` accepts.
std::vector<std::string> KnownWords(CLI::App* root) {
  std::vector<std::string> words;
  for (const CLI::App* sub : root->get_subcommands(nullptr)) words.push_back(sub->get_name());
  for (const HelpTopic& topic : HelpTopics()) words.push_back(topic.name);
  return words;
}

class HelpCommand : public Command {
 public:
  explicit HelpCommand(CLI::App* app) : Command(app) {
    app->add_option("WORD", words_, "A command, or a topic: a table of keys.")->type_name("");
    app->footer("Examples:\n  chakra-replay help model\n  chakra-replay help replay network");
  }

  int Run() override {
    const auto text = HelpOn(app()->get_parent(), words_);
    if (!text.ok()) return Misuse(std::string(text.status().message()));
    const absl::Status written = WriteOutput("-", *text);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

absl::StatusOr<std::string> HelpOn(CLI::App* root, const std::vector<std::string>& words) {
  const size_t width = HelpWidth();
  if (words.empty()) return ListOf(root, width);
  size_t at = 0;
  CLI::App* const app = FollowCommands(root, words, &at);
  if (app != root) {
    FillHelp(app);
    if (at == words.size()) return ShortHelp(*app, width);
    if (at + 1 == words.size()) return GroupHelp(*app, words[at], width);
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument \"", words[at + 1], "\""));
  }
  if (words.size() > 1)
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument \"", words[1], "\""));
  if (const std::optional<HelpTopic> topic = FindTopic(words[0])) return PrintTopic(*topic, width);
  return absl::InvalidArgumentError(absl::StrCat("help has no command or topic \"", words[0], "\"",
                                                 SuggestName(words[0], KnownWords(root))));
}

std::unique_ptr<Command> MakeHelpCommand(CLI::App* root) {
  return std::make_unique<HelpCommand>(
      root->add_subcommand("help", "Print the help of a command, or a table of keys"));
}

}  // namespace chakra::cli
