// Transfers a kernel table from one device to another: by the law of kernels, else by the rooflines of both.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "proto/kernel_table.pb.h"

namespace chakra {

struct TransferNotes {
  uint64_t by_law = 0;        // rows whose kernel has a family
  uint64_t by_roofline = 0;   // others whose operations or bytes are known
  uint64_t without_work = 0;  // the rest
  uint64_t other_peak = 0;    // rows whose dtype has no peak on one of the devices; the peak of that device's
                              // default dtype was used
  double start_us = 0;        // the part of a row beside the law that stays unchanged
};

// A row whose name, operator and operands tell a family takes the ratio of the kernel model between the
// devices (model/reprice.h), if both say which architecture they have; its error is that of the ratio.
//
// The time of another row has three parts. (1) The start of a kernel stays unchanged. It is one number for
// the table: the start in a fit of start + operations / rate + bytes / bandwidth to the rows, at most the
// shortest row. (2) The roofline of `from`, the longer of operations / (peak(dtype) * sustained_share) and
// bytes / bandwidth, becomes the roofline of `to`. (3) The rest (ramps, tails and latencies) lies between
// staying unchanged and scaling like the roofline: it is multiplied by the square root of the ratio of the
// rooflines. For a row without known work, all but the start is rest, between unchanged and the ratios of
// peaks and bandwidths. A row's work is that of its columns, else of its operator. Its dtype is `dtype` if
// given, else that of its dtypes, else the default of `from`.
//
// `error` of a row gives the possible error: what the time would be if the rest stayed unchanged, or scaled
// fully, and at least kTransferError; for products on a device with a sustained_share, at least the inverse
// of this share. count, min_us and max_us are dropped, since the row is not a measurement. The table's device
// becomes that of `to`.
//
// Errors: a device without bandwidth or peaks; a row that CheckKernelRow() refuses.
absl::StatusOr<proto::KernelTable> TransferTable(const proto::KernelTable& table, const proto::Device& from,
                                                 const proto::Device& to, const std::string& dtype,
                                                 TransferNotes* notes);

}  // namespace chakra
