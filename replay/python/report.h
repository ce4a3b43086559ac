// Runs, and their reports.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proto/report.pb.h"
#include "replay/python/paths.h"
#include "replay/python/traces.h"
#include "replay/report/run_replay.h"
#include "replay/run/options.h"

namespace chakra::python {

// How a report was made, so that the run can be repeated.
struct RunOrigin {
  std::shared_ptr<Traces> traces;
  std::shared_ptr<const ResolvedRun> resolved;
  std::shared_ptr<const DescribedCluster> described;  // null: the cluster of `resolved`
  std::string spec;                                   // the --cluster argument of `described`
  Folder folder{""};                                  // the folder of the options' files

  // The options of the run, with the cluster.
  RunOptions Options() const;
  absl::StatusOr<proto::Report> Run(const RunOptions& options, ReplayHooks hooks) const;
};

class RunReport {
 public:
  explicit RunReport(std::shared_ptr<const proto::Report> report, RunOrigin origin = {})
      : report_(std::move(report)), origin_(std::move(origin)) {}

  const proto::Report& report() const { return *report_; }
  std::shared_ptr<const proto::Report> shared() const { return report_; }
  const RunOrigin& origin() const { return origin_; }
  // The report with its critical path and, for fabrics that simulate links, their traffic over time. Repeats
  // the run, with the same result. For a report that was read from a file, the report itself.
  std::shared_ptr<const proto::Report> Whole() const;
  // Repeats the run and writes it as a timeline for trace viewers. Returns a description of what the timeline
  // leaves out. Errors: a report that was read from a file.
  std::string WriteTimeline(const std::string& path, const std::string& format, const std::string& ranks,
                            uint64_t most_nodes) const;

 private:
  RunOptions WholeOptions() const;

  std::shared_ptr<const proto::Report> report_;
  RunOrigin origin_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const proto::Report> whole_;
};

void BindReport(pybind11::module_& module);

}  // namespace chakra::python
