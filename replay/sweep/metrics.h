// What a sweep keeps of a report, and metrics made of it.
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

// The machine of a point, which its report does not tell.
struct MachineCounts {
  int64_t devices = 0;
  int64_t switches = 0;
  int64_t links = 0;  // cables: both directions are one
};

// The fields of Report that sweeps keep (proto::Kept), and `machine`.
PointMetrics MetricsOf(const proto::Report& report, const MachineCounts& machine);

// Whether reports have, or may have (bytes_D), a metric of that name.
bool IsReportMetric(const std::string& name);

// The names of IsReportMetric() that do not depend on the machine.
std::vector<std::string> ReportMetricNames();

// Checks Sweep.metric and Sweep.objective. Errors (InvalidArgument) begin with the field's path.
absl::Status CheckMetrics(const proto::Sweep& spec, const std::vector<std::string>& axes);

// Adds Sweep.metric to the metrics of a point. One that cannot be calculated, as it divides by 0 or needs
// what this report has not, is left out. Precondition: CheckMetrics().
void AddDerived(const proto::Sweep& spec, const Lookup& axes, PointMetrics* metrics);

// The value to go by: a metric, or an expression over metrics and axes.
absl::StatusOr<double> EvaluateMetric(const Expression& expression, const Lookup& axes,
                                      const PointMetrics& metrics);

}  // namespace chakra::sweep
