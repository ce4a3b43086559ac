#include "replay/compute/model/calibrate.h"

#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compute/model/minimise.h"

namespace chakra {
namespace {

proto::Device WithScale(proto::Device device, const std::vector<double>& scale, int rows) {
  proto::KernelScale* out = device.mutable_kernel_scale();
  out->set_start(scale[0]);
  out->set_peak_share(scale[1]);
  out->set_memory_share(scale[2]);
  out->set_rows(rows);
  return device;
}

}  // namespace

std::vector<double> FindScales(absl::FunctionRef<double(const std::vector<double>&)> misfit) {
  constexpr double kSure = 0.33;
  constexpr int kCalls = 800;
  const auto loss = [&](const std::vector<double>& scale) {
    double sum = misfit(scale);
    for (double s : scale) sum += std::pow(std::log(s) * kSure, 2);
    return sum;
  };
  return Minimise(loss, {1, 1, 1}, kCalls);
}

absl::StatusOr<proto::Device> CalibrateDevice(const proto::Device& device, const KernelRows& rows) {
  std::vector<size_t> measured;
  for (size_t i = 0; i < rows.call.size(); ++i) {
    if (!rows.call[i].ok()) return rows.call[i].status();
    if (rows.measured_us[i] > 0) measured.push_back(i);
  }
  if (measured.empty()) {
    return absl::InvalidArgumentError(
        "no row has a measured time; expected a column measured_us, latency_us or time_us with numbers above "
        "0");
  }
  proto::Device plain = device;
  plain.clear_kernel_scale();
  absl::Status refused;
  const auto misfit = [&](const std::vector<double>& scale) {
    absl::StatusOr<KernelModel> model = KernelModel::Create(WithScale(plain, scale, 0));
    if (!model.ok()) {
      refused = model.status();
      return HUGE_VAL;
    }
    double sum = 0;
    for (size_t i : measured) {
      const absl::StatusOr<ModelledTime> time = Predict(*model, *rows.call[i]);
      if (!time.ok()) {
        refused = absl::InvalidArgumentError(absl::StrCat("row ", i + 1, ": ", time.status().message()));
        return HUGE_VAL;
      }
      sum += std::pow(std::log(time->us / rows.measured_us[i]), 2);
    }
    return sum;
  };
  const std::vector<double> scale = FindScales(misfit);
  if (!refused.ok()) return refused;
  return WithScale(plain, scale, static_cast<int>(measured.size()));
}

}  // namespace chakra
