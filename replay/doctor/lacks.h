// What traces that can be read do not tell.
#pragma once

#include "proto/diagnosis.pb.h"
#include "trace/model/trace.h"

namespace chakra::doctor {

// Counts nodes into `run`, and adds what a replay could use and `traces` do not have. `recorder`: the topic
// of `chakra-replay record-help` for the format; "": none.
void FindLacks(const TraceSet& traces, absl::string_view recorder, proto::FoundRun* run);

}  // namespace chakra::doctor
