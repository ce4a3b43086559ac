// Fits the costs of messages between nodes (proto::NetworkTransport), separately from the library's own
// constants.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/fit.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// The fit of the transport to rows of calls over several nodes.
struct TransportFit {
  proto::Cluster cluster;  // the given cluster, with the fitted fields in addition to the transport's name
  std::vector<std::string> fitted;  // a line for each fitted field: old and new value, and the rows that
                                    // determine it
  std::vector<std::string> kept;    // a line for each other field: the rows that would determine it, or why
                                    // it stays
};

// Fits the following fields in turn, until none changes:
//   - message_us: rings and trees of at most 8 KiB; needs rows of two node counts, one of which is one node
//   - rate_share: the largest sizes, where the NICs take most of the time
//   - large_us: rings and trees of 16 KiB to 256 KiB
//   - post_us: all_to_all of less than 1 KiB to a peer
//   - exchange_us: all_to_all of less than 1 KiB to a peer, on two counts of several nodes; with small_bytes
//     it is small_exchange_us
// A row's time is linear in each of them (in 1 / rate_share), so each row gives a value. The weighted median
// of these values has the minimum absolute relative error. A field keeps its value if fewer than three rows
// depend on it, if they leave it uncertain by 20 % (times: and by 1 us; post_us: by 0.2 us), or if all rows
// between nodes together are nearer without the change. `rows` may contain rows of one node, which only count
// as a number of nodes. Nothing is fitted if the library has no level of link NET, or if no row crosses it.
// Errors: those of Calibrate() for rows and cluster.
absl::StatusOr<TransportFit> FitTransport(const proto::Cluster& cluster,
                                          const std::vector<MeasuredRow>& rows);

// Calibrate() for rows of any number of nodes, with the library and the transport fitted separately: first
// terms of the library to the rows of one node, then FitTransport(). If FitTransport() fits nothing, or
// leaves rows between nodes with such errors that terms halve them, terms are also fitted to all rows
// (Calibrate()). If all rows are of one node, this is Calibrate(). Errors: as for Calibrate().
absl::StatusOr<Fit> CalibrateApart(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows);

}  // namespace chakra
