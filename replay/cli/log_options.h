// --flow-log, --link-log and --link-totals: logs of a run as CSV files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "backends/fabric_options.h"
#include "backends/machine.h"
#include "replay/cli/output.h"
#include "replay/engine/flow_log.h"

namespace chakra::cli {

// The options, and the files that they name, from Open() to Finish(). The files appear only when Finish()
// ends.
class LogOptions {
 public:
  // Adds the options, bound to this object, which must outlive the parsing.
  void AddTo(CLI::App* app, const std::string& group);
  bool any() const { return flows_.asked() || links_.asked() || totals_.asked(); }
  // Errors of the command line only: two outputs with one name (`other` is also an output), a fabric without
  // the data that a log needs, --log-links without a log of links.
  absl::Status Check(const CLI::App& app, const std::string& fabric, const std::string& other) const;
  // The outputs that were requested.
  std::vector<NamedOutput> Outputs() const;
  // Opens the files. Errors name them.
  absl::Status Open();
  // Sets the options that the fabric needs for the logs.
  void Apply(FabricOptions* options) const { options->link_series |= links_.asked(); }
  // The flow log for the fabric and the run; null: no --flow-log.
  FlowLog* flow_log() { return flow_log_.get(); }
  // Writes the logs. Call once, after the run, which ended at `end`. Errors name the file.
  absl::Status Finish(const MachineView& machine, Time end);

 private:
  absl::Status FinishLinks(const MachineView& machine, Time end);

  Output flows_, links_, totals_;
  size_t most_ = 16;  // maximum number of links in a link log
  std::unique_ptr<FlowLog> flow_log_;
};

}  // namespace chakra::cli
