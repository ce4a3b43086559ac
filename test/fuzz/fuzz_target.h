// FUZZ_TARGET(x_fuzz, data, size) { ... return 0; } in x_fuzz.cc declares a fuzz target. With libFuzzer, the
// target is the program's entry. Without libFuzzer, one program runs the corpora of all targets
// (corpus_main.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace chakra::fuzz {

using Target = int (*)(const uint8_t* data, size_t size);

// The targets of this program, by name.
inline std::map<std::string, Target>& Targets() {
  static std::map<std::string, Target> targets;
  return targets;
}

}  // namespace chakra::fuzz

#ifdef CHAKRA_LIBFUZZER
#define FUZZ_TARGET(name, data, size) extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define FUZZ_TARGET(name, data, size)                                                                        \
  static int name(const uint8_t* data, size_t size);                                                         \
  [[maybe_unused]] static const bool name##_is_known = chakra::fuzz::Targets().emplace(#name, &name).second; \
  static int name(const uint8_t* data, size_t size)
#endif
