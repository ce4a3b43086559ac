#include "replay/cli/point_arguments.h"

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "trace/generate/workload.h"

namespace chakra::cli {

// All others are taken for options of the traces.
bool PointArguments::IsOfMachine(const CLI::Option& option) {
  for (const char* name :
       {"--lanes", "--placement", "--straggler", "--seed", "--strict-causes", "--device-memory"}) {
    if (option.check_name(name)) return true;
  }
  for (const char* group : {"Machine", "Energy", "Failures", "Report and run"}) {
    if (option.get_group() == group) return true;
  }
  return false;
}

PointArguments::PointArguments() : app_("", "replay") {
  app_.set_help_flag();
  app_.allow_extras();
  arguments_.AddTo(&app_);
}

absl::Status PointArguments::Parse(const std::vector<std::string>& words) {
  try {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& e) {
    const std::string stray = StrayArgument(app_);
    return absl::InvalidArgumentError(stray.empty() ? e.what() : stray);
  }
  if (const std::string stray = StrayArgument(app_); !stray.empty()) return absl::InvalidArgumentError(stray);
  return arguments_.Check();
}

std::string PointArguments::TraceKey() const {
  std::string key;
  for (const CLI::Option* option : app_.get_options()) {
    const bool sets = option->check_name("--set");  // fields of the cluster, and of a workload
    if (option->count() == 0 || (IsOfMachine(*option) && !sets)) continue;
    if (!sets) absl::StrAppend(&key, option->get_name(), "\n");
    for (const std::string& value : option->results()) {
      if (sets && !generate::IsWorkloadField(value)) continue;
      absl::StrAppend(&key, value.size(), ":", value, "\n");
    }
  }
  return key;
}

}  // namespace chakra::cli
