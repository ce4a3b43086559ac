// Fits laws to rows and finds their errors.
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

// The figures of a row's device for the laws. Errors: the device is unknown.
absl::StatusOr<laws::Unit> UnitOf(const std::string& device, KernelDtype dtype);

// Fits each device, kernel and dtype of the rows separately; `held_out`: without the rows that are held out.
absl::StatusOr<Fits> FitAll(const Rows& rows, bool held_out);

// Copies the spreads of `from` to `to`, which has the same fits in the same order.
void TakeSpreads(const Fits& from, Fits* to);

// A measured row and its prediction.
struct Judged {
  std::string family, device, kernel, dtype;
  double us = 0, predicted = 0;
  double low = 0, high = 0;  // its range; 0: not requested
};
// Judges the rows that were held out, by the law with or without its residuals.
absl::StatusOr<std::vector<Judged>> JudgeHeldOut(const Rows& rows, const Fits& fits, bool residuals);
// Judges held-out calls of twice the batch, hidden size or sequence. The prediction is the measured time of
// the original call times the ratio of the law, or of the operations if `by_work`.
absl::StatusOr<std::vector<Judged>> JudgeDoubled(const Rows& rows, const Fits& fits, bool by_work);
// Judges each device by the laws of the others: the constants of the neighbouring generations, with its own
// data sheet. `calibrated`: three of its own rows scale the constants.
absl::StatusOr<std::vector<Judged>> JudgeAcross(const Rows& rows, const Fits& fits, bool calibrated);
// Judges rows by the tables in the binary.
absl::StatusOr<std::vector<Judged>> JudgeShipped(const Rows& rows);

// The files of replay/compute/fitted from fits: name and content.
struct FitText {
  std::string name, content;
};
std::vector<FitText> WriteFits(const Fits& fits);

}  // namespace chakra::kernel_laws
