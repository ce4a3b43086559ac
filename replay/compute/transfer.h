// Transfers a kernel table from one device to another: by the kernel model, else by the rooflines of both.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "proto/kernel_table.pb.h"

namespace chakra {

struct TransferNotes {
  uint64_t by_law = 0;        // rows whose kernel has a family, priced by the kernel model
  uint64_t by_roofline = 0;   // other rows whose operations or bytes are known
  uint64_t without_work = 0;  // the rest
  // Rows whose dtype has no peak on one of the devices; the peak of that device's default dtype was used.
  uint64_t other_peak = 0;
  double start_us = 0;  // the part of a row's time that stays unchanged (not used by rows of by_law)
};

// If both devices name their architecture, a row whose name, operator and operands determine a kernel family
// is multiplied by the ratio of the kernel model between the devices (model/reprice.h), and gets the error of
// the ratio.
//
// The time of any other row has three parts. (1) The start of a kernel stays unchanged. It is one number for
// the table: the start in a fit of start + operations / rate + bytes / bandwidth to the rows, at most the
// shortest row. (2) The roofline of `from`, the longer of operations / (peak(dtype) * sustained_share) and
// bytes / bandwidth, becomes the roofline of `to`. (3) The rest (ramps, tails and latencies) is between
// staying unchanged and scaling like the roofline: it is multiplied by the square root of the ratio of the
// rooflines. If a row's work is unknown, everything after the start is rest, and its factor is the geometric
// mean of the smallest and largest of 1, the ratio of peaks and the ratio of bandwidths. A row's work is that
// of its columns, else that of its operator. Its dtype is `dtype` if given, else that of its dtypes, else the
// default of `from`.
//
// `error` of a row is its possible error: the difference to a time whose rest stays unchanged or scales
// fully, and at least kTransferError. For rows bound by operations on a device with a sustained_share, it is
// at least 1 / sustained_share - 1. count, min_us and max_us are dropped, since the row is not a measurement.
// The table's device becomes that of `to`.
//
// Errors: a device without bandwidth or peaks, or with an invalid sustained_share; a row that
// CheckKernelRow() refuses.
absl::StatusOr<proto::KernelTable> TransferTable(const proto::KernelTable& table, const proto::Device& from,
                                                 const proto::Device& to, const std::string& dtype,
                                                 TransferNotes* notes);

}  // namespace chakra
