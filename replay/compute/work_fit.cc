#include "replay/compute/work_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace chakra {
namespace {

constexpr size_t kTerms = 3;
using Terms = std::array<double, kTerms>;

Terms TermsOf(const WorkSample& s) { return {1, s.operations, s.bytes}; }

// The normal equations: sums of the pairwise products of the terms, and of each term times 1. Each term is
// divided by the sample's time and scaled.
struct Normal {
  std::array<Terms, kTerms> square{};
  Terms right{};
  double count = 0;
};

// Solves for the terms in `chosen` (bits); the other terms are 0. nullopt: the terms cannot be separated, or
// one would be negative.
std::optional<Terms> Solve(const Normal& n, unsigned chosen) {
  std::array<std::array<double, kTerms + 1>, kTerms> a{};
  std::array<size_t, kTerms> term{};
  size_t size = 0;
  for (size_t i = 0; i < kTerms; ++i) {
    if ((chosen >> i & 1) != 0) term[size++] = i;
  }
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) a[i][j] = n.square[term[i]][term[j]];
    a[i][size] = n.right[term[i]];
  }
  for (size_t i = 0; i < size; ++i) {
    const double before = n.square[term[i]][term[i]];
    if (!(a[i][i] > 1e-10 * before)) return std::nullopt;
    for (size_t r = 0; r < size; ++r) {
      if (r == i) continue;
      const double f = a[r][i] / a[i][i];
      for (size_t c = i; c <= size; ++c) a[r][c] -= f * a[i][c];
    }
  }
  Terms x{};
  for (size_t i = 0; i < size; ++i) {
    x[term[i]] = a[i][size] / a[i][i];
    if (!(x[term[i]] >= 0)) return std::nullopt;
  }
  return x;
}

double Residual(const Normal& n, const Terms& x) {
  double sum = n.count;
  for (size_t i = 0; i < kTerms; ++i) {
    sum -= 2 * x[i] * n.right[i];
    for (size_t j = 0; j < kTerms; ++j) sum += x[i] * x[j] * n.square[i][j];
  }
  return sum;
}

}  // namespace

WorkFit FitWork(const std::vector<WorkSample>& samples, size_t without) {
  Terms scale{};
  for (size_t s = 0; s < samples.size(); ++s) {
    if (s == without) continue;
    const Terms t = TermsOf(samples[s]);
    for (size_t i = 0; i < kTerms; ++i) scale[i] = std::max(scale[i], t[i] / samples[s].time);
  }
  Normal n;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (s == without) continue;
    Terms t = TermsOf(samples[s]);
    for (size_t i = 0; i < kTerms; ++i) t[i] = scale[i] > 0 ? t[i] / samples[s].time / scale[i] : 0;
    for (size_t i = 0; i < kTerms; ++i) {
      n.right[i] += t[i];
      for (size_t j = 0; j < kTerms; ++j) n.square[i][j] += t[i] * t[j];
    }
    n.count += 1;
  }
  Terms best{};
  double least = n.count;
  for (unsigned chosen = 1; chosen < 1u << kTerms; ++chosen) {
    const std::optional<Terms> x = Solve(n, chosen);
    if (!x.has_value()) continue;
    const double residual = Residual(n, *x);
    if (residual < least) {
      least = residual;
      best = *x;
    }
  }
  for (size_t i = 0; i < kTerms; ++i) best[i] = scale[i] > 0 ? best[i] / scale[i] : 0;
  return {best[0], best[1], best[2]};
}

}  // namespace chakra
