// A summary of a set of traces, without replaying it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/inspect.pb.h"
#include "trace/base/text_page.h"
#include "trace/model/pinned.h"
#include "trace/model/trace.h"

namespace chakra {

// For reports; what may be any bytes as UTF-8.
proto::Repair ToProto(const Repair& repair);
proto::InputFile ToProto(const InputFile& file);
// `of`: whose time it is; `whole`: the time of which it is a share.
proto::PinnedTime ToProto(const PinnedTime& time, const std::string& of, Time whole);

// The longest chain of dependencies of a graph by recorded durations and delays: its rows
// from first to last. Empty for an empty graph. Among chains of one length,
// the one with the lowest last row, and before each row the lowest such
// dependency.
struct LongestChain {
  Time duration;
  std::vector<uint32_t> rows;
};
LongestChain FindLongestChain(const Graph& graph);

// Summarises the traces, graphs beside each other on threads.
proto::Inspection Inspect(const TraceSet& traces, int threads = 1);

// The summary as text for people: aligned tables; long tables are cut, with a note. `page`: the page to lay
// tables out for (the caller passes the text to TextPage::Finish()); null: no limit.
std::string PrintInspectionText(const proto::Inspection& inspection, TextPage* page = nullptr);
// The summary as JSON: field names in snake_case, every field printed, 64-bit integers as strings.
absl::StatusOr<std::string> PrintInspectionJson(const proto::Inspection& inspection);

}  // namespace chakra
