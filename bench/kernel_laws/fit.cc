#include "bench/kernel_laws/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "bench/kernel_laws/families.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/minimise.h"

namespace chakra::kernel_laws {
namespace {

constexpr size_t kSample = 2500;  // rows that constants are fitted on
constexpr int kCalls = 4000;
constexpr double kStray = 0.0015;

template <typename F>
typename F::Constants FitConstants(const Unit& unit, const std::vector<const Row<typename F::Call>*>& rows) {
  std::vector<const Row<typename F::Call>*> sample;
  // Rows are in the order of the file; a stride without common factors with its sides samples them evenly.
  const size_t stride = std::max<size_t>(1, rows.size() / kSample) | 1;
  for (size_t i = 0; i < rows.size(); i += stride) sample.push_back(rows[i]);
  const typename F::Constants start = F::Start();
  const auto loss = [&](const std::vector<double>& p) {
    typename F::Constants c;
    std::copy(p.begin(), p.end(), c.begin());
    double sum = 0;
    for (const auto* row : sample) sum += std::abs(std::log(F::Law(c, unit, row->call) / row->us));
    // A constant that the rows do not determine stays near its start, which is the same for all devices.
    double strayed = 0;
    for (size_t i = 0; i < p.size(); ++i) strayed += std::pow(std::log(p[i] / start[i]), 2);
    return sum / static_cast<double>(sample.size()) + kStray * strayed;
  };
  const std::vector<double> found = Minimise(loss, {start.begin(), start.end()}, kCalls);
  typename F::Constants out;
  std::copy(found.begin(), found.end(), out.begin());
  return out;
}

// The quantile of 90 % of |log(measured / predicted)| by band; a band with few rows has the quantile of all.
std::array<double, laws::kBands> SpreadOf(const std::vector<std::pair<double, double>>& predicted_off) {
  std::array<std::vector<double>, laws::kBands> by_band;
  std::vector<double> all;
  for (const auto& [us, off] : predicted_off) {
    by_band[laws::BandOf(us)].push_back(std::abs(off));
    all.push_back(std::abs(off));
  }
  const auto quantile = [](std::vector<double> v) {
    if (v.empty()) return 0.5;
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, static_cast<size_t>(0.9 * static_cast<double>(v.size())))];
  };
  std::array<double, laws::kBands> out;
  for (int b = 0; b < laws::kBands; ++b) out[b] = quantile(by_band[b].size() < 50 ? all : by_band[b]);
  return out;
}

template <typename F>
absl::Status FitFamily(const std::vector<Row<typename F::Call>>& rows, bool held_out,
                       std::vector<typename F::Fitted>* out) {
  for (const auto& [key, group] : GroupsOf<F>(rows)) {
    absl::StatusOr<Unit> unit = UnitOf(group[0]->device, group[0]->call.dtype);
    if (!unit.ok()) return unit.status();
    std::vector<const Row<typename F::Call>*> seen;
    for (const auto* row : group) {
      if (!held_out || !IsHeldOut(row->call)) seen.push_back(row);
    }
    typename F::Fitted fitted = F::New(*group[0]);
    fitted.constants = FitConstants<F>(*unit, seen);
    std::vector<double> off;
    for (const auto* row : seen)
      off.push_back(std::log(row->us / F::Law(fitted.constants, *unit, row->call)));
    F::TakeResiduals(seen, off, &fitted);
    std::vector<std::pair<double, double>> corrected, bare;
    for (const auto* row : group) {
      if (held_out && !IsHeldOut(row->call)) continue;
      const double law = F::Law(fitted.constants, *unit, row->call);
      const double residual = laws::ResidualOf(fitted, row->call);
      bare.push_back({law, std::log(row->us / law)});
      corrected.push_back({law * std::exp(residual), std::log(row->us / law) - residual});
    }
    fitted.spreads.corrected = SpreadOf(corrected);
    fitted.spreads.bare = SpreadOf(bare);
    out->push_back(std::move(fitted));
  }
  return absl::OkStatus();
}

constexpr double kNoAcross = 0.6;  // spread if the other devices give no law

template <typename F>
absl::Status AddAcross(const std::vector<Row<typename F::Call>>& rows,
                       std::vector<typename F::Fitted>* fits) {
  for (auto& fit : *fits) {
    std::vector<std::pair<double, double>> off;
    absl::StatusOr<Unit> unit = UnitOf(fit.device, fit.dtype);
    if (!unit.ok()) return unit.status();
    const std::optional<AcrossLaw<F>> law = Across<F>(*fits, fit.device, fit.dtype);
    for (const auto& row : rows) {
      if (!law.has_value() || row.device != fit.device || row.kernel != fit.kernel) continue;
      if (row.call.dtype != fit.dtype) continue;
      const double us = law->Time(*unit, row.call);
      off.push_back({us, std::log(row.us / us)});
    }
    fit.spreads.across.fill(kNoAcross);
    if (!off.empty()) fit.spreads.across = SpreadOf(off);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<laws::Unit> UnitOf(const std::string& name, KernelDtype dtype) {
  absl::StatusOr<proto::Device> device = FindDevice(name);
  if (!device.ok()) return device.status();
  return laws::UnitOf(*device, dtype);
}

absl::StatusOr<Fits> FitAll(const Rows& rows, bool held_out) {
  Fits fits;
  for (const absl::Status& s :
       {FitFamily<GemmFamily>(rows.gemm, held_out, &fits.gemm),
        FitFamily<AttentionFamily>(rows.attention, held_out, &fits.attention),
        FitFamily<MoeFamily>(rows.moe, held_out, &fits.moe), AddAcross<GemmFamily>(rows.gemm, &fits.gemm),
        AddAcross<AttentionFamily>(rows.attention, &fits.attention),
        AddAcross<MoeFamily>(rows.moe, &fits.moe)}) {
    if (!s.ok()) return s;
  }
  return fits;
}

void TakeSpreads(const Fits& from, Fits* to) {
  for (size_t i = 0; i < to->gemm.size(); ++i) to->gemm[i].spreads = from.gemm[i].spreads;
  for (size_t i = 0; i < to->attention.size(); ++i) to->attention[i].spreads = from.attention[i].spreads;
  for (size_t i = 0; i < to->moe.size(); ++i) to->moe[i].spreads = from.moe[i].spreads;
}

}  // namespace chakra::kernel_laws
