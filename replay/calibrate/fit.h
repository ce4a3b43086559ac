// Fits the constants of a cluster's collective library to measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// A measurement, and its price before and after the fit.
struct FittedRow {
  MeasuredRow measured;
  std::string label;  // "ring/simple"; "launch" if the host's launches bound the row
  double before_us = 0;
  double after_us = 0;
};

struct Fit {
  proto::Cluster cluster;             // the given cluster, with fitted terms, enqueue_us and choices
  std::vector<FittedRow> rows;        // in the order given, as from PriceRows()
  std::vector<std::string> fitted;    // one line for each fitted constant: its old and its new value
  std::vector<std::string> kept;      // one line for each constant that the rows do not identify, with the
                                      // reason
  std::vector<std::string> warnings;  // reasons to doubt the fit
};

inline constexpr double kFarOff = 0.3;  // a fit with a larger median error does not explain its rows

// Prices each row on both clusters. Errors: as for Calibrate().
absl::StatusOr<std::vector<FittedRow>> PriceRows(const proto::Cluster& before, const proto::Cluster& after,
                                                 const std::vector<MeasuredRow>& rows);

// The highest level of the library that is a network; nullopt: there is none.
std::optional<size_t> NetworkLevel(const proto::CollectiveLibrary& library);

// The text of a value in messages: "0.7616".
std::string FourDigits(double value);

// The median of |after / measured - 1|, or of |before / measured - 1| if `after` is false.
double MedianError(const Fit& fit, bool after);

// Fills in `fit`'s rows, and adds a warning if the error of its cluster exceeds kFarOff. Errors: as for
// Calibrate().
absl::Status JudgeFit(const proto::Cluster& before, const std::vector<MeasuredRow>& rows, Fit* fit);

// Fits base_us, step_us, network_step_us and the share of the bandwidth (LibraryTerm) for each algorithm and
// protocol in the rows; the host's enqueue_us; and, for groups of one size, the sizes at which the library
// changes its protocol. The time of a call is linear in the first four constants. Each fit is therefore a
// least squares fit of relative errors, reweighted until it minimises the absolute errors, with a weak pull
// towards the cluster's constants.
//
// A constant keeps its value and is listed in `kept` in three cases: it changes no row by 1 %; it cannot be
// separated from others (base and step with one number of ranks); or the scatter of the rows leaves it
// uncertain by 20 % (latencies: and by 1 us). There is a warning for a constant that is fitted from rows of a
// single size, and for a cluster whose error exceeds kFarOff. No share exceeds what the links carry. Errors:
// no rows; a cluster without collectives.library; rows whose ranks or nodes do not fit the cluster (the error
// names file and line); rows that identify no constant.
absl::StatusOr<Fit> Calibrate(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows);

}  // namespace chakra
