// --flow-log, --link-log and --link-totals: what a run did, as files of CSV.
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

// The options and the files that they name, from Open() to Finish(). Files are there when Finish() is
// through, and not before.
class LogOptions {
 public:
  // The options, bound to this, which must outlive the parsing.
  void AddTo(CLI::App* app, const std::string& group);
  bool any() const { return flows_.asked() || links_.asked() || totals_.asked(); }
  // Faults of the command line alone: two outputs of one name (`other` is one as well), a fabric without what
  // is asked for, --log-links without a log of links.
  absl::Status Check(const CLI::App& app, const std::string& fabric, const std::string& other) const;
  // Those that are asked for.
  std::vector<NamedOutput> Outputs() const;
  // Opens the files. Errors name them.
  absl::Status Open();
  // Of the fabric that is to be made.
  void Apply(FabricOptions* options) const { options->link_series |= links_.asked(); }
  // For the fabric and the run; null: no --flow-log.
  FlowLog* flow_log() { return flow_log_.get(); }
  // Once, after the run, which ended at `end`. Errors name the file.
  absl::Status Finish(const MachineView& machine, Time end);

 private:
  absl::Status FinishLinks(const MachineView& machine, Time end);

  Output flows_, links_, totals_;
  size_t most_ = 16;  // links
  std::unique_ptr<FlowLog> flow_log_;
};

}  // namespace chakra::cli
