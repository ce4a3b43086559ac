// Pickles: any bytes give plain data, whose items are values, or an error with a reason. Nothing is executed.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/collective_logs/pickle.h"

FUZZ_TARGET(pickle_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::collective_logs;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = ReadPickle(bytes, "fuzz.pickle");
  if (!read.ok()) {
    fuzz::Require(!read.status().message().empty(), "an error says why");
    return 0;
  }
  // One level is enough: values may hold themselves.
  const PlainData::Value& root = read->root();
  for (const uint32_t i : read->items(root)) (void)read->at(i);
  (void)read->Find(root, "entries");
  return 0;
}
