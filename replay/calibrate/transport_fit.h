// Fits what messages between nodes cost (proto::NetworkTransport), apart from the library's own constants.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "replay/calibrate/fit.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// What rows of calls over several nodes tell of the transport.
struct TransportFit {
  proto::Cluster cluster;  // the given one, with the fields that were told beside the transport's name
  std::vector<std::string> fitted;  // a line for each field that the rows tell: old and new value, which rows
  std::vector<std::string> kept;    // a line for each other field: which rows would tell it, or why not
};

// Fits, one after the other until none changes:
//   - message_us: rings and trees of at most 8 KiB; needs rows of two node counts, of which one node is one
//   - rate_share: the largest sizes, where the cards take most of the time
//   - large_us: rings and trees of 16 KiB to 256 KiB
//   - post_us: all_to_all of less than 1 KiB to a peer
//   - exchange_us: the same, on two counts of several nodes; with small_bytes it is small_exchange_us
// A row's time is linear in each of them (in 1 / rate_share), so that each row gives a value. The weighted
// median of these has the least absolute relative errors. A field stays as it was if fewer than three rows
// depend on it, if they leave it uncertain by 20 % (times: and by 1 us; post_us: by 0.2 us), or if all rows
// between nodes together are nearer without the change. `rows` may have rows of one node, which only count as
// a number of nodes. Nothing is fitted where the library has no level of link NET, or no row crosses it.
// Errors: those of Calibrate() for rows and cluster.
absl::StatusOr<TransportFit> FitTransport(const proto::Cluster& cluster,
                                          const std::vector<MeasuredRow>& rows);

// Calibrate() of rows of any number of nodes, with the library and the transport apart: terms of the library
// from the rows of one node, then FitTransport(). Where that tells nothing, or leaves rows between nodes so
// far off that terms halve the error, terms are fitted to all rows too (Calibrate()). Rows of one node alone:
// Calibrate(). Errors: as there.
absl::StatusOr<Fit> CalibrateApart(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows);

}  // namespace chakra
