// gzip, zstd, zip and plain content: the output does not depend on the sizes of the reads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/byte_source.h"
#include "trace/io/zip.h"

namespace {

constexpr size_t kMost = size_t{1} << 18;

// Reads the first kMost bytes of the content, `step` at a time; true if no error came before.
bool Unpack(absl::string_view packed, size_t step, std::string* out, std::string* error) {
  chakra::MemorySource raw(packed);
  auto source = chakra::OpenContent(&raw, "fuzz.gz");
  if (!source.ok()) {
    *error = std::string(source.status().message());
    return false;
  }
  while (out->size() < kMost) {
    const size_t at = out->size();
    out->resize(at + std::min(step, kMost - at));
    const auto got = (*source)->Read(out->data() + at, out->size() - at);
    out->resize(at + (got.ok() ? *got : 0));
    if (!got.ok()) {
      *error = std::string(got.status().message());
      return false;
    }
    if (*got == 0) break;
  }
  return true;
}

}  // namespace

FUZZ_TARGET(byte_source_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view packed(reinterpret_cast<const char*>(data), size);
  std::string whole, parts, error, same;
  const bool ok = Unpack(packed, kMost, &whole, &error);
  Require(Unpack(packed, 1 + size % 61, &parts, &same) == ok, "errors do not depend on the step");
  Require(ok ? whole == parts : !error.empty() && !same.empty(), "content does not depend on the step");
  const bool packs = chakra::LooksCompressed(packed) || chakra::LooksLikeZip(packed.substr(0, 4));
  Require(packs || (ok && whole == packed.substr(0, kMost)),
          "plain content is as it is");

  chakra::MemorySource raw(packed);
  chakra::Buffer all;
  auto source = chakra::OpenContent(&raw, "fuzz.gz");
  if (source.ok() && chakra::ReadAll(source->get(), "fuzz.gz", &all).ok()) {
    Require(ok && all.view().substr(0, kMost) == whole, "all of it begins with its beginning");
  }
  return 0;
}
