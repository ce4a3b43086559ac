// Runs, and what they report.
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

// How a report came about, to look at the same run once more.
struct RunOrigin {
  std::shared_ptr<Traces> traces;
  std::shared_ptr<const ResolvedRun> resolved;
  std::shared_ptr<const DescribedCluster> described;  // null: as the arguments say
  std::string spec;                                   // of `described`
  Folder folder{""};                                  // of the options' files

  // The options, with the cluster.
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
  // With its critical path and, of fabrics that follow links, what they carried over time: the run is made
  // once more, with the same result. Of a report that was read, the report.
  std::shared_ptr<const proto::Report> Whole() const;
  // The run once more, as a timeline for viewers of traces; what it left out. Errors: a report that was read.
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
