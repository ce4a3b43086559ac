#include "replay/compute/model/reprice.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/compute/device_rates.h"

namespace chakra {
namespace {

// A kernel of the family with size `x`: bytes of a stream, edge of a cube, length of a sequence.
KernelCall Sized(KernelFamily family, bool backward, KernelDtype dtype, double x) {
  if (const auto kind = StreamKindOf(family); kind.has_value()) return StreamCall{*kind, x, x / 4};
  if (family == KernelFamily::kAttention) {
    AttentionCall a;
    a.dtype = a.kv_dtype = dtype;
    a.seq = x;
    a.heads = a.kv_heads = 16;
    a.head_dim = 128;
    a.backward = backward;
    return a;
  }
  return GemmCall{dtype, 1, x, x, x};
}

double Log(double x) { return std::log(std::max(x, 1e-12)); }

}  // namespace

std::optional<KernelCall> Repricer::OfSize(KernelFamily family, bool backward, KernelDtype dtype,
                                           double us) const {
  const bool stream = StreamKindOf(family).has_value();
  double low = Log(stream ? 256 : 16), high = Log(stream ? 1e13 : 2e5);
  const auto time = [&](double log_size) -> std::optional<double> {
    const auto t = Predict(from_, Sized(family, backward, dtype, std::exp(log_size)));
    return t.ok() && t->us > 0 ? std::optional<double>(t->us) : std::nullopt;
  };
  if (!time(low).has_value() || !time(high).has_value()) return std::nullopt;
  for (int i = 0; i < 48; ++i) {
    const double middle = (low + high) / 2;
    const auto at = time(middle);
    if (!at.has_value()) return std::nullopt;
    (*at < us ? low : high) = middle;
  }
  return Sized(family, backward, dtype, std::exp(low));
}

std::optional<TimeRatio> Repricer::Between(const std::vector<KernelCall>& calls, double us) const {
  const auto here = PredictAll(from_, calls);
  if (!here.ok() || !(here->us > 0)) return std::nullopt;
  if (us > 0 && std::abs(Log(here->us / us)) > std::log(kPlausible)) return std::nullopt;
  const auto there = PredictAll(to_, calls);
  if (!there.ok() || !(there->us > 0)) return std::nullopt;
  TimeRatio r;
  r.ratio = there->us / here->us;
  const double up = std::hypot(Log(there->high_us / there->us), Log(here->us / std::max(here->low_us, 1e-9)));
  const double down =
      std::hypot(Log(there->us / std::max(there->low_us, 1e-9)), Log(here->high_us / here->us));
  r.low = r.ratio * std::exp(-down);
  r.high = r.ratio * std::exp(up);
  return r;
}

TimeRatio Repricer::BySheets(absl::string_view dtype) const {
  const std::string d = dtype.empty() ? DefaultDtype(from_.device()) : std::string(dtype);
  const SheetRatios sheets = RatiosOfSheets(RatesOf(from_.device(), d), RatesOf(to_.device(), d));
  return {std::sqrt(sheets.least * sheets.most), sheets.least / (1 + kTransferError),
          sheets.most * (1 + kTransferError)};
}

TimeRatio Repricer::Ratio(const FamilyCalls& calls, absl::string_view name, absl::string_view dtype,
                          double us) {
  TimeRatio r;
  r.family = calls.family;
  if (calls.family == KernelFamily::kHostCopy) return r;
  std::optional<TimeRatio> known;
  if (calls.family != KernelFamily::kNone) {
    if (!calls.calls.empty()) known = Between(calls.calls, us);
    r.sized = known.has_value();
    if (!known.has_value() && us > 0) {
      KernelDtype of = KernelDtype::kBf16;
      if (const auto told = ParseKernelDtype(dtype); told.ok()) of = *told;
      if (const auto named = DtypeOfKernelName(name); dtype.empty() && named.has_value()) of = *named;
      const bool backward = IsBackwardKernel(name);
      const auto [at, fresh] = by_size_.try_emplace({calls.family, backward, of, std::llround(us * 1e3)});
      if (fresh) {
        const auto call = OfSize(calls.family, backward, of, us);
        if (call.has_value()) at->second = Between({*call}, 0);
      }
      known = at->second;
    }
  }
  TimeRatio out = known.has_value() ? *known : BySheets(dtype);
  out.family = calls.family;
  out.sized = r.sized;
  return out;
}

}  // namespace chakra
