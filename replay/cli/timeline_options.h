// --timeline: writes a run for trace viewers.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "backends/machine.h"
#include "replay/cli/output.h"
#include "replay/timeline/timeline.h"

namespace chakra::cli {

// The options, and the file that they name, from Open() to Finish(). The file appears only when Finish()
// ends.
class TimelineOptions {
 public:
  // Adds the options, bound to this object, which must outlive the parsing.
  void AddTo(CLI::App* app, const std::string& group);
  bool asked() const { return output_.asked(); }
  // Errors of the command line only: a file name without a known format, ranks that cannot be parsed, the
  // same path as one of `others`, options of a timeline without --timeline.
  absl::Status Check(const CLI::App& app, const std::vector<NamedOutput>& others);
  // Opens the file. Errors name it.
  absl::Status Open() { return output_.Open(); }
  // Writes the timeline. Call once, after the run, with all fields of `input` set except links, ranks and
  // most_nodes. Reports on stderr what is left out. Errors: those of WriteTimeline() and of the file.
  absl::Status Finish(TimelineInput input, const MachineView& machine);

 private:
  Output output_;
  std::string format_name_, ranks_text_;
  TimelineFormat format_ = TimelineFormat::kPerfetto;
  std::vector<int> ranks_;
  uint64_t most_nodes_ = kTimelineNodes;
};

}  // namespace chakra::cli
