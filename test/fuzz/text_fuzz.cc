// Text-format traces: the decoder reads or refuses a parsed trace. The trace is the same after a write and a
// read.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/import/text/text.h"

FUZZ_TARGET(text_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto et = chakra::EtFromText(text, "fuzz.txt");
  Require(et.ok() || !et.status().message().empty(), "an error says what is wrong");
  if (!et.ok()) return 0;
  chakra::ReadOptions options;
  options.keep_raw = true;
  const auto trace = chakra::DecodeTrace(*et, "fuzz.et", 0, options);
  if (!trace.ok()) return 0;
  const auto again = chakra::EtToText(*trace);
  if (!again.ok()) return 0;
  const auto back = chakra::EtFromText(*again, "again.txt");
  Require(back.ok() && *back == *et, "text reads back the same");
  return 0;
}
