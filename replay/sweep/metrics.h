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

// makespan_ps; of ranks, mean and largest: end, compute, comm, exposed_comm, idle, host, memory (_mean_ps,
// _max_ps); collective_ps and collective_wait_ps (summed), algbw_gbytes_per_s and busbw_gbytes_per_s of the
// collective that takes the longest; ranks, trace_nodes, flows, fast_collectives; bytes_D of each dimension D
// of the topology, link_utilization_max; of packets packets, packet_drops, packet_lost, packet_marks,
// packet_pauses, packets_sent_again; devices, switches, links.
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
