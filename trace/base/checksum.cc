#include "trace/base/checksum.h"

#include <openssl/evp.h>

#include <new>

#include "absl/strings/escaping.h"

namespace chakra {

struct Sha256::State {
  EVP_MD_CTX* ctx = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(ctx); }
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

namespace {

// OpenSSL has SHA-256, so a call fails only if memory runs out.
void Check(bool done) {
  if (!done) throw std::bad_alloc();
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  Check(state_->ctx != nullptr && EVP_DigestInit_ex(state_->ctx, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::Update(absl::string_view bytes) {
  Check(EVP_DigestUpdate(state_->ctx, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int n = 0;
  Check(EVP_DigestFinal_ex(state_->ctx, digest, &n) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), n));
}

std::string Sha256Hex(absl::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Hex();
}

}  // namespace chakra
