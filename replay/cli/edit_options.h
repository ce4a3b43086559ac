// Edits on the command line: scripts, single edits, and short forms, in the order in which they stand there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/edit.pb.h"
#include "trace/edit/plan.h"

namespace chakra::cli {

class EditOptions {
 public:
  // `script` names the option of scripts: "--script" or "--edit". Must outlive the parsing.
  void AddTo(CLI::App* app, const std::string& script, const std::string& group);

  bool any() const;
  // Takes the values of --replicas away, for a run that makes its ranks of one trace.
  std::vector<std::string> TakeReplicas();
  // Compiles what was given. Errors name the option or the file, and what is expected.
  absl::Status Prepare();
  // Valid after Prepare(), where any().
  const edit::EditPlan& plan() const { return *plan_; }
  const std::vector<std::string>& files() const { return files_; }  // scripts that were read

 private:
  struct Given {
    CLI::Option* option = nullptr;
    std::vector<std::string> values;
    // A value as edits, which the parsing of the command line checks; null: a script's file.
    absl::StatusOr<proto::EditScript> (*read)(const std::string& value) = nullptr;
  };
  void Add(CLI::App* app, const std::string& name, const std::string& type, const std::string& help,
           const std::string& group, absl::StatusOr<proto::EditScript> (*read)(const std::string&));

  CLI::App* app_ = nullptr;
  std::vector<std::unique_ptr<Given>> given_;
  std::vector<std::string> files_;
  std::unique_ptr<edit::EditPlan> plan_;
};

}  // namespace chakra::cli
