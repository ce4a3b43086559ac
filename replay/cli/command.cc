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

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/free_memory.h"
#include "trace/base/printable.h"
#include "trace/base/quantity.h"
#include "trace/io/compressed_file.h"

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

// The prefix of the name of a OneOf() validator. The words follow.
constexpr absl::string_view kOneOf = "one of ";

CLI::Validator OneOf(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("").name(absl::StrCat(kOneOf, absl::StrJoin(words, " ")));
}

std::vector<std::string> WordsOf(CLI::Option* option) {
  try {
    absl::string_view words = option->get_validator(0)->get_name();
    if (absl::ConsumePrefix(&words, kOneOf)) return absl::StrSplit(words, ' ');
  } catch (const CLI::OptionNotFound&) {  // the option has no validator
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
         "Limit of memory for data, as 8GB or 500MiB; default: the memory that is free. A run that needs "
         "more is "
         "refused before it begins if that is known; otherwise it ends when it asks for more.")
      ->type_name("SIZE")
      ->group(group);
}

void AddDeviceMemory(CLI::App* app, const std::string& group, const std::string& help, uint64_t* bytes) {
  CLI::Option* option = app->add_option_function<std::string>(
      "--device-memory",
      [bytes](const std::string& text) {
        const auto parsed = ParseBytes(text);
        if (!parsed.ok())
          throw CLI::ValidationError("--device-memory", std::string(parsed.status().message()));
        *bytes = *parsed;
      },
      help);
  option->type_name("BYTES");
  if (!group.empty()) option->group(group);
}

CLI::Validator WholeFrom(uint64_t least) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const auto check = [least, kMost](std::string& text) -> std::string {
    uint64_t v = 0;
    // Parses as CLI11 does: hexadecimal too.
    if (!absl::StrContains(text, '-') && CLI::detail::lexical_cast(text, v) && v >= least) return "";
    return absl::StrCat("it is ", text, "; expected a whole number from ", least, " to ", kMost);
  };
  return CLI::Validator(check, "");
}

void PrintError(absl::string_view message) {
  // Lines of the message that begin with two blanks are continuations. Any other line break belongs to a
  // name.
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
  std::string path;  // names of the commands, from the program down
  for (const CLI::App* app = app_; app != nullptr; app = app->get_parent()) {
    path = absl::StrCat(app->get_name(), " ", path);
  }
  PrintError(SeeCommand(message, absl::StrCat(path, "--help")));
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

}  // namespace chakra::cli
