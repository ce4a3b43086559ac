// Summarizes a set of traces without replaying it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/inspect.pb.h"
#include "trace/base/text_page.h"
#include "trace/model/fixed_time.h"
#include "trace/model/trace.h"

namespace chakra {

// Conversions for reports; text that may hold any bytes becomes UTF-8.
proto::Repair ToProto(const Repair& repair);
proto::InputFile ToProto(const InputFile& file);
// `of`: the owner of the time, as text; `whole`: the time of which the share is computed.
proto::FixedTime ToProto(const FixedTime& time, const std::string& of, Time whole);

// The longest chain of dependencies of a graph, by recorded durations and delays: its rows from first to
// last. Empty for an empty graph. Among chains of equal length, the one with the lowest last row; of several
// dependencies that decide when a row starts, the lowest row.
struct LongestChain {
  Time duration;
  std::vector<uint32_t> rows;
};
LongestChain FindLongestChain(const Graph& graph);

// Summarizes the traces on `threads` threads.
proto::Inspection Inspect(const TraceSet& traces, int threads = 1);

// Prints the summary for people: aligned tables; long tables are cut, with a note. `page`: the page for which
// tables are laid out (the caller passes the text to TextPage::Finish()); null: no limit.
std::string PrintInspectionText(const proto::Inspection& inspection, TextPage* page = nullptr);
// Prints the summary as JSON: field names in snake_case, every field printed, 64-bit integers as strings.
absl::StatusOr<std::string> PrintInspectionJson(const proto::Inspection& inspection);

}  // namespace chakra
