#include "replay/cli/help/help.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/text_page.h"

namespace chakra::cli {
namespace {

// stored in a text of the option that CLI11 keeps for formatters, and that nothing here shows
constexpr char kRare[] = "rare";
constexpr char kAll[] = "all";

// Options under one heading.
struct HelpGroup {
  std::string word, heading;
  std::vector<const CLI::Option*> options;
};

bool IsArgument(const CLI::Option& option) {
  return option.get_lnames().empty() && option.get_snames().empty();
}
// An option without a group is hidden: it takes words that are no subcommand, so that an error can name them.
bool IsHidden(const CLI::Option& option) { return option.get_group().empty(); }

std::string WordOf(absl::string_view heading) {
  const size_t end = heading.find_first_of(" ,;(");
  return absl::AsciiStrToLower(heading.substr(0, end));
}

// The groups in the order of the app. Arguments and --help are in no group.
std::vector<HelpGroup> GroupsOf(const CLI::App& app) {
  std::vector<HelpGroup> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (IsHidden(*option) || IsArgument(*option) || option == app.get_help_ptr()) continue;
    const std::string word = WordOf(option->get_group());
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const HelpGroup& g) { return g.word == word; });
    if (group == groups.end()) group = groups.insert(group, {word, option->get_group(), {}});
    group->options.push_back(option);
  }
  return groups;
}

std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& app) {
  std::vector<const CLI::Option*> out;
  for (const CLI::Option* option : app.get_options()) {
    if (IsArgument(*option) && !IsHidden(*option)) out.push_back(option);
  }
  return out;
}

// The first sentence without its period, for a line of a table.
std::string Brief(absl::string_view text) { return std::string(absl::StripSuffix(FirstSentence(text), ".")); }

std::vector<HelpRow> RowsOf(const std::vector<const CLI::Option*>& options, bool brief) {
  std::vector<HelpRow> rows;
  for (const CLI::Option* option : options) {
    if (brief && IsRare(*option)) continue;
    const std::string& text = option->get_description();
    rows.push_back({OptionLabel(*option), brief ? Brief(text) : text});
  }
  return rows;
}

std::string PrintRow(const HelpRow& row, size_t column, size_t width) {
  const std::string next(column + 4, ' ');
  std::string begin = absl::StrCat("  ", row.name);
  if (row.name.size() > column) return absl::StrCat(begin, "\n", WrapText(next, row.text, next, width));
  begin.resize(next.size(), ' ');
  return WrapText(begin, row.text, next, width);
}

// The text after the command's path in the usage line.
std::string ArgumentsText(const CLI::App& app) {
  std::string out = GroupsOf(app).empty() ? "" : " [OPTION]...";
  for (const CLI::Option* a : ArgumentsOf(app)) {
    const std::string name = OptionLabel(*a);
    const bool several = absl::StrContains(name, ' ');  // "A B"
    const bool bare = several || a->get_required(), many = !several && a->get_items_expected_max() > 2;
    absl::StrAppend(&out, " ", bare ? "" : "[", name, bare ? "" : "]", many ? "..." : "");
  }
  return out;
}

std::string Usage(const CLI::App& app, size_t width) {
  constexpr char kNext[] = "           ";
  const std::string path = PathOf(app);
  const bool has_commands = !app.get_subcommands(nullptr).empty(), runs = !ArgumentsOf(app).empty();
  std::string out;
  if (runs || !has_commands) out = WrapText("Usage: ", absl::StrCat(path, ArgumentsText(app)), kNext, width);
  if (!has_commands) return out;
  const std::string inner = absl::StrCat(path, " COMMAND [OPTION]... [ARGUMENT]...");
  return absl::StrCat(out, WrapText(runs ? "       " : "Usage: ", inner, kNext, width));
}

// The sections of a help: commands, arguments, and all groups of options.
std::vector<HelpSection> SectionsOf(const CLI::App& app, bool brief) {
  std::vector<HelpSection> sections = {{"Commands", {}}, {"Arguments", RowsOf(ArgumentsOf(app), brief)}};
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    sections[0].rows.push_back({sub->get_name(), Brief(sub->get_description())});
  for (const HelpGroup& group : GroupsOf(app))
    sections.push_back({group.heading, RowsOf(group.options, brief)});
  const CLI::Option* const help = app.get_help_ptr();
  if (help == nullptr || (brief && app.get_parent() != nullptr)) return sections;
  if (sections.back().heading != help->get_group()) sections.push_back({help->get_group(), {}});
  sections.back().rows.push_back({OptionLabel(*help), help->get_description()});
  return sections;
}

// A command line, wrapped into lines that end in a backslash.
std::string CommandLines(absl::string_view line, size_t width) {
  std::string text = WrapText("  ", absl::StripLeadingAsciiWhitespace(line), "      ", width - 2);
  text.pop_back();
  return absl::StrCat(absl::StrJoin(absl::StrSplit(text, '\n'), " \\\n"), "\n");
}

// The footer of the help. Lines that begin with blanks are commands; the others are text.
std::string Footer(const CLI::App& app, size_t width) {
  if (!HasOwnFooter(app)) return "";
  const std::string footer = absl::StrReplaceAll(app.get_footer(), {{" \\\n     ", ""}});
  std::string out = "\n";
  for (const absl::string_view line : absl::StrSplit(footer, '\n'))
    out += absl::StartsWith(line, "  ") ? CommandLines(line, width) : WrapText("", line, "  ", width);
  return out;
}

