// What a run is told (proto/run.proto), and the run that it means.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/run.pb.h"
#include "replay/cluster/options.h"
#include "replay/run/options.h"
#include "trace/generate/workload.h"
#include "trace/io/options.h"

namespace chakra {

// Faults of the message alone, each with what was expected, as the command line names it: no trace, a fabric
// or rungs that there are not, texts without the right form. Limits the process' memory where it says so.
absl::Status CheckRun(const proto::Run& run);

// Whether a step's workload is told or changed by options.
bool TellsWorkload(const proto::Run& run);

struct ResolvedRun {
  TraceOptions traces;
  RunOptions run;
  std::shared_ptr<const edit::EditPlan> edits;  // that `traces` has; null: none
};
// The options that a checked message means. Reads scripts of edits and what a step is told by. Errors name
// the file and the line.
absl::StatusOr<ResolvedRun> ResolveRun(const proto::Run& run);

// Equal for runs that read the same traces, and do the same to them.
std::string TraceKey(const proto::Run& run);
// Whether a field of --set is, in part, of the traces, as some options are: see MessageOption::reads().
inline bool MayBeOfTraces(const MessageOption& option) { return option.reads() || option.name() == "set"; }

// The parts of it, for commands that have them alone.
CaptureSelection SelectionOf(const proto::Capture& capture);
TopologyOptions TopologyOf(const proto::TopologyTexts& texts);
void TakeFlows(const proto::FlowTexts& texts, FabricOptions* options);
void TakeModel(const proto::Run::Step::Model& model, generate::WorkloadOptions* options);

// As FabricName().
std::string FabricNameOf(const proto::MachineTexts& machine);

// The help of an option with what the program knows in the place of {...}.
std::string FillIn(std::string help);

// Errors: there is no such fabric; with the nearest name.
absl::Status CheckFabricName(const std::string& name);

}  // namespace chakra
