// Information that traces lack for a replay.
#pragma once

#include "proto/diagnosis.pb.h"
#include "trace/model/trace.h"

namespace chakra::doctor {

// Counts the nodes of `traces`, and adds the information that a replay could use but `traces` lack.
// `recorder`: the topic of `chakra-replay record-help` for the format; "": none.
void FindLacks(const TraceSet& traces, absl::string_view recorder, proto::FoundRun* run);

}  // namespace chakra::doctor
