// The unexplained time of a run in its report, and for people.
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

// `starts`: by rank, the time when the rank began; empty: all at 0.
proto::PinnedReport MakePinnedReport(const PinnedRun& run, const Metrics& metrics,
                                     const std::vector<Time>& starts);

// A warning that names the causes of unexplained time, and the edits that have no effect on it. Empty if at
// most kPinnedWarning percent are unexplained. `device_alone` is called only for a warning: whether the
// traces have operations of the device, and none of the host.
std::string WarnOfPinned(const proto::PinnedReport& pinned, absl::FunctionRef<bool()> device_alone);

// The effect of edits that unexplained time hides: the effect without unexplained time, less the effect with
// it.
proto::HeldEdits HeldByPinned(const PinnedMakespans& unedited, const PinnedMakespans& edited);

// A warning about the hidden effect of edits, whose run took `makespan`. Empty if no effect is hidden.
std::string WarnOfHeldEdits(const proto::PinnedReport& pinned, Time makespan);

// Error (FailedPrecondition), naming the causes: more than `percent` of the makespan is unexplained.
absl::Status CheckPinned(const proto::PinnedReport& pinned, double percent);

// A table of the run, its critical path and its ranks. Empty if the report has no unexplained time. `page` as
// for PrintReport().
std::string PrintPinned(const proto::Report& report, TextPage* page);

}  // namespace chakra
