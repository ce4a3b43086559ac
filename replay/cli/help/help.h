// The help of a command, as `--help` prints it.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra::cli {

// Marks an option that `--help` leaves out; `--help GROUP`, `--help all` and the manual show it.
void MarkRare(CLI::Option* option, bool rare = true);
bool IsRare(const CLI::Option& option);

// The text up to and including the first period that is followed by a blank. The first sentence of a help is
// complete in itself; details follow.
absl::string_view FirstSentence(absl::string_view text);

// "-o, --output FILE", or the name of an argument.
std::string OptionLabel(const CLI::Option& option);

// "chakra-replay topology show".
std::string PathOf(const CLI::App& app);

// Follows `words` from `root` as long as they name subcommands. `used`: number of these words.
CLI::App* FollowCommands(CLI::App* root, absl::Span<const std::string> words, size_t* used);

// Whether the footer is the app's own. CLI11 passes footers on to subcommands.
bool HasOwnFooter(const CLI::App& app);

// The text of `COMMAND --help`, on lines of at most `width` columns: usage, commands, and the most used
// options with the first sentence of their help. Call FillHelp() before.
std::string ShortHelp(const CLI::App& app, size_t width);

// The names of the groups of options: the first word of each heading, in lower case.
std::vector<std::string> HelpGroups(const CLI::App& app);

// The text of `COMMAND --help GROUP`: all options of the group with their whole help; "all": the options of
// all groups. Errors: an unknown group, with the nearest one and the list.
absl::StatusOr<std::string> GroupHelp(const CLI::App& app, const std::string& group, size_t width);

// Sections with rows of two columns, a name and a text, under a heading. The columns have the same width in
// all sections.
struct HelpRow {
  std::string name, text;
};
struct HelpSection {
  std::string heading;
  std::vector<HelpRow> rows;  // empty: the section is left out
};
std::string PrintSections(const std::vector<HelpSection>& sections, size_t width);

}  // namespace chakra::cli
