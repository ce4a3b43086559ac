// The metrics that a sweep keeps of a report, and metrics derived from them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/report.pb.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/expression.h"

namespace chakra::sweep {

using PointMetrics = std::map<std::string, double>;

// The size of a point's machine, which is not in its report.
struct MachineCounts {
  int64_t devices = 0;
  int64_t switches = 0;
  int64_t links = 0;         // cables: both directions count as one
  int64_t switch_ports = 0;  // in use
  // In the outermost dimension: bytes that all ports of a device send together, and that all cables carry.
  int64_t injection_bytes_per_s = 0, cable_bytes_per_s = 0;
};

// The metrics of a point: the fields of Report that sweeps keep (proto::Kept), and those of `machine`.
PointMetrics MetricsOf(const proto::Report& report, const MachineCounts& machine);

// Whether a report has, or may have (bytes_D), a metric with this name.
bool IsReportMetric(const std::string& name);

// The names of IsReportMetric() that do not depend on the machine.
std::vector<std::string> ReportMetricNames();

// Checks Sweep.metric and Sweep.objective. Errors (InvalidArgument) begin with the field's path.
absl::Status CheckMetrics(const proto::Sweep& spec, const std::vector<std::string>& axes);

// Adds Sweep.metric to the metrics of a point. Skips a metric that cannot be calculated, because it divides
// by 0 or needs a metric that the report lacks. Precondition: CheckMetrics().
void AddDerived(const proto::Sweep& spec, const Lookup& axes, PointMetrics* metrics);

// The value of an expression over metrics and axes.
absl::StatusOr<double> EvaluateMetric(const Expression& expression, const Lookup& axes,
                                      const PointMetrics& metrics);

}  // namespace chakra::sweep