std::string Head(const CLI::App& app, size_t width) {
  std::string about = app.get_description();
  if (!absl::EndsWith(about, ".")) about += ".";
  return absl::StrCat(Usage(app, width), "\n", WrapText("", about, "", width));
}

// The end of an error message: the nearest word, and all words.
std::string SuggestGroup(const std::string& word, const std::vector<std::string>& words) {
  const std::string nearest = NearestName(word, words);
  return absl::StrCat("; expected one of ", absl::StrJoin(words, ", "),
                      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"));
}

// The lines that say how to see the rest of the help.
std::string More(const CLI::App& app, size_t width) {
  std::vector<std::string> words = HelpGroups(app);
  if (words.size() < 2) words.clear();
  words.emplace_back(kAll);
  const std::string text = absl::StrCat(PathOf(app), " --help ", absl::StrJoin(words, " | "));
  return absl::StrCat("\n", WrapText("More: ", text, "      ", width));
}

}  // namespace

void MarkRare(CLI::Option* option, bool rare) { option->option_text(rare ? kRare : ""); }
bool IsRare(const CLI::Option& option) { return option.get_option_text() == kRare; }

absl::string_view FirstSentence(absl::string_view text) {
  for (size_t at = text.find(". "); at != absl::string_view::npos; at = text.find(". ", at + 1)) {
    if (at > 0 && text[at - 1] != '.') return text.substr(0, at + 1);
  }
  return text;
}

std::string OptionLabel(const CLI::Option& option) {
  if (IsArgument(option)) return option.get_name();
  std::vector<std::string> names;
  for (const std::string& n : option.get_snames()) names.push_back("-" + n);
  for (const std::string& n : option.get_lnames()) names.push_back("--" + n);
  const std::string& value = option.get_type_name();
  const bool bare = absl::StartsWith(value, "[=");  // of a flag with an optional value
  const bool takes = bare || (option.get_items_expected_max() > 0 && !value.empty());
  return absl::StrCat(absl::StrJoin(names, ", "), takes && !bare ? " " : "", takes ? value : "");
}

std::string PathOf(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : absl::StrCat(PathOf(*parent), " ", app.get_name());
}

bool HasOwnFooter(const CLI::App& app) {
  for (const CLI::App* above = app.get_parent(); above != nullptr; above = above->get_parent()) {
    if (above->get_footer() == app.get_footer()) return false;
  }
  return !app.get_footer().empty();
}

CLI::App* FollowCommands(CLI::App* root, absl::Span<const std::string> words, size_t* used) {
  CLI::App* app = root;
  for (*used = 0; *used < words.size(); ++*used) {
    const std::vector<CLI::App*> subs = app->get_subcommands(nullptr);
    const auto named = [&](const CLI::App* sub) { return sub->get_name() == words[*used]; };
    const auto sub = std::find_if(subs.begin(), subs.end(), named);
    if (sub == subs.end()) break;
    app = *sub;
  }
  return app;
}

std::string PrintSections(const std::vector<HelpSection>& sections, size_t width) {
  const size_t most = width * 3 / 10;  // a longer name gets its own line
  size_t column = 0;
  for (const HelpSection& section : sections) {
    for (const HelpRow& row : section.rows) {
      if (row.name.size() <= most) column = std::max(column, row.name.size());
    }
  }
  std::string out;
  for (const HelpSection& section : sections) {
    if (section.rows.empty()) continue;
    absl::StrAppend(&out, "\n", section.heading, ":\n");
    for (const HelpRow& row : section.rows) out += PrintRow(row, column, width);
  }
  return out;
}

std::vector<std::string> HelpGroups(const CLI::App& app) {
  std::vector<std::string> words;
  for (const HelpGroup& group : GroupsOf(app)) words.push_back(group.word);
  return words;
}

std::string ShortHelp(const CLI::App& app, size_t width) {
  const std::string out =
      absl::StrCat(Head(app, width), PrintSections(SectionsOf(app, true), width), Footer(app, width));
  return app.get_parent() == nullptr ? out : absl::StrCat(out, More(app, width));
}

absl::StatusOr<std::string> GroupHelp(const CLI::App& app, const std::string& group, size_t width) {
  if (group == kAll)
    return absl::StrCat(Head(app, width), PrintSections(SectionsOf(app, false), width), Footer(app, width));
  for (const HelpGroup& g : GroupsOf(app)) {
    if (g.word != group) continue;
    const std::string heading =
        absl::StrCat(PathOf(app), ": ", absl::AsciiStrToLower(g.heading.substr(0, 1)), g.heading.substr(1));
    return PrintSections({{heading, RowsOf(g.options, false)}}, width).substr(1);
  }
  std::vector<std::string> words = HelpGroups(app);
  words.emplace_back(kAll);
  return absl::InvalidArgumentError(absl::StrCat(
      "--help ", group, ": ", PathOf(app), " has no such group of options", SuggestGroup(group, words)));
}

}  // namespace chakra::cli
