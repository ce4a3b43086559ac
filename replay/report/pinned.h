// The pinned time of a run in its report, and for people.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/critical_path/without_pinned.h"
#include "replay/engine/causes/pinned.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/text_page.h"

namespace chakra {

// `starts`: by rank, when it began; empty: all at 0.
proto::PinnedReport MakePinnedReport(const PinnedRun& run, const Metrics& metrics,
                                     const std::vector<Time>& starts);

// A warning that names the causes, and which edits they make blind. Empty where at most kPinnedWarning
// percent are pinned. `device_alone`, asked only where there is one: the traces have operations of the
// device, and none of the host.
std::string WarnOfPinned(const proto::PinnedReport& pinned, absl::FunctionRef<bool()> device_alone);

// What pinned time holds of edits: of the difference that they make where nothing is pinned, what is not in
// the difference that they make.
proto::HeldEdits HeldByPinned(const PinnedMakespans& unedited, const PinnedMakespans& edited);

// A warning that says what is held of the effect of edits, whose run took `makespan`. Empty where nothing is.
std::string WarnOfHeldEdits(const proto::PinnedReport& pinned, Time makespan);

// Error (FailedPrecondition), naming the causes: more than `percent` of the makespan is pinned.
absl::Status CheckPinned(const proto::PinnedReport& pinned, double percent);

// A table of the run, its critical path and its ranks. Empty where the report has no pinned time. `page` as
// for PrintReport().
std::string PrintPinned(const proto::Report& report, TextPage* page);

}  // namespace chakra
