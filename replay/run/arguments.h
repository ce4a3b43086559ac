// Turns the message of a run (proto/run.proto) into the options of the run.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/registry.h"
#include "proto/run.pb.h"
#include "replay/cluster/options.h"
#include "replay/run/options.h"
#include "trace/generate/workload.h"
#include "trace/io/options.h"

namespace chakra {

// Checks the message alone: no trace, unknown fabrics or time sources, malformed texts. Errors say what was
// expected, in the terms of the command line. Also limits the memory of the process, if the message says so.
absl::Status CheckRun(const proto::Run& run);

// Whether options define the workload of a training step, or change it.
bool TellsWorkload(const proto::Run& run);

struct ResolvedRun {
  TraceOptions traces;
  RunOptions run;
  std::shared_ptr<const edit::EditPlan> edits;  // edits of `traces`; null: none
};
// The options for a checked message. Reads scripts of edits, and the workload of a training step if options
// define it. Errors name the file and the line.
absl::StatusOr<ResolvedRun> ResolveRun(const proto::Run& run);

// A key that is equal for runs that read the same traces and change them in the same way.
std::string TraceKey(const proto::Run& run);
// Whether an option may affect the traces: MessageOption::reads(), or --set, some of whose fields do.
inline bool MayBeOfTraces(const MessageOption& option) { return option.reads() || option.name() == "set"; }

// Parts of ResolveRun(), for commands that have only these parts.
CaptureSelection SelectionOf(const proto::Capture& capture);
TopologyOptions TopologyOf(const proto::TopologyTexts& texts);
void TakeFlows(const proto::FlowTexts& texts, FabricOptions* options);
void TakeModel(const proto::Run::Step::Model& model, generate::WorkloadOptions* options);

// FabricName() of the machine.
std::string FabricNameOf(const proto::MachineTexts& machine);

// "fluid, packet or mixed".
std::string AnyOf(const FabricKinds& fabrics);

// The help of an option with what the program knows in the place of {...}.
std::string FillIn(std::string help);

// Error: an unknown fabric; the error suggests the nearest name.
absl::Status CheckFabricName(const std::string& name);

}  // namespace chakra
