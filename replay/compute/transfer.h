// A kernel table of one device as that of another, by the rooflines of the two.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/cluster.pb.h"
#include "proto/kernel_table.pb.h"

namespace chakra {

struct TransferNotes {
  uint64_t by_roofline = 0;   // rows whose operations or bytes are known
  uint64_t without_work = 0;  // other rows
  uint64_t other_peak =
      0;                // rows whose dtype has no peak on one of the devices: its default dtype's was taken
  double start_us = 0;  // the part of every row that stays as it is
};

// A time has three parts. The start of a kernel stays: the table's, the start of a fit of start + operations
// / rate + bytes / bandwidth to its rows, at most its shortest row. What the roofline of `from` explains, the
// longer of operations / (peak(dtype) * sustained_share) and bytes / bandwidth, becomes the roofline of `to`.
// What is beyond, ramps, tails and latencies, lies between staying and scaling alike: it is multiplied by the
// root of the ratio of the rooflines. Of a row without known work all is beyond, between staying and the
// ratios of peaks and bandwidths. A row's work is that of its columns, else of its operator. Its dtype is
// `dtype`, where given, else that of its dtypes, else the default of `from`.
//
// `error` of a row says how far off that may be: by what it would be if all beyond the roofline stayed, or
// scaled, and kTransferError at least; for products on a device with a sustained_share, by the inverse of
// that at least. count, min_us and max_us are gone: the row is no measurement. The table's device becomes
// that of `to`.
//
// Errors: a device without bandwidth or peaks, a row that CheckKernelRow refuses.
absl::StatusOr<proto::KernelTable> TransferTable(const proto::KernelTable& table, const proto::Device& from,
                                                 const proto::Device& to, const std::string& dtype,
                                                 TransferNotes* notes);

// Devices do not reach one share of their rooflines. Three quarters of the transfers between devices in
// test/validation/kernels.md are off by no more than what is said with this; it was chosen for them.
inline constexpr double kTransferError = 0.25;

}  // namespace chakra
