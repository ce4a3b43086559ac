// SHA-256. A result records the checksums of its input files.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Call Update() any number of times, then Hex() once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void Update(absl::string_view bytes);
  // 64 lower-case hexadecimal digits.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digest of a text in memory.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace chakra
