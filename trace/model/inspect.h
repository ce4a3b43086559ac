// A summary of a set of traces, without replaying it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/inspect.pb.h"
#include "trace/base/text_page.h"
#include "trace/model/trace.h"

namespace chakra {

// For reports; what may be any bytes as UTF-8.
proto::Repair ToProto(const Repair& repair);
proto::InputFile ToProto(const InputFile& file);

// The longest chain of dependencies of a graph by recorded durations and delays: its rows
// from first to last. Empty for an empty graph. Among chains of one length,
// the one with the lowest last row, and before each row the lowest such
// dependency.
struct LongestChain {
  Time duration;
  std::vector<uint32_t> rows;
};
LongestChain FindLongestChain(const Graph& graph);

// Sums over ranks saturate nowhere: int64 picoseconds are 106 days.
proto::Inspection Inspect(const TraceSet& traces);

// For people: aligned tables, long ones cut with a note. `page`: where it is to fit, once the page has
// finished it; null: anywhere.
std::string PrintInspectionText(const proto::Inspection& inspection, TextPage* page = nullptr);
// Field names in snake_case, every field printed, 64-bit integers as strings.
absl::StatusOr<std::string> PrintInspectionJson(const proto::Inspection& inspection);

}  // namespace chakra
