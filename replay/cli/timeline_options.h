// --timeline: a run for viewers of traces.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "backends/machine.h"
#include "replay/cli/output.h"
#include "replay/timeline/timeline.h"

namespace chakra::cli {

// The options and the file that they name, from Open() to Finish(). The file is there when Finish() is
// through, and not before.
class TimelineOptions {
 public:
  // The options, bound to this, which must outlive the parsing.
  void AddTo(CLI::App* app, const std::string& group);
  bool asked() const { return output_.asked(); }
  // Faults of the command line alone: a name of no format, ranks that cannot be read, one of `others` at the
  // same place, options of a timeline without one.
  absl::Status Check(const CLI::App& app, const std::vector<NamedOutput>& others);
  // Opens the file. Errors name it.
  absl::Status Open() { return output_.Open(); }
  // Once, after the run: all of `input` but links, ranks and most_nodes. Says on stderr what is left out.
  // Errors: those of WriteTimeline() and of the file.
  absl::Status Finish(TimelineInput input, const MachineView& machine);

 private:
  Output output_;
  std::string format_name_, ranks_text_;
  TimelineFormat format_ = TimelineFormat::kPerfetto;
  std::vector<int> ranks_;
  uint64_t most_nodes_ = kTimelineNodes;
};

}  // namespace chakra::cli
