// The fixed time of a run in its report, and for people.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/report.pb.h"
#include "replay/critical_path/without_fixed_time.h"
#include "replay/engine/causes/fixed_time.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/text_page.h"

namespace chakra {

// `starts`: by rank, the time when the rank began; empty: all at 0.
proto::FixedTimeReport MakeFixedTimeReport(const FixedTimeRun& run, const Metrics& metrics,
                                           const std::vector<Time>& starts);

// A warning that names the causes of fixed time, and the edits that have no effect on it. Empty if at
// most kFixedTimeWarning percent is fixed. `device_alone` is called only for a warning: whether the
// traces have operations of the device, and none of the host.
std::string WarnOfFixedTime(const proto::FixedTimeReport& fixed_time, absl::FunctionRef<bool()> device_alone);

// The effect of edits that fixed time hides: the effect without fixed time, less the effect with
// it.
proto::HeldEdits HeldByFixedTime(const MakespansWithoutFixedTime& unedited,
                                 const MakespansWithoutFixedTime& edited);

// A warning about the hidden effect of edits, whose run took `makespan`. Empty if no effect is hidden.
std::string WarnOfHeldEdits(const proto::FixedTimeReport& fixed_time, Time makespan);

// Error (FailedPrecondition), naming the causes: more than `percent` of the makespan is fixed.
absl::Status CheckFixedTime(const proto::FixedTimeReport& fixed_time, double percent);

// A table of the run, its critical path and its ranks. Empty if the report has no fixed time. `page` as
// for PrintReport().
std::string PrintFixedTime(const proto::Report& report, TextPage* page);

}  // namespace chakra
