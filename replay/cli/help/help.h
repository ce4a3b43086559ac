// Help for people: what `--help` prints of a command.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::cli {

// `--help` leaves the option out; `--help GROUP`, `--help all` and the manual have it.
void MarkRare(CLI::Option* option, bool rare = true);
bool IsRare(const CLI::Option& option);

// Up to the first period before a blank, with the period. A help is a sentence that is complete in itself,
// and details.
absl::string_view FirstSentence(absl::string_view text);

// "-o, --output FILE", or the name of an argument.
std::string OptionLabel(const CLI::Option& option);

// "chakra-replay topology show".
std::string PathOf(const CLI::App& app);

// Null: it has none.
CLI::App* FindCommand(CLI::App* app, absl::string_view name);

// Whether the footer is the app's own: CLI11 hands footers down to commands within commands.
bool HasOwnFooter(const CLI::App& app);

// What `COMMAND --help` prints, on lines of at most `width` columns: usage, commands, and the options of most
// runs with the first sentence of their help. FillHelp() comes before.
std::string ShortHelp(const CLI::App& app, size_t width);

// The words for groups of options: the first word of each heading, in lower case.
std::vector<std::string> HelpGroups(const CLI::App& app);

// What `COMMAND --help GROUP` prints: all options of a group with their whole help; of "all" all groups.
// Errors: an unknown group, with the nearest one and the list.
absl::StatusOr<std::string> GroupHelp(const CLI::App& app, const std::string& group, size_t width);

// Rows of two columns, a name and a text, under a heading. The columns of all sections are the same.
struct HelpRow {
  std::string name, text;
};
struct HelpSection {
  std::string heading;
  std::vector<HelpRow> rows;  // none: the section is left out
};
std::string PrintSections(const std::vector<HelpSection>& sections, size_t width);

}  // namespace chakra::cli
