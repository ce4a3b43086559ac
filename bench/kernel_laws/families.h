// Differences between the families of kernels: laws, starts of fits, and places of residuals in tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/kernel_laws/cells.h"
#include "bench/kernel_laws/fit.h"
#include "replay/compute/model/architectures.h"
#include "replay/compute/model/fit_file.h"

namespace chakra::kernel_laws {

using laws::Place;
using laws::PlaceOf;
using laws::Unit;

// The weights of the four cells of an interpolation in two directions.
inline std::vector<std::pair<size_t, double>> Square(size_t first, size_t stride, const Place& a,
                                                     const Place& b) {
  const size_t corner = first + a.at * stride + b.at;
  return {{corner, (1 - a.share) * (1 - b.share)},
          {corner + 1, (1 - a.share) * b.share},
          {corner + stride, a.share * (1 - b.share)},
          {corner + stride + 1, a.share * b.share}};
}

// Differences between the three families.
struct GemmFamily {
  using Call = GemmCall;
  using Fitted = laws::GemmFit;
  using Constants = laws::GemmConstants;
  static constexpr char kName[] = "gemm";
  static Constants Start() { return {5000, 0.8, 0.75, 0.018, 200, 5, 5000, 1, 8, 0.15, 4000, 80}; }
  static double Law(const Constants& c, const Unit& u, const Call& g) {
    return laws::Gemm(c, u, BytesOf(g.dtype), g.batch, g.m, g.n, g.k);
  }
  // A calibration scales these: start, share of peak, share of memory.
  static constexpr size_t kScaled[] = {laws::kStartCycles, laws::kPeakShare, laws::kMemoryShare};
  // Measurements that a user would make: a small one, a large one, a thin one.
  static std::vector<std::vector<double>> Micro() {
    return {{16, 512, 512}, {4096, 8192, 8192}, {16, 16384, 8192}};
  }
  static std::vector<double> Numbers(const Call& c) { return {c.m, c.n, c.k}; }
  static Fitted New(const Row<Call>& row) { return {row.device, row.kernel, row.call.dtype}; }
  static void TakeResiduals(const std::vector<const Row<Call>*>& rows, const std::vector<double>& off,
                            Fitted* f) {
    constexpr size_t kRows = std::size(laws::kGemmRows), kSides = std::size(laws::kGemmSides);
    std::vector<Seen> seen;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Call& c = rows[i]->call;
      const size_t row = std::min<size_t>(
          std::lower_bound(laws::kGemmRows, laws::kGemmRows + kRows, c.m) - laws::kGemmRows, kRows - 1);
      seen.push_back({Square(row * kSides * kSides, kSides, PlaceOf(laws::kGemmSides, c.n),
                             PlaceOf(laws::kGemmSides, c.k)),
                      off[i]});
    }
    // The three weights are best on a fifth of the rows that a fit left out, not on the judging fifth.
    std::vector<std::string> labels;
    for (double m : laws::kGemmRows) {
      for (double n : laws::kGemmSides) labels.push_back(laws::GemmLabel(m, n));
    }
    f->residuals = FillCells({kRows, kSides, kSides}, {0.35, 0.4, 0.4}, seen, labels);
  }
};

struct AttentionFamily {
  using Call = AttentionCall;
  using Fitted = laws::AttentionFit;
  using Constants = laws::AttentionConstants;
  static constexpr char kName[] = "attention";
  static Constants Start() { return {18000, 0.7, 0.025, 0.5, 0.4, 400}; }
  static double Law(const Constants& c, const Unit& u, const Call& a) {
    return laws::Attention(c, u, BytesOf(a.dtype), BytesOf(a.kv_dtype), a);
  }
  static constexpr size_t kScaled[] = {laws::kAttentionStartCycles, laws::kAttentionPeakShare,
                                       laws::kAttentionMemoryShare};
  // A small one, a large one, many short ones.
  static std::vector<std::vector<double>> Micro() {
    return {{1, 64, 8, 1, 128, 1}, {8, 4096, 32, 8, 128, 1}, {64, 256, 32, 8, 128, 1}};
  }
  static std::vector<double> Numbers(const Call& c) {
    return {c.batch, c.seq, c.heads, c.kv_heads, c.head_dim, c.window + 1};
  }
  static Fitted New(const Row<Call>& row) {
    return {row.device, row.kernel, row.call.dtype, row.call.kv_dtype};
  }
  static void TakeResiduals(const std::vector<const Row<Call>*>& rows, const std::vector<double>& off,
                            Fitted* f) {
    constexpr size_t kLengths = std::size(laws::kAttentionLengths), kHeads = std::size(laws::kAttentionHeads);
    const auto key = [](const Call& c) {
      return std::make_tuple(c.head_dim, c.window, c.kv_heads < c.heads);
    };
    std::map<std::tuple<double, double, bool>, size_t> groups;
    for (const Row<Call>* r : rows) groups[key(r->call)] = 0;
    for (auto& [k, at] : groups) {
      at = f->groups.size();
      f->groups.push_back({std::get<0>(k), std::get<1>(k), std::get<2>(k)});
    }
    std::vector<Seen> seen;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Call& c = rows[i]->call;
      const size_t group = groups[key(c)];
      seen.push_back({Square(group * kLengths * kHeads, kHeads, PlaceOf(laws::kAttentionLengths, c.seq),
                             PlaceOf(laws::kAttentionHeads, c.batch * c.heads)),
                      off[i]});
    }
    std::vector<std::string> labels;
    for (const laws::AttentionGroup& g : f->groups) {
      for (double seq : laws::kAttentionLengths) labels.push_back(laws::AttentionLabel(g, seq));
    }
    f->residuals = FillCells({f->groups.size(), kLengths, kHeads}, {0, 0.1, 0.1}, seen, labels);
  }
};

