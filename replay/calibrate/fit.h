// Fits the constants of a cluster's collective library to measurements.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// A measurement and what the cluster says of it before and after.
struct FittedRow {
  MeasuredRow measured;
  std::string label;  // "ring/simple"; "launch" where the host's launches bound it
  double before_us = 0;
  double after_us = 0;
};

struct Fit {
  proto::Cluster cluster;           // the one given, with terms, enqueue_us and choices fitted
  std::vector<FittedRow> rows;      // in the order given, as PriceRows() has them
  std::vector<std::string> fitted;  // one line a constant: what it was and what it is
  std::vector<std::string> kept;    // one line a constant that the rows do not identify, with the reason
};

// Each row as the two clusters price it. Errors as Calibrate()'s.
absl::StatusOr<std::vector<FittedRow>> PriceRows(const proto::Cluster& before, const proto::Cluster& after,
                                                 const std::vector<MeasuredRow>& rows);

// Median of |after / measured - 1| (or before).
double MedianError(const Fit& fit, bool after);

// Fits, for each algorithm and protocol that the rows exercise, base_us, step_us,
// network_step_us and the share of the bandwidth (LibraryTerm), the host's
// enqueue_us, and, for groups of one size, the sizes at which the library changes
// its protocol. The time of a call is linear in the first four, so each is a least
// squares fit of relative errors, weighted anew until it minimises their absolute
// values, and drawn weakly towards the constants that the cluster had.
//
// A constant that changes no row by 1 %, that cannot be told from others (base
// and step with one number of ranks), or that the scatter of the rows leaves
// uncertain by 20 % (latencies: and 1 us), keeps its value and is listed in `kept`.
// No share is more than the links carry.
// Errors: no rows, a cluster without collectives.library, rows whose ranks or nodes
// the cluster cannot hold (file and line named), rows that identify nothing.
absl::StatusOr<Fit> Calibrate(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows);

}  // namespace chakra
