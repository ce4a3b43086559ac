// From what a replay measured to the report that people and programs read.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/fabric.h"
#include "proto/report.pb.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/flow_times.h"
#include "replay/engine/measure/metrics.h"
#include "replay/run/jobs.h"
#include "replay/run/steps.h"
#include "trace/base/text_page.h"
#include "trace/model/trace.h"

namespace chakra {

// What a run was, beside its metrics. The pointers are borrowed for the call.
struct RunDescription {
  std::string version;
  std::string cluster;  // "": nothing was priced by one
  std::string fabric;   // "": nothing crossed one
  std::string lanes;
  std::string compute;                               // rungs in order, comma separated
  std::string comm;                                  // "simulated" or "recorded"
  const TraceSet* traces = nullptr;                  // required
  const std::vector<ComputeTimes>* times = nullptr;  // required; one for each distinct graph
  std::vector<DimensionTraffic> traffic;
  LinkUses links;                                   // of a fabric that follows them
  PacketTotals packets;                             // of a fabric that sends them
  std::vector<FlowTimesRow> flow_times;             // where flows were logged
  std::vector<StepMetrics> steps;                   // of captures
  std::string variation;                            // what was varied; "": nothing
  std::string placement;                            // rule or file; "": rank i on device i
  std::vector<Job> jobs;                            // empty: one
  const proto::EditReport* edits = nullptr;         // what was edited; null: nothing
  const proto::CriticalPathReport* path = nullptr;  // null: not asked for
  std::vector<InputFile> inputs;                    // beside traces->inputs
  std::vector<std::string> warnings;                // beside the metrics' own
};

// Bus bandwidth over algorithm bandwidth of a collective on `ranks` ranks:
// all_reduce 2(n-1)/n; all_gather, reduce_scatter, reduce_scatter_block,
// all_to_all, gather and scatter (n-1)/n; others 1. From nccl-tests,
// doc/PERFORMANCE.md and the getBw() of each test.
double BusFactor(absl::string_view kind, int ranks);

// The whole report, `bound` and warnings included. Rates of collectives that
// took no time are 0.
proto::Report MakeReport(const Metrics& metrics, const RunDescription& run);

// One line on what bounds the run: how the rank that ends last (the first such)
// spent the makespan. Four disjoint shares: computation, exposed communication,
// host and memory operations alone, and idle waiting.
std::string DescribeBound(const Metrics& metrics, const TraceSet& traces);

enum class ReportFormat { kText, kJson, kCsv };

// "text", "json", "csv". Errors: another name.
absl::StatusOr<ReportFormat> ParseReportFormat(absl::string_view name);

// kText: for people, at most 100 columns where names allow, ending with the
// line on what bounds the run; long tables are cut and say so. kJson: the
// message, field names in snake_case, every field printed, 64-bit integers as
// strings. kCsv: one row for each rank under the header
// rank,end_ps,compute_busy_ps,comm_busy_ps,exposed_comm_ps,idle_ps.
// `page`: where text is to fit, once the page has finished it; null: anywhere.
absl::StatusOr<std::string> PrintReport(const proto::Report& report, ReportFormat format,
                                        TextPage* page = nullptr);

}  // namespace chakra
