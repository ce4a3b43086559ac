// How far off the laws are: of rows that were held out, and of devices that were left out.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

#include "replay/cluster/devices.h"
#include "replay/compute/model/calibrate.h"
#include "test/kernel_laws/families.h"
#include "test/kernel_laws/fit.h"

namespace chakra::kernel_laws {
namespace {

template <typename F>
absl::Status JudgeFamily(const std::vector<Row<typename F::Call>>& rows,
                         const std::vector<typename F::Fitted>& fits, bool residuals,
                         std::vector<Judged>* out) {
  for (const auto& [key, group] : GroupsOf<F>(rows)) {
    absl::StatusOr<Unit> unit = UnitOf(group[0]->device, group[0]->call.dtype);
    if (!unit.ok()) return unit.status();
    for (const auto& fit : fits) {
      if (fit.device != group[0]->device || fit.kernel != group[0]->kernel ||
          fit.dtype != group[0]->call.dtype)
        continue;
      if constexpr (std::is_same_v<F, AttentionFamily>) {
        if (fit.kv_dtype != group[0]->call.kv_dtype) continue;
      }
      for (const auto* row : group) {
        if (!IsHeldOut(row->call)) continue;
        double us = F::Law(fit.constants, *unit, row->call);
        if (residuals) us *= std::exp(laws::ResidualOf(fit.View(), row->call));
        out->push_back({F::kName, row->device, row->kernel, std::string(Name(row->call.dtype)), row->us, us});
      }
    }
  }
  return absl::OkStatus();
}

// The row whose numbers are nearest to `wanted`, in logarithms.
template <typename Call>
const Row<Call>* NearestRow(const std::vector<const Row<Call>*>& rows, const std::vector<double>& wanted,
                            std::vector<double> (*numbers)(const Call&)) {
  const Row<Call>* best = nullptr;
  double least = HUGE_VAL;
  for (const Row<Call>* row : rows) {
    const std::vector<double> has = numbers(row->call);
    double far = 0;
    for (size_t i = 0; i < has.size(); ++i) far += std::abs(std::log(has[i] / wanted[i]));
    if (far < least) {
      least = far;
      best = row;
    }
  }
  return best;
}

// Constants with the three scales under which a few rows of the device fit best, as CalibrateDevice() does
// it.
template <typename F>
typename F::Constants Calibrated(const AcrossLaw<F>& law, const Unit& unit,
                                 const std::vector<const Row<typename F::Call>*>& rows) {
  std::vector<const Row<typename F::Call>*> micro;
  for (const auto& wanted : F::Micro())
    micro.push_back(NearestRow<typename F::Call>(rows, wanted, F::Numbers));
  const auto scaled = [&](const std::vector<double>& scale) {
    typename F::Constants c = law.constants;
    for (size_t i = 0; i < 3; ++i) c[F::kScaled[i]] *= scale[i];
    return c;
  };
  const auto misfit = [&](const std::vector<double>& scale) {
    double sum = 0;
    for (const auto* row : micro) {
      const AcrossLaw<F> with = {scaled(scale), law.from};
      sum += std::pow(std::log(with.Time(unit, row->call) / row->us), 2);
    }
    return sum;
  };
  return scaled(FindScales(misfit));
}

template <typename F>
absl::Status JudgeLeftOut(const std::vector<Row<typename F::Call>>& rows,
                          const std::vector<typename F::Fitted>& fits, bool calibrated,
                          std::vector<Judged>* out) {
  for (const auto& fit : fits) {
    absl::StatusOr<Unit> unit = UnitOf(fit.device, fit.dtype);
    if (!unit.ok()) return unit.status();
    std::optional<AcrossLaw<F>> law = Across<F>(fits, fit.device, fit.dtype);
    if (!law.has_value() || !laws::IsMain(fit.View())) continue;
    std::vector<const Row<typename F::Call>*> own;
    for (const auto& row : rows) {
      if (row.device == fit.device && row.kernel == fit.kernel && row.call.dtype == fit.dtype)
        own.push_back(&row);
    }
    if (calibrated) law->constants = Calibrated<F>(*law, *unit, own);
    for (const auto* row : own) {
      out->push_back({F::kName, row->device, row->kernel, std::string(Name(row->call.dtype)), row->us,
                      law->Time(*unit, row->call)});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Judged>> JudgeHeldOut(const Rows& rows, const Fits& fits, bool residuals) {
  std::vector<Judged> out;
  for (const absl::Status& s : {JudgeFamily<GemmFamily>(rows.gemm, fits.gemm, residuals, &out),
                                JudgeFamily<AttentionFamily>(rows.attention, fits.attention, residuals, &out),
                                JudgeFamily<MoeFamily>(rows.moe, fits.moe, residuals, &out)}) {
    if (!s.ok()) return s;
  }
  return out;
}

absl::StatusOr<std::vector<Judged>> JudgeAcross(const Rows& rows, const Fits& fits, bool calibrated) {
  std::vector<Judged> out;
  for (const absl::Status& s :
       {JudgeLeftOut<GemmFamily>(rows.gemm, fits.gemm, calibrated, &out),
        JudgeLeftOut<AttentionFamily>(rows.attention, fits.attention, calibrated, &out),
        JudgeLeftOut<MoeFamily>(rows.moe, fits.moe, calibrated, &out)}) {
    if (!s.ok()) return s;
  }
  return out;
}

absl::StatusOr<std::vector<Judged>> JudgeShipped(const Rows& rows) {
  std::vector<Judged> out;
  std::map<std::string, KernelModel> models;
  const auto judge = [&](const char* family, const auto& all) {
    for (const auto& row : all) {
      auto at = models.find(row.device);
      if (at == models.end()) {
        absl::StatusOr<proto::Device> device = FindDevice(row.device);
        if (!device.ok()) return device.status();
        absl::StatusOr<KernelModel> model = KernelModel::Create(*device);
        if (!model.ok()) return model.status();
        at = models.emplace(row.device, *std::move(model)).first;
      }
      KernelCall call = row.call;
      if (auto* attention = std::get_if<AttentionCall>(&call)) attention->kernel = row.kernel;
      const absl::StatusOr<ModelledTime> time = Predict(at->second, call);
      if (!time.ok()) return time.status();
      out.push_back({family, row.device, row.kernel, std::string(Name(row.call.dtype)), row.us, time->us,
                     time->low_us, time->high_us});
    }
    return absl::OkStatus();
  };
  absl::Status s = judge("gemm", rows.gemm);
  s.Update(judge("attention", rows.attention));
  s.Update(judge("moe", rows.moe));
  if (!s.ok()) return s;
  return out;
}

}  // namespace chakra::kernel_laws
