// Parts that all subcommands share: exit statuses, output, and the base class that runs them.
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
inline constexpr int kFailed = 1;  // an error of the input or of the run
inline constexpr int kMisuse = 2;  // an error of the command line

// One subcommand. The constructor of each derived class binds its options.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  virtual ~Command() = default;
  // Called after parsing if the subcommand was chosen. Returns the exit status.
  virtual int Run() = 0;
  CLI::App* app() const { return app_; }

 protected:
  // Prints "chakra-replay: MESSAGE" to stderr and returns kFailed.
  static int Fail(const absl::Status& status);
  // Prints the message with a pointer to the subcommand's --help, and returns kMisuse.
  int Misuse(const std::string& message) const;

 private:
  CLI::App* app_;
};

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

// From now on the process keeps freed memory. This is for commands that allocate and free ranks of many
// megabytes each: otherwise the system would clear the same pages again and again.
void KeepFreedMemory();

// Adds --max-memory, which limits the memory of the process as soon as it is parsed.
void AddMemoryOption(CLI::App* app, const std::string& group);

// Adds --device-memory, a size with a unit, bound to `bytes`, which must outlive the parsing.
void AddDeviceMemory(CLI::App* app, const std::string& group, const std::string& help, uint64_t* bytes);

// A validator that accepts one of `words`. Shell completion offers these words.
CLI::Validator OneOf(const std::vector<std::string>& words);
// The words of an option with a OneOf() validator; for other options none.
std::vector<std::string> WordsOf(CLI::Option* option);

// A validator for an unsigned 64-bit number of at least `least`. CLI11 itself accepts -1 as 2^64 - 1.
CLI::Validator WholeFrom(uint64_t least);

// The first argument that `app` (which allows extras) did not understand, with the nearest option; "": it
// understood all.
std::string StrayArgument(const CLI::App& app);

// Prints one line, "chakra-replay: MESSAGE", to stderr.
void PrintError(absl::string_view message);

// "json", "csv" or "text", by the ending of an output's name without .gz or .zst.
std::string FormatOf(absl::string_view path);

// Writes `content` to a file, compressed if its name ends in .gz or .zst, or to stdout if `path` is "-".
// Errors, such as a full disk, name the path and the reason.
absl::Status WriteOutput(const std::string& path, absl::string_view content);

// Returns an error if no file can be created at `path`, because its folder is missing or `path` is a folder.
// "-" is always valid.
absl::Status CheckOutputPath(const std::string& path);

}  // namespace chakra::cli
