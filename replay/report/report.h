// Turns what a replay measured into the report that people and programs read.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/fabric_report.h"
#include "proto/report.pb.h"
#include "replay/engine/measure/flow_times.h"
#include "replay/engine/measure/metrics.h"
#include "replay/run/description.h"
#include "replay/run/jobs.h"
#include "replay/run/steps.h"
#include "trace/base/text_page.h"
#include "trace/model/trace.h"

namespace chakra {

// The totals of one direction of a link up to `end`, without time series.
proto::LinkReport LinkTotalsOf(const LinkUse& use, Time end);

// The whole report, with `bound` and warnings. Rates of collectives that took no time are 0.
proto::Report MakeReport(const Metrics& metrics, const RunDescription& run);

// One line on what bounds the run: how the rank that ends last (the first of equals) spent the makespan. The
// line has five disjoint shares: computation, exposed communication, copies or other memory operations, host
// operations, and idle waiting.
std::string DescribeBound(const Metrics& metrics, const TraceSet& traces);

enum class ReportFormat { kText, kJson, kCsv };

// "text", "json", "csv". Errors: another name.
absl::StatusOr<ReportFormat> ParseReportFormat(absl::string_view name);

// kText: for people, at most 100 columns if names allow it. Ends with the line on what bounds the run. Long
// tables are cut, and say so.
// kJson: the message, with field names in snake_case. Every field is printed, 64-bit integers as strings.
// kCsv: one row for each rank, with the fields of RankReport that are shown in CSV.
// `page`: text must fit this page, which finishes the text; null: no limits.
absl::StatusOr<std::string> PrintReport(const proto::Report& report, ReportFormat format,
                                        TextPage* page = nullptr);

}  // namespace chakra
