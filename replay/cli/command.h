// What the subcommands share: exit statuses, output, and the frame that runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the input or the run is at fault
inline constexpr int kMisuse = 2;  // the command line is at fault

// One subcommand. Its options are bound when it is made.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  virtual ~Command() = default;
  // Called after parsing when the subcommand was chosen. Returns the exit status.
  virtual int Run() = 0;
  CLI::App* app() const { return app_; }

 protected:
  // Prints "chakra-replay: MESSAGE" to stderr and returns kFailed.
  static int Fail(const absl::Status& status);
  // The same, pointing to the subcommand's --help; returns kMisuse.
  int Misuse(const std::string& message) const;

 private:
  CLI::App* app_;
};

// "MESSAGE; see `COMMAND`".
std::string SeeHelp(const std::string& message, absl::string_view command);

std::unique_ptr<Command> MakeReplayCommand(CLI::App* root);
std::unique_ptr<Command> MakeInspectCommand(CLI::App* root);
std::unique_ptr<Command> MakeDoctorCommand(CLI::App* root);
std::unique_ptr<Command> MakeConvertCommand(CLI::App* root);
std::unique_ptr<Command> MakeEditCommand(CLI::App* root);
std::unique_ptr<Command> MakeGenerateCommand(CLI::App* root);
std::unique_ptr<Command> MakePlanCommand(CLI::App* root);
std::unique_ptr<Command> MakeCollectiveCommand(CLI::App* root);
std::unique_ptr<Command> MakeCalibrateCommand(CLI::App* root);
std::unique_ptr<Command> MakeTopologyCommand(CLI::App* root);
std::unique_ptr<Command> MakeCompareCommand(CLI::App* root);
std::unique_ptr<Command> MakeKernelsCommand(CLI::App* root);
std::unique_ptr<Command> MakeSweepCommand(CLI::App* root);
std::unique_ptr<Command> MakeRecordHelpCommand(CLI::App* root);
std::unique_ptr<Command> MakeGoodputCommand(CLI::App* root);
std::unique_ptr<Command> MakeHelpCommand(CLI::App* root);
std::unique_ptr<Command> MakeCompletionCommand(CLI::App* root);
std::unique_ptr<Command> MakeManualCommand(CLI::App* root);

// From now on memory that is freed stays with the process: for commands whose ranks come and go by the
// megabyte, which would else pay for clearing the same pages again and again.
void KeepFreedMemory();

// --max-memory, which limits the process once it is parsed.
void AddMemoryOption(CLI::App* app, const std::string& group);

// --device-memory, a size with its unit, bound to `bytes`, which must outlive the parsing.
void AddDeviceMemory(CLI::App* app, const std::string& group, const std::string& help, uint64_t* bytes);

// The check of an option that takes one of `words`, which shells then offer.
CLI::Validator OneOf(const std::vector<std::string>& words);
// The words of an option with that check; of another option none.
std::vector<std::string> WordsOf(CLI::Option* option);

// The check of an option that is a whole number of 64 bits without a sign: CLI11 takes -1 for 2^64 - 1.
CLI::Validator WholeFrom(uint64_t least);

// What `app`, which allows extras, did not understand first, with the nearest option; "": it understood all.
std::string StrayArgument(const CLI::App& app);

// Prints one line, "chakra-replay: MESSAGE", to stderr.
void PrintError(absl::string_view message);

// "json", "csv" or "text", by the end of an output's name, before .gz or .zst.
std::string FormatOf(absl::string_view path);

// Writes `content` to a file, compressed where its name ends in .gz or .zst, or to stdout where `path` is
// "-". Errors name the path and the reason; a full disk is one.
absl::Status WriteOutput(const std::string& path, absl::string_view content);

// An error when a file at `path` could not be created because its folder is missing or
// `path` is a folder. "-" is always fine.
absl::Status CheckOutputPath(const std::string& path);

}  // namespace chakra::cli
