// Fits laws to rows and tells how far they are off.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/kernel_laws/rows.h"
#include "replay/compute/model/fits.h"

namespace chakra::kernel_laws {

struct Fits {
  std::vector<laws::GemmFit> gemm;
  std::vector<laws::AttentionFit> attention;
  std::vector<laws::MoeFit> moe;
};

// What the laws need of the device of a row. Errors: there is no such device.
absl::StatusOr<laws::Unit> UnitOf(const std::string& device, KernelDtype dtype);

// Fits each device, kernel and dtype of the rows on its own, without those held out if `held_out`.
absl::StatusOr<Fits> FitAll(const Rows& rows, bool held_out);

// Gives the fits of `to` the spreads of `from`, which has the same fits in the same order.
void TakeSpreads(const Fits& from, Fits* to);

// A measured row and what was predicted of it.
struct Judged {
  std::string family, device, kernel, dtype;
  double us = 0, predicted = 0;
  double low = 0, high = 0;  // its range; 0: none was asked for
};
// Of the rows that were held out: by the law with its residuals, and by the law alone.
absl::StatusOr<std::vector<Judged>> JudgeHeldOut(const Rows& rows, const Fits& fits, bool residuals);
// Calls of twice the batch, hidden size or sequence, which were held out, from the measured time of the call
// they come from: times the ratio of the law, or with `by_work` of the operations.
absl::StatusOr<std::vector<Judged>> JudgeDoubled(const Rows& rows, const Fits& fits, bool by_work);
// Each device by the laws of the others alone: the constants of the devices beside it in generation, with its
// own data sheet; `calibrated` by three of its own rows.
absl::StatusOr<std::vector<Judged>> JudgeAcross(const Rows& rows, const Fits& fits, bool calibrated);
// Rows by the tables that the binary holds.
absl::StatusOr<std::vector<Judged>> JudgeShipped(const Rows& rows);

// The files of replay/compute/fitted from fits: name and content.
struct FitText {
  std::string name, content;
};
std::vector<FitText> WriteFits(const Fits& fits);

}  // namespace chakra::kernel_laws
