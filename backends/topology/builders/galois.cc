#include "backends/topology/builders/galois.h"

#include <cstddef>

namespace chakra {
namespace {

// The prime p such that q is a power of p; 0: none.
int PrimeOf(int q) {
  if (q < 2) return 0;
  int p = 2;
  while (p * p <= q && q % p != 0) ++p;
  if (q % p != 0) return q;
  while (q % p == 0) q /= p;
  return q == 1 ? p : 0;
}

}  // namespace

bool GaloisField::IsPrimePower(int q) { return PrimeOf(q) != 0; }

std::optional<GaloisField> GaloisField::Make(int q) {
  if (q > kMaxSize || !IsPrimePower(q)) return std::nullopt;
  GaloisField field(PrimeOf(q), q);
  for (int digits = 1; digits < q; ++digits) {
    if (field.TryPolynomial(digits)) return field;
  }
  return std::nullopt;
}

// Uses x^e + digits as the modulus if x then generates all elements except 0.
bool GaloisField::TryPolynomial(int digits) {
  const int top = q_ / p_;
  power_.assign(1, 1);
  log_.assign(static_cast<size_t>(q_), 0);
  for (int k = 1;; ++k) {
    const int last = power_.back();
    int next = last % top * p_;  // times x; a digit that overflows adds -digits each
    for (int i = last / top; i > 0; --i) next = Subtract(next, digits);
    if (next == 1) return k == q_ - 1;
    if (next == 0 || k == q_ - 1) return false;
    log_[static_cast<size_t>(next)] = k;
    power_.push_back(next);
  }
}

int GaloisField::Add(int a, int b) const {
  int sum = 0;
  for (int place = 1; place < q_; place *= p_, a /= p_, b /= p_) sum += (a % p_ + b % p_) % p_ * place;
  return sum;
}

int GaloisField::Subtract(int a, int b) const {
  int rest = 0;
  for (int place = 1; place < q_; place *= p_, a /= p_, b /= p_) {
    rest += (a % p_ + p_ - b % p_) % p_ * place;
  }
  return rest;
}

int GaloisField::Multiply(int a, int b) const {
  return a == 0 || b == 0 ? 0 : Power(log_[static_cast<size_t>(a)] + log_[static_cast<size_t>(b)]);
}

}  // namespace chakra
