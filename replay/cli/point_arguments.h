// The words of one run, as `replay` takes them, without its reports and logs.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "replay/cli/run_options.h"

namespace chakra::cli {

class PointArguments {
 public:
  PointArguments();

  // Once. Errors: what `replay` would say of these words.
  absl::Status Parse(const std::vector<std::string>& words);
  // After Parse(): equal for words that read the same traces, and do the same to them.
  std::string TraceKey() const;
  bool given(const std::string& option) const { return app_.count(option) > 0; }
  RunArguments& arguments() { return arguments_; }
  const CLI::App& app() const { return app_; }

  // Whether an option leaves the traces as they are. --set may do both: TraceKey() looks at its fields.
  static bool IsOfMachine(const CLI::Option& option);

 private:
  CLI::App app_;
  RunArguments arguments_;
};

}  // namespace chakra::cli
