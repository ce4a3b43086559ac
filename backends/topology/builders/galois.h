// Arithmetic in finite fields, for the construction of networks.
#pragma once

#include <optional>
#include <vector>

namespace chakra {

// The field of q = p^e elements, p prime. Elements are [0, q): the digits in base p are the coefficients of a
// polynomial, modulo a primitive polynomial whose root x generates all elements except 0. The primitive
// polynomial is the first in the order of its digits.
class GaloisField {
 public:
  static constexpr int kMaxSize = 1024;

  // nullopt if q is not a prime power in [2, kMaxSize].
  static std::optional<GaloisField> Make(int q);
  static bool IsPrimePower(int q);

  int size() const { return q_; }
  int Add(int a, int b) const;
  int Subtract(int a, int b) const;
  int Multiply(int a, int b) const;
  // The generator to the power k >= 0.
  int Power(int k) const { return power_[static_cast<size_t>(k % (q_ - 1))]; }

 private:
  GaloisField(int p, int q) : p_(p), q_(q) {}
  bool TryPolynomial(int digits);

  int p_, q_;
  std::vector<int> power_;  // by exponent
  std::vector<int> log_;    // by element; the entry of 0 is unused
};

}  // namespace chakra