struct MoeFamily {
  using Call = MoeCall;
  using Fitted = laws::MoeFit;
  using Constants = laws::MoeConstants;
  static constexpr char kName[] = "moe";
  static Constants Start() { return {60000, 0.3, 0.8, 32, 0.6, 200, 0.8}; }
  static double Law(const Constants& c, const Unit& u, const Call& m) {
    return laws::Moe(c, u, BytesOf(m.dtype), m);
  }
  static constexpr size_t kScaled[] = {laws::kMoeStartCycles, laws::kMoePeakShare, laws::kMoeMemoryShare};
  static std::vector<std::vector<double>> Micro() {
    return {{1, 2048, 768, 8, 128, 1, 8}, {4096, 4096, 14336, 2, 8, 1, 1}, {16, 7168, 2048, 8, 256, 1, 8}};
  }
  static std::vector<double> Numbers(const Call& c) {
    return {c.tokens, c.hidden, c.inter, c.topk, c.experts, c.tp, c.ep};
  }
  static Fitted New(const Row<Call>& row) { return {row.device, row.kernel, row.call.dtype}; }
  static void TakeResiduals(const std::vector<const Row<Call>*>& rows, const std::vector<double>& off,
                            Fitted* f) {
    constexpr size_t kTokens = std::size(laws::kMoeTokens);
    std::map<laws::MoeGroup, size_t> groups;
    for (const Row<Call>* r : rows) groups[laws::MoeGroupOf(r->call)] = 0;
    std::vector<std::string> labels;
    for (auto& [group, at] : groups) {
      at = labels.size();
      labels.push_back(laws::MoeLabel(group));
    }
    std::vector<Seen> seen;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Place a = PlaceOf(laws::kMoeTokens, rows[i]->call.tokens);
      const size_t first = groups[laws::MoeGroupOf(rows[i]->call)] * kTokens + a.at;
      seen.push_back({{{first, 1 - a.share}, {first + 1, a.share}}, off[i]});
    }
    f->residuals = FillCells({labels.size(), kTokens}, {0, 0.3}, seen, labels);
  }
};

template <typename F>
using Groups = std::map<std::tuple<std::string, std::string, KernelDtype, KernelDtype>,
                        std::vector<const Row<typename F::Call>*>>;

inline KernelDtype KvOf(const AttentionCall& c) { return c.kv_dtype; }
template <typename Call>
KernelDtype KvOf(const Call& c) {
  return c.dtype;
}

// Rows by device, kernel and dtypes.
template <typename F>
Groups<F> GroupsOf(const std::vector<Row<typename F::Call>>& rows) {
  Groups<F> groups;
  for (const auto& row : rows)
    groups[{row.device, row.kernel, row.call.dtype, KvOf(row.call)}].push_back(&row);
  return groups;
}

// A law for a device that is left out.
template <typename F>
struct AcrossLaw {
  typename F::Constants constants;
  // Fits of the neighbouring devices, whose residuals carry over.
  std::vector<const typename F::Fitted*> from;

  double Residual(const typename F::Call& call) const {
    double sum = 0;
    for (const auto* fit : from) sum += laws::ResidualOf(*fit, call);
    return laws::kCarriedResidual * sum / static_cast<double>(from.size());
  }
  double Time(const Unit& unit, const typename F::Call& call) const {
    return F::Law(constants, unit, call) * std::exp(Residual(call));
  }
};

// The law: constants are the geometric mean over the main kernels of the neighbouring generations.
template <typename F>
std::optional<AcrossLaw<F>> Across(const std::vector<typename F::Fitted>& fits, const std::string& device,
                                   KernelDtype dtype) {
  constexpr const char* kGenerations[] = {"A100-SXM4-80GB", "H100 80GB HBM3", "B200"};
  const auto generation = [&](const std::string& name) {
    return std::find(std::begin(kGenerations), std::end(kGenerations), name) - std::begin(kGenerations);
  };
  AcrossLaw<F> law;
  typename F::Constants sums = {};
  for (const auto& fit : fits) {
    if (!laws::IsMain(fit) || fit.dtype != dtype) continue;
    if (std::abs(generation(fit.device) - generation(device)) != 1) continue;
    typename F::Constants constants = fit.constants;
    if constexpr (std::is_same_v<F, MoeFamily>) {
      constants = laws::Carried(fit, constants, laws::WarpShareOf(device));
    } else {
      constants = laws::Carried(absl::MakeConstSpan(fits), fit, constants);
    }
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += std::log(constants[i]);
    law.from.push_back(&fit);
  }
  if (law.from.empty()) return std::nullopt;
  for (double& c : sums) c = std::exp(c / static_cast<double>(law.from.size()));
  law.constants = sums;
  return law;
}

}  // namespace chakra::kernel_laws
