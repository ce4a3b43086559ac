// Errors of the laws for rows that were held out and devices that were left out.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

#include "bench/kernel_laws/families.h"
#include "bench/kernel_laws/fit.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/calibrate.h"

namespace chakra::kernel_laws {
namespace {

// Whether `fit` has the device, kernel and dtypes of `row`.
template <typename F>
bool IsOf(const typename F::Fitted& fit, const Row<typename F::Call>& row) {
  if constexpr (std::is_same_v<F, AttentionFamily>) {
    if (fit.kv_dtype != row.call.kv_dtype) return false;
  }
  return fit.device == row.device && fit.kernel == row.kernel && fit.dtype == row.call.dtype;
}

template <typename F>
absl::Status JudgeFamily(const std::vector<Row<typename F::Call>>& rows,
                         const std::vector<typename F::Fitted>& fits, bool residuals,
                         std::vector<Judged>* out) {
  for (const auto& [key, group] : GroupsOf<F>(rows)) {
    absl::StatusOr<Unit> unit = UnitOf(group[0]->device, group[0]->call.dtype);
    if (!unit.ok()) return unit.status();
    for (const auto& fit : fits) {
      if (!IsOf<F>(fit, *group[0])) continue;
      for (const auto* row : group) {
        if (!IsHeldOut(row->call)) continue;
        double us = F::Law(fit.constants, *unit, row->call);
        if (residuals) us *= std::exp(laws::ResidualOf(fit, row->call));
        out->push_back({F::kName, row->device, row->kernel, std::string(Name(row->call.dtype)), row->us, us});
      }
    }
  }
  return absl::OkStatus();
}

// A change of a program, which changes a call to another; no result: the change does not apply to the call.
template <typename Call>
struct Doubling {
  const char* name;
  double work;  // operations of the changed call for each of the call
  std::optional<Call> (*change)(const Call&);
};

// The least sizes of training and prefill.
constexpr double kLeastRows = 64, kLeastSequence = 256;

constexpr Doubling<GemmCall> kDoubledGemms[] = {
    {"gemm, batch or sequence x 2: m", 2,
     [](const GemmCall& c) {
       GemmCall to = c;
       to.m *= 2;
       return c.m >= kLeastRows ? std::optional(to) : std::nullopt;
     }},
    {"gemm, hidden x 2: n and k", 4, [](const GemmCall& c) {
       GemmCall to = c;
       to.n *= 2;
       to.k *= 2;
       return c.m >= kLeastRows ? std::optional(to) : std::nullopt;
     }}};
constexpr Doubling<AttentionCall> kDoubledAttention[] = {
    {"attention, batch x 2", 2,
     [](const AttentionCall& c) {
       AttentionCall to = c;
       to.batch *= 2;
       return c.seq >= kLeastSequence ? std::optional(to) : std::nullopt;
     }},
    {"attention, sequence x 2", 4, [](const AttentionCall& c) {
       AttentionCall to = c;
       to.seq *= 2;
       const bool whole = c.seq >= kLeastSequence && c.prefix == 0 && c.window == 0;
       return whole ? std::optional(to) : std::nullopt;
     }}};

std::vector<double> ShapeOf(const GemmCall& c) { return {c.batch, c.m, c.n, c.k}; }
std::vector<double> ShapeOf(const AttentionCall& c) {
  return {c.batch, c.seq, c.prefix, c.heads, c.kv_heads, c.head_dim, c.window};
}

// Predicts the held-out calls that `doubling` makes from the recorded times of the original calls.
template <typename F>
absl::Status JudgeDoubling(const std::vector<Row<typename F::Call>>& rows,
                           const std::vector<typename F::Fitted>& fits,
                           const Doubling<typename F::Call>& doubling, bool by_work,
                           std::vector<Judged>* out) {
  for (const auto& [key, group] : GroupsOf<F>(rows)) {
    const auto& first = *group[0];
    const absl::StatusOr<Unit> unit = UnitOf(first.device, first.call.dtype);
    if (!unit.ok()) return unit.status();
    const auto fit = std::find_if(fits.begin(), fits.end(), [&](const auto& f) { return IsOf<F>(f, first); });
    if (fit == fits.end()) continue;
    const auto time = [&](const typename F::Call& call) {
      return F::Law(fit->constants, *unit, call) * std::exp(laws::ResidualOf(*fit, call));
    };
    std::map<std::vector<double>, const Row<typename F::Call>*> by_shape;
    for (const auto* row : group) by_shape[ShapeOf(row->call)] = row;
    for (const auto* row : group) {
      const std::optional<typename F::Call> changed = doubling.change(row->call);
      if (!changed.has_value() || !IsHeldOut(*changed)) continue;
      const auto to = by_shape.find(ShapeOf(*changed));
      if (to == by_shape.end()) continue;
      const double ratio = by_work ? doubling.work : time(*changed) / time(row->call);
      out->push_back({doubling.name, row->device, row->kernel, std::string(Name(row->call.dtype)),
                      to->second->us, row->us * ratio});
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

// Constants with the three scales that fit a few rows of the device best, as in CalibrateDevice().
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
    if (!law.has_value() || !laws::IsMain(fit)) continue;
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

absl::StatusOr<std::vector<Judged>> JudgeDoubled(const Rows& rows, const Fits& fits, bool by_work) {
  std::vector<Judged> out;
  for (const auto& d : kDoubledGemms) {
    if (absl::Status s = JudgeDoubling<GemmFamily>(rows.gemm, fits.gemm, d, by_work, &out); !s.ok()) return s;
  }
  for (const auto& d : kDoubledAttention) {
    const absl::Status s = JudgeDoubling<AttentionFamily>(rows.attention, fits.attention, d, by_work, &out);
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
