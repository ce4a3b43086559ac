// MPI traces of liballprof: any bytes give an error with a reason, or the frames of a rank. The decoder reads
// or refuses those frames.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/liballprof/liballprof.h"
#include "trace/import/reader.h"

FUZZ_TARGET(liballprof_fuzz, data, size) {
  using namespace chakra;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  (void)liballprof::LooksLikeLiballprof(text);
  const auto frames = liballprof::RankFrames(text, "fuzz-0.txt", 2);
  if (!frames.ok()) {
    fuzz::Require(!frames.status().message().empty(), "an error says why");
    return 0;
  }
  const auto trace = DecodeTrace(*frames, "fuzz-0.txt", 0, ReadOptions());
  fuzz::Require(trace.ok(), "what was read can be decoded");
  return 0;
}
